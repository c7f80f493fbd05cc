// PromptTemplate: a Markdown file with declared variables. The only way text reaches a model.
//
// A file begins with a header between two lines "---":
//
//   ---
//   about: One sentence for the file's editor.
//   variables:
//     class_name: the class the reply must define
//     skills: texts of the chosen skills, empty without any
//   ---
//   Write a class `{{class_name}}`.
//   {{#skills}}
//   Notes that helped before:
//   {{skills}}
//   {{/skills}}
//
// {{name}} is replaced by the value, which is never looked at again: braces inside a value mean
// nothing. {{#name}}…{{/name}} stays only when the value is not empty, {{^name}}…{{/name}} only
// when it is; sections nest. A section tag alone on its line takes the whole line with it. That is
// the whole language: nothing is computed and nothing can be called.
//
// Errors are InvalidArgument and name file and line: no header, a header line that is neither known
// nor a variable, a name declared twice, a tag that is no tag, a name used but not declared, a
// section not closed. Rendering fails when a declared variable is given no value or a value is
// given for a variable that is not declared; a declared variable need not be used. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::agent {

using PromptValues = std::map<std::string, std::string, std::less<>>;

class PromptTemplate {
 public:
  // `source` is the file's name, for messages.
  static Result<PromptTemplate> Parse(std::string_view text, std::string_view source);

  struct Variable {
    std::string name;
    std::string about;
    int line = 0;
  };
  const std::vector<Variable>& variables() const { return variables_; }
  const std::string& source() const { return source_; }

  // Fails unless exactly `names` are declared: what the code hands over and what the file expects
  // are one list.
  Status CheckDeclares(const std::vector<std::string>& names) const;

  // The text without header, without blank lines at either end.
  Result<std::string> Render(const PromptValues& values) const;

 private:
  struct Piece {
    enum class Kind { kText, kValue, kIfSet, kIfEmpty, kEnd };
    Kind kind = Kind::kText;
    std::string text;  // the text itself, or the variable's name
    size_t end = 0;    // kIfSet, kIfEmpty: index of their kEnd
  };

  Result<size_t> ParseHeader(std::string_view text, int* line);
  Status ParseBody(std::string_view body, int line);
  Status Error(int line, std::string_view what) const;
  bool Declares(std::string_view name) const;

  std::string source_;
  std::vector<Variable> variables_;
  int header_end_line_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace davinci::agent
