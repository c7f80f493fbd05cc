// Strict reading of a JSON object into a record: every key must be there, of the right type, and
// no other key may be.
//
//   ObjectReader reader(document, "davinci.turn/1");
//   reader.Read("reply", &turn.reply);
//   DAVINCI_RETURN_IF_ERROR(reader.Finish());
//
// The first problem is kept, later reads leave their targets as they are. Never throws. The
// document must outlive the reader.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci {

class ObjectReader {
 public:
  // `schema` is what the key "schema" must say and what errors call the document.
  ObjectReader(const nlohmann::json& document, std::string_view schema);
  // An object inside a document: no schema of its own, `name` is for errors.
  static ObjectReader Nested(const nlohmann::json& document, std::string_view name);

  void Read(std::string_view key, bool* value);
  void Read(std::string_view key, int* value);  // integers out of range are a problem
  void Read(std::string_view key, int64_t* value);
  void Read(std::string_view key, double* value);  // any finite number
  void Read(std::string_view key, std::string* value);
  void Read(std::string_view key, std::vector<std::string>* value);

  // The value of `key` to be read by the caller, or a null value when it is missing (which is a
  // problem, unlike a null that is written there).
  const nlohmann::json& Child(std::string_view key);
  // Child(key) converted by `from_json`, a function json -> Result<T>.
  template <typename T, typename FromJson>
  void ReadWith(std::string_view key, T* value, FromJson from_json) {
    const nlohmann::json& child = Child(key);
    if (!problem_.ok()) return;
    auto read = from_json(child);
    if (read.ok()) {
      *value = std::move(read).value();
    } else {
      Fail(key, read.status().message());
    }
  }
  // An array whose elements are converted by `from_json`.
  template <typename T, typename FromJson>
  void ReadListWith(std::string_view key, std::vector<T>* values, FromJson from_json) {
    const nlohmann::json& child = Child(key);
    if (problem_.ok() && !child.is_array()) Fail(key, "must be a list");
    if (!problem_.ok()) return;
    values->clear();
    for (const nlohmann::json& element : child) {
      auto read = from_json(element);
      if (!read.ok()) return Fail(key, read.status().message());
      values->push_back(std::move(read).value());
    }
  }

  // A problem of the caller's own with the value of `key`.
  void Fail(std::string_view key, std::string_view what);

  // OK, or InvalidArgument with the first problem; unread keys are one.
  Status Finish();

 private:
  ObjectReader() = default;

  const nlohmann::json* document_ = nullptr;  // null when it is no object
  std::string name_;
  std::set<std::string, std::less<>> seen_;
  Status problem_;
};

}  // namespace davinci
