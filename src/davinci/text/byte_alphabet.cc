#include "davinci/text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "davinci/base/utf8.h"

namespace davinci::text {
namespace {

struct Alphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, 0x144> byte{};

  constexpr Alphabet() {
    byte.fill(-1);
    uint16_t next = 0x100;
    for (int b = 0; b < 256; ++b) {
      const bool printable = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      const auto c = printable ? static_cast<uint16_t>(b) : next++;
      character[static_cast<size_t>(b)] = c;
      byte[c] = static_cast<int16_t>(b);
    }
  }
};
constexpr Alphabet kAlphabet;

}  // namespace

std::string ToByteAlphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const uint16_t code = kAlphabet.character[static_cast<uint8_t>(c)];
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else {
      text += static_cast<char>(0xc0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3f));
    }
  }
  return text;
}

std::optional<std::string> FromByteAlphabet(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    if (point.bytes == 0 || point.value >= kAlphabet.byte.size() || kAlphabet.byte[point.value] < 0)
      return std::nullopt;
    bytes += static_cast<char>(kAlphabet.byte[point.value]);
    text.remove_prefix(point.bytes);
  }
  return bytes;
}

}  // namespace davinci::text
