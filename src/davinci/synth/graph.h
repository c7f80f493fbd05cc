// The operator graph of a task: the intermediate representation between the grammar and everything
// made from a task (its Python text, its splits and duplicates, its kernels).
//
// Values are graph inputs, weights (parameters and buffers) or results of nodes; a node applies one
// operator of the grammar, or one call of an imported module. Nodes stand in an order in which they
// can be evaluated. Scopes record which nodes came from one use of a named pattern: a renderer may
// make a class of a scope, a rewrite may ignore them. Operators belong to the Grammar, which
// outlives the graph.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "davinci/base/hash.h"
#include "davinci/synth/dim.h"
#include "davinci/synth/grammar.h"

namespace davinci::synth {

using ValueId = int32_t;

struct SizeAttr {
  DimId dim = kNoDim;
  bool operator==(const SizeAttr&) const = default;
};
// Axes count from 0; the renderer decides on negative spellings.
using AttrValue = std::variant<int64_t, double, bool, std::string, SizeAttr, std::vector<int>>;

struct Value {
  enum class Origin { kInput, kParameter, kBuffer, kNode };
  Origin origin = Origin::kNode;
  std::string hint;  // name in the pattern or operator
  std::vector<DimId> shape;
  DType dtype = DType::kFloat;
  double lo = 0, hi = 0;   // where nearly all elements lie
  bool saturated = false;  // see Operator::saturates
  int32_t node = -1;       // kNode: which; weights: the node that owns it
  int32_t output = 0;      // kNode: which result
  // Inputs: the row of inputs.toml, its draw, and the bound of indices.
  std::string kind;
  size_t draw = 0;
  DimId bound = kNoDim;
  const ParamSpec* param = nullptr;  // weights
  // Why no kernel may read or write the value; "": it may. Of imported modules.
  std::string foreign;
  // Axes of an imported module's input in memory, outermost first; empty means their own order.
  std::vector<int> order;
};

struct Node {
  const Operator* op = nullptr;  // of the grammar; null: of an imported module
  std::string label;             // what people call it: the operator's or the function's name
  bool view = false;             // moves no data and computes nothing
  bool transfers = false;        // between a device and the host
  std::vector<ValueId> inputs;
  std::vector<ValueId> weights;
  std::vector<ValueId> outputs;
  std::map<std::string, AttrValue, std::less<>> attrs;
  std::map<std::string, DimId, std::less<>> dims;  // what the operator's shapes have bound
  std::vector<DimId> star;
  int32_t scope = 0;
  bool effect = false;  // changes the module's state and gives nothing
};

// One use of a pattern inside another one; scope 0 is the whole graph.
struct Scope {
  std::string pattern;
  int32_t parent = -1;
  std::vector<ValueId> inputs;
  std::vector<std::string> input_names;
  std::vector<ValueId> outputs;
  std::map<std::string, DimId, std::less<>> formals;  // sizes that the pattern's text names
};

enum class Precision { kFp32, kFp16, kBf16 };

struct Graph {
  explicit Graph(uint64_t seed) : dims(seed) {}
  DimTable dims;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<Scope> scopes;
  std::vector<ValueId> inputs;  // in the order of forward()'s arguments
  std::vector<ValueId> outputs;
  const Pattern* pattern = nullptr;
  Precision precision = Precision::kFp32;
  std::string mode;  // "", "train", "eval"

  std::vector<int> UsesOfValues() const;  // by nodes and as output
  // Operators that compute, in order; views are left out.
  std::vector<std::string> OperatorSequence() const;
  // Of the sorted multiset of computing operators: what the combination split goes by.
  uint64_t CombinationHash() const;
  // Of operators, attributes without sizes, and edges.
  uint64_t StructureHash() const;
  double Elements(Binding binding) const;
  double Flops(Binding binding) const;
};

std::string_view PrecisionText(Precision precision);  // "fp32"

}  // namespace davinci::synth
