// The byte-level alphabet: each of the 256 bytes as one printable character, so that vocabularies
// can be kept as text. Printable Latin-1 stands for itself, the rest for U+0100 and following.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davinci::text {

std::string ToByteAlphabet(std::string_view bytes);
// Nothing when a character is not of the alphabet.
std::optional<std::string> FromByteAlphabet(std::string_view text);

}  // namespace davinci::text
