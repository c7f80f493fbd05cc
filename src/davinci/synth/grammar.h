// The grammar of tasks: operators, patterns, sizes and inputs, read from TOML (docs/synth.md has
// the format). Loading is strict: an unknown key, an unknown operator in a pattern or an expression
// that does not parse is an error with file and line. A Grammar is immutable and shared by threads.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/synth/dim.h"
#include "davinci/synth/expression.h"

namespace davinci::synth {

// The family of patterns and operators that stand in rows of training alone.
inline constexpr std::string_view kMixedFamily = "mixed";

// One axis of a shape in a specification.
struct ShapeToken {
  enum class Kind {
    kStar,       // "*": any number of axes
    kStarOnes,   // "*1": as many axes of size 1 as "*" stands for
    kBroadcast,  // "~*": broadcasts to what "*" stands for
    kName,       // "C", "C%8": binds a size, or must equal it
    kExpression  // "C//g": must equal it
  };
  Kind kind = Kind::kName;
  std::string name;
  int64_t multiple = 1;
  Expression expression;
};
using ShapeSpec = std::vector<ShapeToken>;

enum class DType { kFloat, kIndex, kBool };

// "x: N C H W : kind bound"
struct InputSpec {
  std::string name;
  ShapeSpec shape;
  std::string any;                  // "@any": one of the shapes of that name
  std::string kind = "normal";      // row of inputs.toml
  std::optional<Expression> bound;  // of kinds that have one
};

// "weight: O C//g k k : fan" ; "? bias" behind it: only where that attribute is true.
struct ParamSpec {
  std::string name;
  ShapeSpec shape;
  std::string init;  // row of [init] in inputs.toml, or a Python expression (contains "(")
  std::string condition;
  bool buffer = false;
};

struct AttrSpec {
  enum class Kind { kInts, kFloats, kBools, kWords, kSize, kAxis, kAxes, kDerived };
  std::string name;
  std::string py;  // as a keyword and as a name in Python
  Kind kind = Kind::kInts;
  std::vector<double> numbers;      // kInts, kFloats, kBools
  std::vector<std::string> words;   // kWords, kAxis and kAxes: any last first channel inner spatial
  std::vector<Expression> derived;  // kDerived: one of these, an integer
  std::string role;                 // kSize
  int64_t multiple = 1;             // kSize
  std::optional<double> default_number;
  std::optional<std::string> default_word;
};

struct OutputSpec {
  enum class Rule { kShape, kReduce, kBroadcast, kConcat, kSwap, kInsert, kMove };
  Rule rule = Rule::kShape;
  ShapeSpec shape;
  DType dtype = DType::kFloat;
};

struct Operator {
  std::string name;
  std::string family;
  std::string title;                // "layer normalization"
  std::string means;                // for operator cards, where no spelling says it
  std::vector<std::string> groups;  // what patterns pick from: where it may stand
  std::vector<InputSpec> inputs;
  std::vector<AttrSpec> attrs;
  std::vector<ParamSpec> params;
  std::vector<OutputSpec> outputs;
  std::vector<Expression> require;  // over sizes and attributes, under every binding
  std::vector<Expression> needs;    // over ranges (lo, hi, m, lo1, hi1, m1), sizes, attributes
  std::optional<Expression> lo, hi;
  std::optional<Expression> flops;  // default: one per output element
  // Style of spelling ("module", "functional", "torch", "method", "operator", "hand", "einsum") to
  // Python texts with {placeholders}.
  std::map<std::string, std::vector<std::string>> spell;
  std::string call;                // of a module; default "{m}(inputs)"
  std::vector<std::string> names;  // of the module attribute
  std::vector<std::string> vars;   // of the result
  std::string mode;                // "train" or "eval" where it needs one
  double weight = 1;
  bool half = true;               // runs in fp16 and bf16 on both targets
  bool saturates = false;         // many results are equal, or all are far from 0
  bool keeps_saturation = false;  // where its input is so, its result is
  bool view = false;              // moves no data and computes nothing

  const AttrSpec* Attr(std::string_view attr) const;
};

// A value of a pattern: a variable, or a call.
struct PatternTerm {
  enum class Kind { kVariable, kOperator, kGroup, kPattern, kChain };
  Kind kind = Kind::kVariable;
  std::string name;  // variable, operator, group or pattern
  std::vector<PatternTerm> arguments;
  std::map<std::string, std::vector<Expression>> named;  // several: one is drawn
  int64_t least = 1, most = 1;                           // kChain
};

struct PatternStatement {
  enum class Kind { kAssign, kLet, kNew, kDims, kRepeat, kMaybe, kChoose, kReturn };
  Kind kind = Kind::kAssign;
  int line = 0;
  std::vector<std::string> names;  // assigned
  std::vector<PatternTerm> terms;  // kAssign: one; kReturn: what is returned
  Expression expression;           // kLet
  std::string role;                // kNew
  int64_t multiple = 1;            // kNew
  InputSpec dims;                  // kDims
  int64_t least = 1, most = 1;     // kRepeat
  double probability = 0.5;        // kMaybe
  std::vector<std::vector<PatternStatement>> bodies;
};

struct Pattern {
  std::string name;
  std::string family;
  std::string title;  // for docstrings; empty: made from the operators
  double weight = 1;  // 0: used by other patterns only
  std::string mode;
  std::vector<InputSpec> inputs;
  std::vector<PatternStatement> body;
  bool half = true;
};

struct SizeRole {
  std::array<std::array<int64_t, 2>, kNumBindings> range{};  // least, most per binding
  double power_of_two = 0.5, round = 0.3;                    // shares; the rest is any integer
  std::vector<int64_t> values;  // instead: one of these under every binding
  std::vector<std::string> names;
  std::string text;  // for docstrings
};

struct DrawForm {
  std::string call;  // "torch.randn({shape}{dt})"
  double lo = 0, hi = 0, weight = 1;
};

struct InputKind {
  std::vector<DrawForm> draws;
  DType dtype = DType::kFloat;
  std::vector<std::string> names;
  std::string text;
};

struct Budget {
  double elements = 0, flops = 0;  // at most: elements of all values; operations
};

struct Grammar {
  std::map<std::string, Operator, std::less<>> operators;
  std::map<std::string, Pattern, std::less<>> patterns;
  std::map<std::string, std::vector<const Operator*>, std::less<>> groups;
  std::map<std::string, SizeRole, std::less<>> roles;
  std::map<std::string, std::string, std::less<>> role_of_name;  // "C" -> "channels"
  std::map<std::string, std::vector<std::pair<ShapeSpec, double>>, std::less<>> shapes;  // "@any"
  std::map<std::string, InputKind, std::less<>> kinds;
  std::map<std::string, std::vector<std::string>, std::less<>> inits;
  std::array<Budget, kNumBindings> budgets;
  std::set<std::string, std::less<>> held_out_families;  // of operators or patterns
  int combination_percent = 8;
  int reinforcement_percent = 8;
};

// Reads operators/*.toml, patterns/*.toml, sizes.toml, inputs.toml and splits.toml below `folder`.
Result<Grammar> LoadGrammar(const std::filesystem::path& folder);

// "N C H%8 W" ; "x: @image" is an InputSpec only.
Result<ShapeSpec> ParseShape(std::string_view text);
Result<InputSpec> ParseInput(std::string_view text);
// The body of a pattern.
Result<std::vector<PatternStatement>> ParseBody(std::string_view text);

}  // namespace davinci::synth
