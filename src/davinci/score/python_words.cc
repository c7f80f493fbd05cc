#include "davinci/score/python_words.h"

#include <algorithm>

namespace davinci::score {
namespace {

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

// The position behind the string literal that begins with the quote at `begin`.
size_t SkipString(std::string_view source, size_t begin) {
  const char quote = source[begin];
  const std::string triple(3, quote);
  const bool is_triple = source.substr(begin, 3) == triple;
  size_t i = begin + (is_triple ? 3 : 1);
  while (i < source.size()) {
    if (source[i] == '\\') {
      i += 2;
    } else if (is_triple && source.substr(i, 3) == triple) {
      return i + 3;
    } else if (!is_triple && (source[i] == quote || source[i] == '\n')) {
      return i + 1;
    } else {
      ++i;
    }
  }
  return source.size();
}

// Does a literal that SkipString() found end with its own quotes?
bool IsClosed(std::string_view literal) {
  const std::string triple(3, literal.front());
  return literal.starts_with(triple) ? literal.size() >= 6 && literal.ends_with(triple)
                                     : literal.size() >= 2 && literal.back() == literal.front();
}

// May the literal whose quote is at `at` hold code between braces, and quotes of its own there?
bool IsFormatted(std::string_view source, size_t at) {
  size_t begin = at;
  while (begin > 0 && IsWordByte(source[begin - 1])) --begin;
  const std::string_view prefix = source.substr(begin, at - begin);
  return prefix.size() <= 2 && prefix.find_first_of("fFtT") != std::string_view::npos;
}

}  // namespace

std::string ForwardBodies(std::string_view source) {
  std::string bodies;
  constexpr size_t kOutside = static_cast<size_t>(-1);
  size_t def_indent = kOutside;
  size_t open_brackets = 0;  // of the signature or a call: a line inside them ends nothing
  for (size_t begin = 0; begin < source.size();) {
    const size_t end = std::min(source.find('\n', begin), source.size());
    const std::string_view line = source.substr(begin, end - begin);
    begin = end + 1;
    const size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos) continue;
    const std::string_view text = line.substr(indent);
    if (def_indent != kOutside && open_brackets == 0 && indent <= def_indent && text[0] != '#')
      def_indent = kOutside;
    const std::string_view name = text.starts_with("async def ") ? text.substr(6) : text;
    if (def_indent == kOutside && name.starts_with("def forward") && name.size() > 11 &&
        (name[11] == '(' || name[11] == ' '))
      def_indent = indent;
    if (def_indent == kOutside) continue;
    for (const char c : text) {
      if (c == '(' || c == '[' || c == '{') ++open_brackets;
      if ((c == ')' || c == ']' || c == '}') && open_brackets > 0) --open_brackets;
    }
    bodies += line;
    bodies += '\n';
  }
  return bodies;
}

std::vector<std::string> PythonWords(std::string_view source) {
  std::vector<std::string> words;
  size_t i = 0;
  while (i < source.size()) {
    const char c = source[i];
    if (c == '#') {
      i = std::min(source.find('\n', i), source.size());
    } else if (c == '"' || c == '\'') {
      i = SkipString(source, i);
    } else if (IsWordByte(c)) {
      const size_t begin = i;
      while (i < source.size() && IsWordByte(source[i])) ++i;
      words.emplace_back(source.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return words;
}

std::string WithoutComments(std::string_view source) {
  constexpr int kLinesOfEncoding = 2;
  std::string text;
  size_t firm = 0;  // of `text`: blanks behind it go at the end of the line
  int line = 1;
  size_t i = 0;
  while (i < source.size()) {
    const char c = source[i];
    if (c == '#') {
      const size_t end = std::min(source.find('\n', i), source.size());
      const bool encodes = source.substr(i, end - i).find("coding") != std::string_view::npos;
      if (line <= kLinesOfEncoding && encodes) return std::string(source);
      i = end;
    } else if (c == '\n') {
      // Blanks behind a backslash are an error of the program's own.
      if (firm < text.size() && firm > 0 && text[firm - 1] == '\\') return std::string(source);
      text.resize(firm);
      text += c;
      firm = text.size();
      ++line;
      ++i;
    } else if (c == '"' || c == '\'') {
      const size_t end = SkipString(source, i);
      const std::string_view literal = source.substr(i, end - i);
      const size_t end_of_line = std::min(source.find('\n', end), source.size());
      const bool in_doubt = IsFormatted(source, i) &&
                            source.substr(i, end_of_line - i).find('#') != std::string_view::npos;
      if (!IsClosed(literal) || in_doubt) return std::string(source);
      line += static_cast<int>(std::ranges::count(literal, '\n'));
      text += literal;
      firm = text.size();
      i = end;
    } else {
      text += c;
      if (c != ' ' && c != '\t' && c != '\r') firm = text.size();
      ++i;
    }
  }
  text.resize(firm);
  while (text.ends_with("\n\n")) text.pop_back();
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

}  // namespace davinci::score
