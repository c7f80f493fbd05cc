#include "davinci/llm/python_literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace davinci::llm {
namespace {

using Json = nlohmann::json;
constexpr int kMaxDepth = 64;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsWord(char c) { return IsWordStart(c) || IsDigit(c); }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) code = 0xfffd;
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xc0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xe0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *out += static_cast<char>(0xf0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    *out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// Reads one value; after a failure error() says which, position() where.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  bool ReadValue(Json* value, int depth) {
    SkipSpace();
    if (depth > kMaxDepth) return Malformed();
    if (AtEnd()) return Truncated();
    const char c = text_[position_];
    if (c == '{') return ReadObject(value, depth);
    if (c == '[') return ReadList(value, ']', depth);
    if (c == '(') return ReadList(value, ')', depth);
    if (StringPrefix()) {
      std::string text;
      if (!ReadStrings(&text)) return false;
      *value = std::move(text);
      return true;
    }
    if (IsDigit(c) || c == '-' || c == '+' || c == '.') return ReadNumber(value);
    if (IsWordStart(c)) return ReadWord(value);
    return Malformed();
  }

  size_t position() const { return position_; }
  LiteralError error() const { return error_; }

 private:
  bool AtEnd() const { return position_ >= text_.size(); }
  bool Malformed() {
    error_ = LiteralError::kMalformed;
    return false;
  }
  bool Truncated() {
    error_ = LiteralError::kTruncated;
    return false;
  }

  void SkipSpace() {
    while (!AtEnd()) {
      const char c = text_[position_];
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++position_;
      } else if (c == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else {
        return;
      }
    }
  }

  // Length of what precedes the quote of a string that starts here (0 for none, 1 for r"…"), or
  // nothing when no string starts here.
  std::optional<size_t> StringPrefix() const {
    size_t i = position_;
    while (i < text_.size() && i < position_ + 2 &&
           std::string_view("rRbBuUfF").find(text_[i]) != std::string_view::npos) {
      ++i;
    }
    if (i >= text_.size() || (text_[i] != '"' && text_[i] != '\'')) return std::nullopt;
    return i - position_;
  }

  bool ReadStrings(std::string* out) {
    while (true) {
      if (!ReadString(out)) return false;
      const size_t after = position_;
      SkipSpace();
      if (!StringPrefix()) {
        position_ = after;
        return true;
      }
    }
  }

  bool ReadString(std::string* out) {
    const size_t prefix = StringPrefix().value();
    const std::string_view letters = text_.substr(position_, prefix);
    const bool raw = letters.find_first_of("rR") != std::string_view::npos;
    position_ += prefix;
    const char quote = text_[position_];
    const std::string triple(3, quote);
    const bool is_triple = text_.substr(position_, 3) == triple;
    position_ += is_triple ? 3 : 1;
    while (!AtEnd()) {
      const char c = text_[position_];
      if (c == quote && (!is_triple || text_.substr(position_, 3) == triple)) {
        position_ += is_triple ? 3 : 1;
        return true;
      }
      if (c == '\\' && !raw) {
        if (!ReadEscape(out)) return false;
      } else {
        *out += c;
        ++position_;
        if (c == '\\' && !AtEnd()) *out += text_[position_++];  // r"\"" holds \"
      }
    }
    return Truncated();
  }

  // Hex digits at position_, exactly `count`; not consumed when there are fewer.
  std::optional<uint32_t> Hex(size_t count) {
    if (text_.size() - position_ < count) return std::nullopt;
    uint32_t code = 0;
    const char* const first = text_.data() + position_;
    const auto parsed = std::from_chars(first, first + count, code, 16);
    if (parsed.ec != std::errc{} || parsed.ptr != first + count) return std::nullopt;
    position_ += count;
    return code;
  }

  bool ReadEscape(std::string* out) {
    ++position_;
    if (AtEnd()) return Truncated();
    const char c = text_[position_++];
    switch (c) {
      case 'n':
        *out += '\n';
        return true;
      case 't':
        *out += '\t';
        return true;
      case 'r':
        *out += '\r';
        return true;
      case 'b':
        *out += '\b';
        return true;
      case 'f':
        *out += '\f';
        return true;
      case '"':
      case '\'':
      case '\\':
      case '/':
        *out += c;
        return true;
      case '\n':  // a continued line
        return true;
      case 'x':
      case 'u':
      case 'U':
        break;
      default:  // Python keeps what it does not know, and "\d" in a regular expression means it
        *out += '\\';
        *out += c;
        return true;
    }
    const auto code = Hex(c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (!code) {
      *out += '\\';
      *out += c;
      return true;
    }
    uint32_t full = *code;
    if (c == 'u' && full >= 0xd800 && full <= 0xdbff && text_.substr(position_, 2) == "\\u") {
      position_ += 2;
      const auto low = Hex(4);
      if (low && *low >= 0xdc00 && *low <= 0xdfff) {
        full = 0x10000 + ((full - 0xd800) << 10) + (*low - 0xdc00);
      } else {
        position_ -= low ? 6 : 2;  // no pair: the second escape is read on its own
      }
    }
    AppendUtf8(full, out);
    return true;
  }

  bool ReadNumber(Json* value) {
    const size_t start = position_;
    while (!AtEnd() && (IsWord(text_[position_]) || text_[position_] == '.' ||
                        text_[position_] == '-' || text_[position_] == '+')) {
      ++position_;
    }
    std::string_view word = text_.substr(start, position_ - start);
    if (word.starts_with('+')) word.remove_prefix(1);
    const char* const begin = word.data();
    const char* const end = begin + word.size();
    int64_t integer = 0;
    if (const auto read = std::from_chars(begin, end, integer);
        read.ec == std::errc{} && read.ptr == end) {
      *value = integer;
      return true;
    }
    double number = 0;
    if (const auto read = std::from_chars(begin, end, number);
        read.ec == std::errc{} && read.ptr == end && std::isfinite(number)) {
      *value = number;
      return true;
    }
    position_ = start;
    return Malformed();
  }

  bool ReadWord(Json* value) {
    const size_t start = position_;
    while (!AtEnd() && IsWord(text_[position_])) ++position_;
    const std::string_view word = text_.substr(start, position_ - start);
    if (word == "true" || word == "True") {
      *value = true;
    } else if (word == "false" || word == "False") {
      *value = false;
    } else if (word == "null" || word == "None") {
      *value = nullptr;
    } else {
      bool cut = false;
      for (const std::string_view known : {"true", "True", "false", "False", "null", "None"})
        cut |= AtEnd() && known.starts_with(word);
      position_ = start;
      return cut ? Truncated() : Malformed();
    }
    return true;
  }

  bool ReadKey(std::string* key) {
    if (StringPrefix()) return ReadStrings(key);
    const size_t start = position_;
    while (!AtEnd() && IsWord(text_[position_])) ++position_;
    *key = text_.substr(start, position_ - start);
    if (AtEnd()) return Truncated();
    return key->empty() ? Malformed() : true;
  }

  // After an element: true when the container goes on, false at `close` (consumed) or on error.
  bool NextElement(char close, bool* done) {
    SkipSpace();
    if (AtEnd()) return Truncated();
    if (text_[position_] == ',') {
      ++position_;
      SkipSpace();
      if (AtEnd()) return Truncated();
    } else if (text_[position_] != close) {
      return Malformed();
    }
    if (text_[position_] == close) {
      ++position_;
      *done = true;
    }
    return true;
  }

  bool ReadList(Json* value, char close, int depth) {
    *value = Json::array();
    ++position_;
    SkipSpace();
    if (AtEnd()) return Truncated();
    bool done = text_[position_] == close;
    if (done) ++position_;
    bool trailing_comma = false;
    while (!done) {
      Json element;
      if (!ReadValue(&element, depth + 1)) return false;
      value->push_back(std::move(element));
      const size_t before = position_;
      if (!NextElement(close, &done)) return false;
      trailing_comma = text_.substr(before, position_ - before).find(',') != std::string_view::npos;
    }
    // ("a" "b") is a text in brackets, not a tuple.
    if (close == ')' && value->size() == 1 && !trailing_comma) {
      Json only = std::move((*value)[0]);
      *value = std::move(only);
    }
    return true;
  }

  bool ReadObject(Json* value, int depth) {
    *value = Json::object();
    ++position_;
    SkipSpace();
    if (AtEnd()) return Truncated();
    bool done = text_[position_] == '}';
    if (done) ++position_;
    while (!done) {
      std::string key;
      if (!ReadKey(&key)) return false;
      SkipSpace();
      if (AtEnd()) return Truncated();
      if (text_[position_] != ':') return Malformed();
      ++position_;
      Json element;
      if (!ReadValue(&element, depth + 1)) return false;
      (*value)[key] = std::move(element);
      if (!NextElement('}', &done)) return false;
    }
    return true;
  }

  const std::string_view text_;
  size_t position_ = 0;
  LiteralError error_ = LiteralError::kNone;
};

}  // namespace

Literal ReadLiteral(std::string_view text) {
  LiteralReader reader(text);
  Literal literal;
  const bool ok = reader.ReadValue(&literal.value, 0);
  literal.error = ok ? LiteralError::kNone : reader.error();
  literal.end = reader.position();
  if (!ok) literal.value = nullptr;
  return literal;
}

}  // namespace davinci::llm
