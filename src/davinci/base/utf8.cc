#include "davinci/base/utf8.h"

#include <fmt/format.h>

namespace davinci {

CodePoint DecodeUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  size_t length = 0;
  uint32_t value = 0;
  uint32_t least = 0;
  if ((first & 0xe0) == 0xc0) {
    length = 2, value = first & 0x1f, least = 0x80;
  } else if ((first & 0xf0) == 0xe0) {
    length = 3, value = first & 0x0f, least = 0x800;
  } else if ((first & 0xf8) == 0xf0) {
    length = 4, value = first & 0x07, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, length};
}

size_t ValidUtf8Prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t bytes = DecodeUtf8(text.substr(at)).bytes;
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t good = ValidUtf8Prefix(text);
    valid += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    valid += kReplacementCharacter;
    text.remove_prefix(1);
  }
  return valid;
}

std::string ElideMiddle(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  const auto inside = [&](size_t at) { return at < text.size() && (text[at] & 0xC0) == 0x80; };
  const auto note = [](size_t bytes) { return fmt::format("\n… {} bytes left out …\n", bytes); };
  const size_t longest = note(text.size()).size();
  const bool no_room = max_bytes <= longest;
  const size_t room = no_room ? 0 : max_bytes - longest;
  size_t head = no_room ? max_bytes : room * 2 / 3;
  while (head > 0 && inside(head)) --head;
  if (no_room) return std::string(text.substr(0, head));
  size_t tail = text.size() - (room - room * 2 / 3);
  while (inside(tail)) ++tail;
  return std::string(text.substr(0, head)) + note(tail - head) + std::string(text.substr(tail));
}

}  // namespace davinci
