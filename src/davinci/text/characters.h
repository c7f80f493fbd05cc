// Unicode properties of characters and NFC, through utf8proc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace davinci::text {

bool IsWhitespace(uint32_t code_point);  // White_Space
bool IsWord(uint32_t code_point);        // letters, marks, digits, connectors, joiners
// The first and the last character of valid UTF-8; U+0000 for an empty text.
uint32_t FirstCharacter(std::string_view text);
uint32_t LastCharacter(std::string_view text);

// `text`, which must be UTF-8, in normalization form C.
std::string ToNfc(std::string_view text);
// True only if ToNfc(text) == text; false may be a false alarm.
bool IsSurelyNfc(std::string_view text);

}  // namespace davinci::text
