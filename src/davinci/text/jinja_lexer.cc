#include "davinci/text/jinja_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "davinci/text/jinja_value.h"

namespace davinci::text::jinja {
namespace {

bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {
    // A template's last newline is not part of it.
    if (source_.ends_with("\r\n"))
      source_.remove_suffix(2);
    else if (source_.ends_with('\n'))
      source_.remove_suffix(1);
  }

  std::vector<Token> Run() {
    while (at_ < source_.size()) {
      const size_t tag = FindTag(at_);
      Text(tag);
      if (tag == std::string_view::npos) break;
      const char kind = source_[tag + 1];
      at_ = tag + 2;
      if (at_ < source_.size() && (source_[at_] == '-' || source_[at_] == '+')) ++at_;
      if (kind == '#') {
        Comment();
      } else if (kind == '%' && Raw()) {
        continue;
      } else {
        Add(Token::Kind::kBegin, std::string{'{', kind});
        Inside(kind == '%' ? '%' : '}');
      }
    }
    Add(Token::Kind::kEof, "");
    return std::move(tokens_);
  }

 private:
  void Add(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), line_});
  }

  size_t FindTag(size_t from) const {
    for (size_t i = from; i + 1 < source_.size(); ++i)
      if (source_[i] == '{' &&
          (source_[i + 1] == '%' || source_[i + 1] == '{' || source_[i + 1] == '#'))
        return i;
    return std::string_view::npos;
  }

  // Text from at_ to `tag`, with the whitespace removed that the tag asks to be.
  void Text(size_t tag) {
    const bool last = tag == std::string_view::npos;
    std::string_view text = source_.substr(at_, last ? std::string_view::npos : tag - at_);
    const int lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    if (!last) {
      const char kind = source_[tag + 1];
      const char sign = tag + 2 < source_.size() ? source_[tag + 2] : ' ';
      if (sign == '-') {
        while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
      } else if (kind != '{' && sign != '+') {  // lstrip_blocks
        size_t begin = text.size();
        while (begin > 0 && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
        const bool line_start =
            begin > 0 ? text[begin - 1] == '\n' : at_ == 0 || source_[at_ - 1] == '\n';
        if (line_start) text = text.substr(0, begin);
      }
    }
    if (strip_next_)
      while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
    strip_next_ = false;
    if (!text.empty()) Add(Token::Kind::kText, std::string(text));
    line_ += lines;
    if (last) at_ = source_.size();
  }

  // Behind the end of a block or comment: trim_blocks takes one newline.
  void AfterBlock(bool strip, bool keep) {
    strip_next_ = strip;
    if (strip || keep) return;
    if (source_.substr(at_).starts_with("\r\n"))
      at_ += 2, ++line_;
    else if (source_.substr(at_).starts_with('\n'))
      ++at_, ++line_;
  }

  void Comment() {
    const size_t end = source_.find("#}", at_);
    if (end == std::string_view::npos) Fail(line_, "a comment without end");
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    const char sign = source_[end - 1];
    at_ = end + 2;
    AfterBlock(sign == '-', sign == '+');
  }

  // {% raw %}…{% endraw %}: true if there was one.
  bool Raw() {
    size_t i = at_;
    while (i < source_.size() && IsSpace(source_[i])) ++i;
    if (!source_.substr(i).starts_with("raw") ||
        (i + 3 < source_.size() && !IsSpace(source_[i + 3]) && source_[i + 3] != '%' &&
         source_[i + 3] != '-'))
      return false;
    Fail(line_, "raw blocks are not supported");
  }

  void Inside(char close) {
    std::vector<char> open;
    for (;;) {
      while (at_ < source_.size() && IsSpace(source_[at_])) {
        if (source_[at_] == '\n') ++line_;
        ++at_;
      }
      if (at_ >= source_.size()) Fail(line_, "a tag without end");
      const std::string_view rest = source_.substr(at_);
      const std::string end{close, '}'};
      const bool sign = rest.size() > 2 && (rest[0] == '-' || rest[0] == '+');
      if (open.empty() && (rest.starts_with(end) || (sign && rest.substr(1).starts_with(end)))) {
        const bool strip = rest[0] == '-';
        const bool keep = rest[0] == '+';
        Add(Token::Kind::kEnd, end);
        at_ += end.size() + (strip || keep ? 1 : 0);
        if (close == '%')
          AfterBlock(strip, keep);
        else
          strip_next_ = strip;
        return;
      }
      const char c = rest[0];
      if (c == '\'' || c == '"') {
        String(c);
      } else if (IsDigit(c)) {
        Number();
      } else if (IsNameStart(c)) {
        size_t size = 1;
        while (size < rest.size() && (IsNameStart(rest[size]) || IsDigit(rest[size]))) ++size;
        Add(Token::Kind::kName, std::string(rest.substr(0, size)));
        at_ += size;
      } else {
        static constexpr std::array<std::string_view, 26> kOperators = {
            "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
            ">",  "=",  "(",  ")",  "[",  "]",  "{", "}", ",", ".", ":", "|", ";"};
        const auto found = std::find_if(kOperators.begin(), kOperators.end(),
                                        [&](auto text) { return rest.starts_with(text); });
        if (found == kOperators.end() || *found == ";")
          Fail(line_, fmt::format("unexpected character '{}'", c));
        if (c == '(' || c == '[' || c == '{') open.push_back(c);
        if ((c == ')' || c == ']' || c == '}') && !open.empty()) open.pop_back();
        Add(Token::Kind::kOperator, std::string(*found));
        at_ += found->size();
      }
    }
  }

  void String(char quote) {
    std::string text;
    const int line = line_;
    for (++at_; at_ < source_.size() && source_[at_] != quote; ++at_) {
      if (source_[at_] == '\n') ++line_;
      if (source_[at_] != '\\') {
        text += source_[at_];
        continue;
      }
      if (++at_ >= source_.size()) break;
      switch (source_[at_]) {
        case 'n':
          text += '\n';
          break;
        case 't':
          text += '\t';
          break;
        case 'r':
          text += '\r';
          break;
        case '\\':
        case '\'':
        case '"':
          text += source_[at_];
          break;
        case '\n':
          break;
        default:
          Fail(line_, fmt::format("the escape \\{} is not supported", source_[at_]));
      }
    }
    if (at_ >= source_.size()) Fail(line, "a string without end");
    ++at_;
    Add(Token::Kind::kString, std::move(text));
  }

  void Number() {
    size_t end = at_;
    while (end < source_.size() && IsDigit(source_[end])) ++end;
    bool real = end + 1 < source_.size() && source_[end] == '.' && IsDigit(source_[end + 1]);
    if (real)
      for (++end; end < source_.size() && IsDigit(source_[end]);) ++end;
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      size_t digits = end + 1;
      if (digits < source_.size() && (source_[digits] == '+' || source_[digits] == '-')) ++digits;
      if (digits < source_.size() && IsDigit(source_[digits])) {
        real = true;
        for (end = digits; end < source_.size() && IsDigit(source_[end]);) ++end;
      }
    }
    Add(real ? Token::Kind::kFloat : Token::Kind::kInteger,
        std::string(source_.substr(at_, end - at_)));
    at_ = end;
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  bool strip_next_ = false;
  std::vector<Token> tokens_;
};

}  // namespace

void Fail(int line, std::string_view what) {
  throw JinjaError(fmt::format("line {}: {}", line, what));
}

std::vector<Token> Tokenize(std::string_view source) { return Lexer(source).Run(); }

}  // namespace davinci::text::jinja
