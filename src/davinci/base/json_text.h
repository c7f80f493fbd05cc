// JSON as text, the only way in which any is written: what comes from outside (a compiler's
// messages, a candidate's names) may hold bytes that are no UTF-8, and must not end a process for
// that.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace davinci {

// One line, or `indent` blanks a level. Bytes that are not UTF-8 become U+FFFD. For nlohmann::json
// and nlohmann::ordered_json.
template <typename Json>
std::string JsonText(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace davinci
