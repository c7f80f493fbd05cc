// Values as language models write them: JSON, Python literals, and mixtures of both.
//
// Accepted beyond JSON: single quotes and triple quotes, prefixes r b u f, line breaks inside
// strings, neighbouring strings (joined), True False None, tuples (lists), trailing commas,
// comments
// (#), unquoted words as keys. Lone surrogates become U+FFFD. Text that comes from outside goes
// through ValidUtf8 first; then every value that is read can be written as JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace davinci::llm {

enum class LiteralError { kNone, kMalformed, kTruncated };

struct Literal {
  nlohmann::json value;  // kNone
  size_t end = 0;        // kNone: one past the value; else where reading stopped
  LiteralError error = LiteralError::kNone;  // kTruncated: the text ends inside the value
  bool ok() const { return error == LiteralError::kNone; }
};

// The value at the start of `text`, white space before it skipped. What follows is not looked at.
// Values nested deeper than 64 levels are malformed.
Literal ReadLiteral(std::string_view text);

}  // namespace davinci::llm
