// Tokens of a Jinja template: text between tags, and names, literals and operators inside them.
// Whitespace control, comments and raw blocks are dealt with here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace davinci::text::jinja {

struct Token {
  enum class Kind { kText, kName, kString, kInteger, kFloat, kOperator, kBegin, kEnd, kEof };
  Kind kind = Kind::kEof;
  std::string text;  // of kBegin and kEnd: "{%", "{{", "%}", "}}"
  int line = 0;
};

// Throws JinjaError with the line.
[[noreturn]] void Fail(int line, std::string_view what);

// The last token is kEof. Throws JinjaError.
std::vector<Token> Tokenize(std::string_view source);

}  // namespace davinci::text::jinja
