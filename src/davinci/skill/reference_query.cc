#include "davinci/skill/reference_query.h"

#include <string>
#include <unordered_set>
#include <vector>

namespace davinci::skill {
namespace {

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// What every reference has, so that it says nothing about this one.
const std::unordered_set<std::string_view>& LayoutWords() {
  static const std::unordered_set<std::string_view> words = {
      // Python
      "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
      "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
      "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "None",
      "True", "False", "self", "super", "int", "float", "bool", "str", "list", "tuple", "dict",
      "range", "len", "print", "isinstance", "__init__",
      // the layout and PyTorch's packages
      "torch", "nn", "functional", "Model", "Module", "Tensor", "tensor", "forward", "dtype",
      "device", "Optional", "List", "Tuple", "Any", "Union"};
  return words;
}

// The source with comments and string literals replaced by blanks; lines stay where they are.
std::string WithoutText(std::string_view source) {
  std::string code(source);
  const auto blank = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if (code[i] != '\n') code[i] = ' ';
  };
  for (size_t i = 0; i < source.size();) {
    if (source[i] == '#') {
      size_t end = source.find('\n', i);
      if (end == std::string_view::npos) end = source.size();
      blank(i, end);
      i = end;
    } else if (source[i] == '"' || source[i] == '\'') {
      const bool triple = source.substr(i, 3) == std::string(3, source[i]);
      const std::string_view quote = source.substr(i, triple ? 3 : 1);
      size_t end = i + quote.size();
      while (end < source.size() && source.substr(end, quote.size()) != quote &&
             (triple || source[end] != '\n'))
        end += source[end] == '\\' ? 2 : 1;
      // A literal that never ends is no literal: the words after it are better than none.
      const bool closed = end < source.size() && source[end] == source[i];
      if (closed) blank(i, end + quote.size());
      i = closed ? end + quote.size() : i + quote.size();
    } else {
      ++i;
    }
  }
  return code;
}

std::string_view FirstWord(std::string_view line, size_t at) {
  size_t end = at;
  while (end < line.size() && IsNameByte(line[end])) ++end;
  return line.substr(at, end - at);
}

// `a, B = …` at the left margin: sizes and constants.
bool AssignsAtMargin(std::string_view line) {
  if (line.empty() || !IsNameByte(line[0])) return false;
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos || line.substr(equals, 2) == "==") return false;
  for (char c : line.substr(0, equals))
    if (!IsNameByte(c) && c != ' ' && c != ',' && c != ':') return false;
  return true;
}

bool IsInputFunction(std::string_view line, size_t indent) {
  if (FirstWord(line, indent) != "def") return false;
  const size_t name = line.find_first_not_of(' ', indent + 3);
  if (name == std::string_view::npos) return false;
  const std::string_view word = FirstWord(line, name);
  return word == "get_inputs" || word == "get_init_inputs";
}

class Collector {
 public:
  void AddLine(std::string_view line) {
    for (size_t i = 0; i < line.size();) {
      if (IsNameByte(line[i])) {
        const std::string_view word = FirstWord(line, i);
        if (!LayoutWords().contains(word)) Add(word);
        i += word.size();
      } else if (line[i] == '@' && line.find_first_not_of(' ') != i) {  // not a decorator
        Add("matmul");
        ++i;
      } else if (line.substr(i, 2) == "**" && i > 0 && line[i - 1] != '(' && line[i - 1] != ',' &&
                 !(i > 1 && line[i - 1] == ' ' && line[i - 2] == ',')) {  // not **kwargs
        Add("pow");
        i += 2;
      } else {
        ++i;
      }
    }
  }
  std::string Take() { return std::move(text_); }

 private:
  void Add(std::string_view word) {
    if (word[0] >= '0' && word[0] <= '9') return;  // a number
    if (!seen_.emplace(word).second) return;
    if (!text_.empty()) text_ += ' ';
    text_ += word;
  }
  std::unordered_set<std::string> seen_;
  std::string text_;
};

}  // namespace

std::string QueryFromReference(std::string_view source) {
  const std::string code = WithoutText(source);
  Collector collector;
  size_t skipped_indent = std::string_view::npos;  // of get_inputs() and the like, while inside
  for (size_t begin = 0; begin < code.size();) {
    size_t end = code.find('\n', begin);
    if (end == std::string::npos) end = code.size();
    const std::string_view line = std::string_view(code).substr(begin, end - begin);
    begin = end + 1;
    const size_t indent = line.find_first_not_of(" \t\r");
    if (indent == std::string_view::npos) continue;
    if (skipped_indent != std::string_view::npos &&
        (indent > skipped_indent || line[indent] == ')'))
      continue;
    skipped_indent = std::string_view::npos;
    if (IsInputFunction(line, indent)) {
      skipped_indent = indent;
      continue;
    }
    const std::string_view first = FirstWord(line, indent);
    if (first == "import" || first == "from" || AssignsAtMargin(line)) continue;
    collector.AddLine(line);
  }
  return collector.Take();
}

}  // namespace davinci::skill
