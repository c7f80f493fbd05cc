#include "davinci/score/python_words.h"

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

}  // namespace

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

}  // namespace davinci::score
