// The block between two "---" lines at the head of a Markdown file: YAML, read with yaml-cpp.
//
// Every scalar is text: nothing here is a number, a date or a null (an empty value is ""). Keys are
// text. Tags and comments are ignored; an alias is a copy of what it names. The block has bounds:
// 64 KiB, 256 KiB of values after aliases are replaced, 16 levels.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

struct FrontMatter {
  OrderedJson values = OrderedJson::object();  // text, and lists and objects of these
  size_t body_offset = 0;                      // first byte after the closing line
};

// `source` names the text in errors: "SKILL.md:3: …". A text without front matter is an error.
Result<FrontMatter> ParseFrontMatter(std::string_view text, std::string_view source);

// `text` as a YAML scalar on one line: plain where that is safe, else double quoted.
std::string YamlScalar(std::string_view text);

}  // namespace davinci::skill
