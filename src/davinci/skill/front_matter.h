// The block between two "---" lines at the head of a Markdown file: a small, strict part of YAML.
//
// Understood: "key: value"; plain, 'single' and "double" quoted scalars; plain scalars that go on
// in deeper indented lines; block scalars "|" and ">" with "-" or "+"; lists "[a, b]" and "- a";
// nested mappings; comments. Every scalar is text: nothing here is a number or a date. Anchors,
// aliases, type tags, "{…}", quoted scalars over several lines and tabs for indentation are errors
// that say so. (A YAML library was not taken: it would accept far more than may appear here, and
// resolve types that Agent Skills does not have.)
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

struct FrontMatter {
  OrderedJson values = OrderedJson::object();  // text, lists of text, objects of these
  size_t body_offset = 0;                      // first byte after the closing line
};

// `source` names the text in errors: "SKILL.md:3: …". A text without front matter is an error.
Result<FrontMatter> ParseFrontMatter(std::string_view text, std::string_view source);

// `text` as a YAML scalar on one line: plain where that is safe, else double quoted.
std::string YamlScalar(std::string_view text);

}  // namespace davinci::skill
