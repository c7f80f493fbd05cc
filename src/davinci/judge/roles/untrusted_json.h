// Reading what a runner says. Whatever it sends has the type it likes: a member that is missing or
// of another type reads as the fallback, where nlohmann's value() would throw.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace davinci::judge {

inline std::string TextIn(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

inline double NumberIn(const nlohmann::json& object, const char* key, double fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : fallback;
}

inline int64_t CountIn(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

inline bool FlagIn(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

}  // namespace davinci::judge
