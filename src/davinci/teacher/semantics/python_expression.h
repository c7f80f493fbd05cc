// Python expressions as far as PyTorch code of one statement needs them: names, attributes, calls
// with keywords, subscripts and slices, arithmetic, comparisons, tuples and lists. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::teacher {

struct PythonExpression {
  enum class Kind {
    kNumber,     // text
    kString,     // text without quotes
    kName,       // text; also True, False, None
    kAttribute,  // parts[0] . text
    kCall,       // parts[0] ( parts[1…], keywords )
    kSubscript,  // parts[0] [ parts[1…] ]
    kSlice,      // parts: start, stop, step; kNone where absent
    kNone,
    kUnary,    // text parts[0]
    kBinary,   // parts[0] text parts[1]; comparisons too
    kSequence  // tuple or list
  };
  Kind kind = Kind::kNone;
  std::string text;
  std::vector<PythonExpression> parts;
  struct Keyword;
  std::vector<Keyword> keywords;

  static Result<PythonExpression> Parse(std::string_view text);
  // "torch.nn.functional.relu" of attributes on names, or "".
  std::string DottedName() const;
  // As Parse() reads it.
  std::string Text() const;
};

struct PythonExpression::Keyword {
  std::string name;
  PythonExpression value;
};

}  // namespace davinci::teacher
