// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace davinci {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  uint32_t value = 0;
  size_t bytes = 0;  // 0: what the text begins with is not UTF-8
};

// The one that `text`, which is not empty, begins with.
CodePoint DecodeUtf8(std::string_view text);
// Bytes before the first that are not UTF-8.
size_t ValidUtf8Prefix(std::string_view text);
// `text` with everything that is not UTF-8 replaced by U+FFFD.
std::string ValidUtf8(std::string_view text);
// `text` in at most `max_bytes`: of what is longer the beginning (two thirds) and the end stay, and
// between them is said how much is missing. Characters are not cut.
std::string ElideMiddle(std::string_view text, size_t max_bytes);

}  // namespace davinci
