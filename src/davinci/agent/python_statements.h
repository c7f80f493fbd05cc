// A delta reply's Python, read by its text: the names of statements, the body of its forward and
// the statements at its top. Nothing checks that Python takes it. Pure.
#pragma once

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/data/prelude.h"

namespace davinci::agent {

inline bool IsNameStart(char c) {
  return IsNamePart(c) && std::isdigit(static_cast<unsigned char>(c)) == 0;
}

// Whether the text has the name, and not as a part of another one.
bool HasName(std::string_view text, std::string_view name);

// The items between commas outside of brackets, without blanks around them; none is empty.
std::vector<std::string> ItemsOf(std::string_view text);

// The number of blanks in front of a line's text.
size_t IndentOf(std::string_view line);

std::vector<std::string_view> LinesOf(std::string_view text);

// Calls `see(name, depth of brackets, begin, end)` with each name of a statement that is no
// attribute, no keyword of a call, and in no string or comment. Returns the depth at the end.
template <typename See>
int ForNames(std::string_view text, const See& see) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '\'' || c == '"') {
      for (++i; i < text.size() && text[i] != c; ++i)
        if (text[i] == '\\') ++i;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (IsNamePart(c)) {
      size_t end = i;
      while (end < text.size() && IsNamePart(text[end])) ++end;
      const bool keyword =
          depth > 0 && end + 1 < text.size() && text[end] == '=' && text[end + 1] != '=';
      if (IsNameStart(c) && (i == 0 || text[i - 1] != '.') && !keyword)
        see(text.substr(i, end - i), depth, i, end);
      i = end - 1;
    }
  }
  return depth;
}

// Returns the text with what `take` makes of its names that are no attributes, those in strings and
// comments, too; what stands between them as it is.
template <typename Take>
std::string WithNames(std::string_view text, const Take& take) {
  std::string result;
  result.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (!IsNamePart(text[i])) {
      result += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && IsNamePart(text[end])) ++end;
    const bool attribute = i > 0 && text[i - 1] == '.';
    const std::string_view name = text.substr(i, end - i);
    result += attribute ? std::string(name) : take(name);
    i = end;
  }
  return result;
}

// The names that WithNames takes.
std::set<std::string> NamesIn(std::string_view text);

// The function finds the "=" of an assignment; npos means that the statement is none.
size_t AssignmentOf(std::string_view text);

// A statement of forward, with the lines within it.
struct Statement {
  std::string text;                // without the body's indentation
  std::vector<std::string> makes;  // names that it binds
  std::vector<std::string> reads;  // names that it has, in order
  bool returns = false;
};

// Finds makes, reads and returns in the text.
void Describe(Statement* statement);

// The text around the body of the last forward(), which is that of the class that is asked for, and
// its statements.
struct Forward {
  std::string head, tail;  // `head` ends with the line of the def
  std::string indent;
  std::set<std::string> parameters;
  std::vector<Statement> body;
};

std::optional<Forward> ForwardOf(const std::string& code);

// Names that the code's functions have at the top: "f1" of "@kernel def f1(x, o):".
std::set<std::string> FunctionsOf(const std::string& code);

// A statement at the top of the code, between `begin` and `end`.
struct TopStatement {
  size_t begin = 0, end = 0;
  Statement statement;
};

std::vector<TopStatement> TopStatements(const std::string& code);

bool IsLaunchOf(const Statement& statement, const std::set<std::string>& kernels);

}  // namespace davinci::agent
