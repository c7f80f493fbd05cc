// The small language of the grammar files: sizes ("(H + 2*p - d*(k-1) - 1) // s + 1"), conditions
// ("C % g == 0") and value ranges ("max(lo, 0)").
//
//   or, and, comparison (== != <= >= < >), sums, products (* / // %), unary -, calls, names,
//   numbers, 'words'
//
// An Expression is immutable after Parse and may be evaluated by many threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/synth/dim.h"

namespace davinci::synth {

struct Expression {
  enum class Kind { kNumber, kName, kWord, kUnary, kBinary, kCall };
  Kind kind = Kind::kNumber;
  double number = 0;
  std::string text;  // name, word, operator, or function
  std::vector<Expression> parts;
  std::string source;  // of the outermost expression only

  static Result<Expression> Parse(std::string_view text);
};

// A name's size, or nothing where the name is unknown.
using DimLookup = std::function<std::optional<DimId>(std::string_view)>;
// A name's number; words of attributes are looked up through `word`.
struct NumberLookup {
  std::function<std::optional<double>(std::string_view)> number;
  std::function<std::optional<std::string>(std::string_view)> word;
};

// Integers only; no comparisons, no functions but ceil_div(a, b). Nothing: an unknown name or a
// division by zero.
std::optional<DimId> EvaluateDim(const Expression& expression, DimTable* dims,
                                 const DimLookup& lookup);
// Doubles; true is 1. Functions: min max abs exp log sqrt tanh sin floor pow isinf. "//" rounds
// down.
std::optional<double> EvaluateNumber(const Expression& expression, const NumberLookup& lookup);

}  // namespace davinci::synth
