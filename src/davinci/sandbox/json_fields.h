// Strict reading of one flat JSON object: every key must be asked for, every type must fit.
// Internal to this module.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::sandbox {

// Usage: JsonFields fields(json, "limits"); fields.Read("open_files", &x); ...; return
// fields.Finish(); The first mistake wins and is returned by Finish(); absent keys leave the target
// unchanged.
class JsonFields {
 public:
  JsonFields(const nlohmann::json& json, std::string what) : json_(json), what_(std::move(what)) {
    if (!json_.is_object()) Fail("must be a JSON object");
  }

  void Read(const char* key, bool* out) {
    const nlohmann::json* value = Take(key);
    if (value == nullptr) return;
    if (!value->is_boolean()) return Fail(std::string(key) + " must be true or false");
    *out = value->get<bool>();
  }
  void Read(const char* key, uint64_t* out) {
    const nlohmann::json* value = Take(key);
    if (value == nullptr) return;
    // Parsed text yields unsigned numbers; values built in C++ may be signed.
    if (!value->is_number_integer() ||
        (!value->is_number_unsigned() && value->get<int64_t>() < 0)) {
      return Fail(std::string(key) + " must be a whole number, not negative");
    }
    *out = value->get<uint64_t>();
  }
  void Read(const char* key, std::string* out) {
    const nlohmann::json* value = Take(key);
    if (value == nullptr) return;
    if (!value->is_string()) return Fail(std::string(key) + " must be a string");
    *out = value->get<std::string>();
  }
  void Read(const char* key, std::vector<std::string>* out) {
    const nlohmann::json* value = Take(key);
    if (value == nullptr) return;
    if (!value->is_array()) return Fail(std::string(key) + " must be an array of strings");
    std::vector<std::string> items;
    for (const nlohmann::json& item : *value) {
      if (!item.is_string()) return Fail(std::string(key) + " must be an array of strings");
      items.push_back(item.get<std::string>());
    }
    *out = std::move(items);
  }
  // The raw value under `key`, or null when it is absent.
  const nlohmann::json* Take(const char* key) {
    known_.insert(key);
    if (!json_.is_object()) return nullptr;
    auto it = json_.find(key);
    return it == json_.end() ? nullptr : &*it;
  }

  Status Finish() {
    if (status_.ok()) {
      for (const auto& item : json_.items()) {
        if (!known_.contains(item.key())) {
          std::string names;
          for (const std::string& name : known_) names += (names.empty() ? "" : ", ") + name;
          Fail("unknown key \"" + item.key() + "\"; known keys: " + names);
          break;
        }
      }
    }
    return status_;
  }

 private:
  void Fail(const std::string& message) {
    if (status_.ok()) status_ = InvalidArgument(what_ + ": " + message);
  }

  const nlohmann::json& json_;
  std::string what_;
  std::set<std::string> known_;
  Status status_;
};

}  // namespace davinci::sandbox
