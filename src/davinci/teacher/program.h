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

namespace davinci::teacher {

using synth::DimId;
using synth::DType;
using Id = int32_t;

// A scalar operation of the table synth/teacher/primitives.toml.
struct Primitive {
  std::string name;
  int arguments = 1;
  std::string triton, cpp;           // with {0}, {1}, …
  std::string cpp_library;           // without the rule `cpp_rule`; "": `cpp` needs no rule
  std::string cpp_rule;              // of the teacher
  std::vector<std::string> helpers;  // functions of math.cpp in `cpp`
  bool gives_bool = false;
};

enum class ReduceKind { kSum, kMax, kMin, kProd, kAny, kAll };

struct TensorValue {
  enum class Kind {
    kLeaf,    // a tensor that exists: an input, a weight
    kScalar,  // a number: `number`, or Python text that is known when forward runs
    kPoint,   // a primitive, operands broadcast
    kReduce,  // over `axes`, which stay with size 1 where `keepdim`
    kReshape,
    kIota,    // the index along axes[0]; the other sizes are 1
    kOpaque,  // PyTorch text with {0}, {1}, … for operands
    kItem     // a member of an opaque tuple
  };
  Kind kind = Kind::kLeaf;
  std::vector<DimId> shape;
  DType dtype = DType::kFloat;
  std::vector<Id> operands;
  const Primitive* primitive = nullptr;
  ReduceKind reduce = ReduceKind::kSum;
  std::vector<int> axes;
  bool keepdim = false;
  std::string text;  // kLeaf: Python name; kScalar, kOpaque: Python text
  std::optional<double> number;
  int item = 0;
  bool contiguous = true;  // kLeaf, kOpaque: known to be
  bool view = false;       // kOpaque: costs nothing
  std::string what;        // kOpaque: "matmul", "conv", … for rules and reports
  int node = -1;           // of the operator graph
};

struct Program {
  explicit Program(const synth::Graph& task) : graph(task) {}

  Id Add(TensorValue value);
  Id Scalar(double number);
  Id ScalarText(const std::string& text);

  const TensorValue& operator[](Id id) const { return values[static_cast<size_t>(id)]; }
  bool Same(DimId a, DimId b) const { return graph.dims.Equal(a, b); }
  bool IsOne(DimId dim) const { return graph.dims.IsConstant(dim, 1); }
  DimId Product(const std::vector<DimId>& dims);
  // Python text of a size at run time, from the shapes of inputs and weights.
  std::string SizeText(DimId dim) const;
  // The size under the sizes of a target.
  double At(DimId dim, synth::Binding binding) const {
    return static_cast<double>(graph.dims.At(dim, binding));
  }

  synth::Graph graph;  // with the sizes that lowering adds
  std::vector<TensorValue> values;
  std::vector<Id> outputs;
  std::vector<std::pair<DimId, std::string>>
      size_sources;            // "x.shape[0]", of value 7 "t7.shape[0]"
  size_t whole_operators = 0;  // operators that no rule could express: they stay PyTorch calls

 private:
  std::map<std::string, Id> known_;
};

}  // namespace davinci::teacher
