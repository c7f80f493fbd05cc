// A task as tensor primitives: what the operator graph computes, written with few kinds of value.
// A region (fusion.h) is a set of these values that one kernel computes.
//
// Values stand in an order in which they can be evaluated and are unique: the same operation on the
// same values is one value.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "davinci/synth/graph.h"
#include "davinci/teacher/rules/rules.h"

namespace davinci::teacher {

using synth::DimId;
using synth::DType;
using Id = int32_t;

// A scalar operation of the table synth/teacher/primitives.toml.
struct Primitive {
  std::string name;
  int arguments = 1;
  std::string triton, cpp;  // with {0}, {1}, …
  std::string cpp_library;  // without the rule `cpp_rule`; "": `cpp` needs no rule
  std::optional<Rule> cpp_rule;
  std::vector<std::string> helpers;  // functions of math.cpp in `cpp`
  bool gives_bool = false;
  bool integer = false;  // of indices and sizes, gives an index
};

// kLogSum: log of the sum of exponentials, of scans alone.
enum class ReduceKind { kSum, kMax, kMin, kProd, kAny, kAll, kLogSum };

// rows x depth by depth x columns. The leading axes of both are a batch where the right one has
// more than two; else those of the left one are rows.
struct MatrixProduct {
  Id left = -1, right = -1, bias = -1;                     // bias: of a column, or -1
  bool left_transposed = false, right_transposed = false;  // in memory: the last two axes
  // "self.fc.bias" of a linear layer without a bias, where that attribute is None; else "".
  std::string absent_bias = {};
};

struct TensorValue {
  enum class Kind {
    kLeaf,    // a tensor that exists: an input, a weight
    kScalar,  // a number: `number`, or Python text that is known when forward runs
    kPoint,   // a primitive, operands broadcast
    kReduce,  // over `axes`, which stay with size 1 where `keepdim`
    kScan,    // along axes[0], up to and with the own element
    kReshape,
    kIota,  // the index along axes[0]; the other sizes are 1
    kLoad,  // element of operands[0], which exists in memory, at the indices operands[1 … rank];
            // behind them the source's sizes but the first
    kOpaque,  // PyTorch text with {0}, {1}, … for operands
    kItem     // a member of an opaque tuple
  };
  Kind kind = Kind::kLeaf;
  std::vector<DimId> shape;
  DType dtype = DType::kFloat;
  std::vector<Id> operands;
  const Primitive* primitive = nullptr;
  ReduceKind reduce = ReduceKind::kSum;
  std::vector<int> axes;  // kScalar: the axis whose size it is, where that matters
  bool keepdim = false;
  // kLeaf: Python name; kScalar, kOpaque: Python text; kItem: what stands behind the tuple's name
  // where it is more than [item].
  std::string text;
  std::optional<double> number;
  int item = 0;
  bool contiguous = true;  // kLeaf, kOpaque: known to be
  std::vector<int> order;  // kLeaf: of its axes in memory, outermost first; empty: their own
  bool view = false;       // kOpaque: costs nothing
  // Elements between neighbours along each axis, and the contiguous value whose memory it is, where
  // the value is a view that kernels read in place. Empty: it is contiguous where kernels read it.
  std::vector<int64_t> strides;
  Id view_of = -1;
  bool effect = false;    // kOpaque: changes a buffer, has no result
  bool virtual_ = false;  // kPoint of indices and numbers alone: computed where it is read
  std::string what;       // kOpaque: "matmul", "conv", … for rules and reports
  // kOpaque: a kernel of kernel_templates.h that may stand for the text, and what it needs to know.
  std::string kernel;
  std::map<std::string, std::string> options;
  int node = -1;                         // of the operator graph
  std::optional<MatrixProduct> product;  // kOpaque: a matrix product
  bool own = false;  // kOpaque: a kernel computes `product`, whose tensors are the operands
};

// An operator that stays one PyTorch call.
struct LeftOperator {
  std::string op, family, why;
  std::string place = {};  // the line of an imported module
};

struct Program {
  explicit Program(const synth::Graph& task) : graph(task) {}

  Id Add(TensorValue value);
  Id Scalar(double number);
  Id Size(DimId dim);  // as an index
  // The same, of an axis: another value than the size of another axis that is alike.
  Id SizeOfAxis(DimId dim, size_t axis);
  Id ScalarText(const std::string& text);

  const TensorValue& operator[](Id id) const { return values[static_cast<size_t>(id)]; }
  bool Same(DimId a, DimId b) const { return graph.dims.Equal(a, b); }
  bool IsOne(DimId dim) const { return graph.dims.IsConstant(dim, 1); }
  DimId Product(const std::vector<DimId>& dims);
  // The matrix product that the value is, through transposing views of its operands; none: it is
  // not one, or of another form.
  std::optional<MatrixProduct> MatrixProductOf(Id id) const;
  // Operands whose elements a value reads where it is computed: not the source of a load.
  std::vector<Id> ReadInPlace(Id id) const;
  // The Python variable of a value in forward; no input has its name.
  std::string Variable(Id id) const;
  // Python text of a size at run time, from the shapes of inputs and weights.
  std::string SizeText(DimId dim) const;
  // The size under the sizes of a target.
  double At(DimId dim, synth::Binding binding) const {
    return static_cast<double>(graph.dims.At(dim, fixed_sizes ? synth::Binding::kCpu : binding));
  }
  // Of a value under the sizes of a target.
  double Elements(Id id, synth::Binding binding) const;

  synth::Graph graph;  // with the sizes that lowering adds
  // Functions that each node of the graph calls (semantics/called.h), and its kind of work.
  struct NodeCall {
    std::string function;
    std::string kind = "other";
  };
  std::vector<NodeCall> calls;
  bool fixed_sizes = false;  // the task has its cpu sizes on every target
  std::vector<TensorValue> values;
  std::vector<Id> outputs;
  std::map<Id, synth::ValueId> results;  // the first tensor of the graph that is the value
  std::map<Id, std::string> names;       // that steps have for further values, where they are known
  std::vector<Id> effects;               // computed though nothing reads them
  std::vector<std::pair<Id, Id>> updates;  // a value and the buffer, a leaf, that it is stored in
  std::vector<std::pair<DimId, std::string>>
      size_sources;                // "x.shape[0]", of value 7 "t7.shape[0]"
  std::vector<LeftOperator> left;  // views are not among them
  std::map<Id, Rule> by_rule;      // values that a rule about structure gave
  // Sums of a vendor product, and what gives the same without the product, where nothing else
  // reads it.
  std::map<Id, Id> cheaper;
  struct Linear {
    Id x = -1, weight = -1, bias = -1;
  };
  std::map<Id, Linear> linear;  // opaque linear layers and their parts; no bias: -1
  std::map<Id, Id>
      expanded;  // a view that PyTorch expands: what it has one element of, which broadcasts
  std::map<Id, Id> read_as;  // a slice that PyTorch makes as a view: the load that equals it

 private:
  TensorValue SizeValue(DimId dim) const;

  std::map<std::string, Id> known_;
};

// Returns the sizes of a value; nothing: one of them is not known before run time.
std::optional<std::vector<int64_t>> ConstantSizes(const Program& program, Id id);

}  // namespace davinci::teacher
