#include "davinci/teacher/program/precedence.h"

#include <algorithm>

namespace davinci::teacher {

int Precedence(std::string_view text) {
  int depth = 0, least = 3;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth > 0 || c == ')' || c == ']') continue;
    if (i == 0 && (c == '-' || c == '!')) least = std::min(least, 2);
    if (i == 0 || text[i - 1] != ' ' || i + 1 >= text.size()) continue;
    if (c == '*' || c == '/' || c == '%')
      least = std::min(least, 2);
    else if ((c == '+' || c == '-') && text[i + 1] == ' ')
      least = std::min(least, 1);
    else if (std::string_view("<>=!&|?:").find(c) != std::string_view::npos)
      least = 0;
  }
  return least;
}

bool IsSimple(std::string_view text) {
  int depth = 0;
  if (text.starts_with('-')) return false;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth == 0 && (c == ' ' || c == '!')) return false;
  }
  return true;
}

std::string Bracketed(const std::string& text) { return IsSimple(text) ? text : "(" + text + ")"; }

}  // namespace davinci::teacher
