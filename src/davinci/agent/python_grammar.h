// Mistakes in Python that its text alone shows. What is no mistake for sure passes: words that the
// check does not know (with, try, nested functions) are not looked into. Pure.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::agent {

inline bool IsOneOf(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

enum class TokenKind { kName, kNumber, kString, kOperator };

struct Token {
  TokenKind kind = TokenKind::kOperator;
  std::string_view text;
};

// A line, with those that its brackets join.
struct LogicalLine {
  size_t indent = 0;
  bool has_tab = false;  // in its indentation, whose width is not known then
  std::string_view text;
  std::vector<Token> tokens;
};

struct PythonLines {
  std::vector<LogicalLine> lines;  // without comments and blank lines
  std::string problem;             // brackets that do not match, or a character of no token; or ""
};

// The lines look into `text`.
PythonLines LogicalLines(std::string_view text);

// The index behind the bracket that matches the one at `open`.
size_t BehindBracket(const std::vector<Token>& tokens, size_t open);

// Why no interpreter takes these lines, or "".
std::string SyntaxProblem(const std::vector<LogicalLine>& lines);

// Names that a line reads and binds; attributes and keywords of calls are none.
struct NamesOfLine {
  std::vector<std::string> reads, binds;
};
NamesOfLine NamesOf(const LogicalLine& line);

struct Parameter {
  std::string name;
  bool has_default = false;
};

struct Parameters {
  std::vector<Parameter> list;
  bool star = false;    // it has "*" or "/": the list does not say what calls give
  std::string problem;  // or ""
};

// The parameters of the function whose line "def …" this is.
Parameters ParametersOf(const LogicalLine& def);

}  // namespace davinci::agent
