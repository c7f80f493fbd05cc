#include "davinci/text/utf8_repair.h"

#include <algorithm>
#include <cstdint>

#include "davinci/base/utf8.h"

namespace davinci::text {
namespace {

// How many bytes at the beginning of `text` are the beginning of some character, at most the whole
// of it; 0: its first byte begins none. Table 3-7 of the Unicode standard.
struct Prefix {
  size_t matched = 0;
  size_t wanted = 0;
};

Prefix MatchPrefix(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {1, 1};
  uint8_t low = 0x80;
  uint8_t high = 0xbf;
  size_t wanted = 0;
  if (first >= 0xc2 && first <= 0xdf) {
    wanted = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    wanted = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    wanted = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  } else {
    return {0, 0};
  }
  size_t matched = 1;
  while (matched < wanted && matched < text.size()) {
    if (byte(matched) < low || byte(matched) > high) break;
    low = 0x80, high = 0xbf;
    ++matched;
  }
  return {matched, wanted};
}

}  // namespace

std::string RepairUtf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t valid = ValidUtf8Prefix(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) break;
    text += kReplacementCharacter;
    bytes.remove_prefix(std::max<size_t>(1, MatchPrefix(bytes).matched));
  }
  return text;
}

size_t IncompleteTail(std::string_view bytes) {
  for (size_t tail = std::min<size_t>(3, bytes.size()); tail > 0; --tail) {
    const Prefix prefix = MatchPrefix(bytes.substr(bytes.size() - tail));
    if (prefix.matched == tail && prefix.wanted > tail) return tail;
  }
  return 0;
}

}  // namespace davinci::text
