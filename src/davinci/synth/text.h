// Small text helpers. Internal.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::synth {

inline std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

inline std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// Separators inside (), [] and {} do not count.
inline std::vector<std::string_view> SplitTop(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != separator || depth > 0) continue;
    parts.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

inline std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < text.size();) {
    while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i]))) ++i;
    const size_t begin = i;
    while (i < text.size() && !std::isspace(static_cast<unsigned char>(text[i]))) ++i;
    if (i > begin) words.push_back(text.substr(begin, i - begin));
  }
  return words;
}

template <typename Range>
std::string Join(const Range& parts, std::string_view separator) {
  std::string joined;
  for (const auto& part : parts) {
    if (!joined.empty()) joined += separator;
    joined += part;
  }
  return joined;
}

inline std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

inline std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

inline std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// A character of a name in Python or C.
inline bool IsWordChar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// True where a text has the name `word`, not as part of a longer name.
inline bool HasWord(std::string_view text, std::string_view word) {
  const auto inside = [&](size_t at) { return at < text.size() && IsWordChar(text[at]); };
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
    if ((at == 0 || !inside(at - 1)) && !inside(at + word.size())) return true;
  return false;
}

// `text` with what `other(name, where it begins)` gives in the place of each whole name.
template <typename Other>
std::string RenamedAt(const std::string& text, const Other& other) {
  std::string renamed;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsWordChar(text[end])) ++end;
    if (end == at) {
      renamed += text[at++];
      continue;
    }
    renamed += other(text.substr(at, end - at), at);
    at = end;
  }
  return renamed;
}

// The same where the place does not matter.
template <typename Other>
std::string Renamed(const std::string& text, const Other& other) {
  return RenamedAt(text, [&](const std::string& name, size_t) { return other(name); });
}

// The text with another word in place of a name.
inline std::string WithWord(std::string text, std::string_view word, std::string_view instead) {
  const auto inside = [&](size_t at) { return at < text.size() && IsWordChar(text[at]); };
  for (size_t at = text.find(word); at != std::string::npos;) {
    if ((at > 0 && (inside(at - 1) || text[at - 1] == '.')) || inside(at + word.size())) {
      at = text.find(word, at + 1);
      continue;
    }
    text.replace(at, word.size(), instead);
    at = text.find(word, at + instead.size());
  }
  return text;
}

// Whether a Python expression needs brackets as an operand.
inline bool IsAtomic(std::string_view text) {
  int depth = 0;
  if (text.starts_with('-')) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth == 0 && c == ' ') return false;
  }
  return true;
}

// Whether `form`'s placeholder at [begin, end) stands alone between brackets or commas.
inline bool Enclosed(std::string_view form, size_t begin, size_t end) {
  size_t before = begin;
  while (before > 0 && form[before - 1] == ' ') --before;
  const bool left = before > 0 && (form[before - 1] == '(' || form[before - 1] == ',' ||
                                   form[before - 1] == '[' || form[before - 1] == '=');
  size_t after = end;
  while (after < form.size() && form[after] == ' ') ++after;
  const std::string_view rest = form.substr(after);
  const bool right = rest.starts_with(')') || rest.starts_with(',') || rest.starts_with(']') ||
                     rest.starts_with("{kw:") || rest.starts_with("{opt:");
  return (left && right) || (begin == 0 && end == form.size());
}

// `form` with what `give(name, enclosed)` says in the place of each {name}.
template <typename Give>
std::string WithPlaceholders(std::string_view form, const Give& give) {
  std::string text;
  for (size_t i = 0; i < form.size();) {
    if (form[i] != '{') {
      text += form[i++];
      continue;
    }
    const size_t end = form.find('}', i);
    text += give(std::string(form.substr(i + 1, end - i - 1)), Enclosed(form, i, end + 1));
    i = end + 1;
  }
  return text;
}

inline size_t CountOf(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

}  // namespace davinci::synth
