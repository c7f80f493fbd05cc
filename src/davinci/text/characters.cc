#include "davinci/text/characters.h"

#include <utf8proc.h>

#include <cstdlib>

#include "davinci/base/utf8.h"

namespace davinci::text {

bool IsWhitespace(uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

bool IsWord(uint32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      // Alphabetic symbols (circled and squared letters), joiners.
      return (c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
             (c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189) || c == 0x200c ||
             c == 0x200d;
  }
}

bool IsLetter(uint32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

namespace {

std::string Mapped(std::string_view text, utf8proc_int32_t (*map)(utf8proc_int32_t)) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = DecodeUtf8(text);
    if (point.bytes == 0) {
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(map(static_cast<utf8proc_int32_t>(point.value)), bytes);
    result.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
    text.remove_prefix(point.bytes);
  }
  return result;
}

}  // namespace

std::string LowerCase(std::string_view text) { return Mapped(text, utf8proc_tolower); }
std::string UpperCase(std::string_view text) { return Mapped(text, utf8proc_toupper); }

uint32_t FirstCharacter(std::string_view text) { return text.empty() ? 0 : DecodeUtf8(text).value; }

uint32_t LastCharacter(std::string_view text) {
  if (text.empty()) return 0;
  size_t begin = text.size() - 1;
  while (begin > 0 && (text[begin] & 0xc0) == 0x80) --begin;
  return DecodeUtf8(text.substr(begin)).value;
}

std::string ToNfc(std::string_view text) {
  utf8proc_uint8_t* composed = nullptr;
  // NOLINTBEGIN(clang-analyzer-optin.core.EnumCastOutOfRange): the enum's values are flags
  const utf8proc_ssize_t size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                   static_cast<utf8proc_ssize_t>(text.size()), &composed,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  // NOLINTEND(clang-analyzer-optin.core.EnumCastOutOfRange)
  if (size < 0) return std::string(text);  // not UTF-8, or out of memory
  std::string result(reinterpret_cast<const char*>(composed), static_cast<size_t>(size));
  std::free(composed);
  return result;
}

bool IsSurelyNfc(std::string_view text) {
  // No character below U+0300 composes or decomposes under NFC; their lead bytes are below 0xCC.
  for (const char c : text)
    if (static_cast<uint8_t>(c) >= 0xcc) return false;
  return true;
}

}  // namespace davinci::text
