#include "davinci/teacher/semantics/reduce.h"

#include <algorithm>

namespace davinci::teacher {
namespace {

// The sum of a linear map's results is one product with the sum of its weights.
Result<Meaning> SummedProduct(Builder& b, Id x, const std::vector<int>& axes, bool keepdim) {
  const TensorValue product = b.p[x];
  const size_t rank = product.shape.size();
  if (!b.Allows(Rule::kReduceWeights) || product.kind != TensorValue::Kind::kOpaque ||
      b.p.graph.precision != synth::Precision::kFp32 || rank < 2 || axes.size() != 1 ||
      axes[0] != static_cast<int>(rank) - 1)
    return Unknown("a cheaper sum");
  Id rows = -1, weight = -1, bias = -1;
  int along = 0;  // axis of the weight that is summed
  if (const auto linear = b.p.linear.find(x); linear != b.p.linear.end()) {
    rows = linear->second.x;
    weight = linear->second.weight;
    bias = linear->second.bias;
  } else if (product.text == "torch.matmul({0}, {1})" &&
             b.p[product.operands[1]].kind == TensorValue::Kind::kLeaf &&
             b.p[product.operands[1]].shape.size() == 2) {
    rows = product.operands[0];
    weight = product.operands[1];
    along = 1;
  }
  if (rows < 0) return Unknown("a cheaper sum");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning total,
                           Reduce(b, ReduceKind::kSum, weight, Meaning::Number(along), false));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled, b.Binary("*", Meaning::Tensor(rows), total));
  DAVINCI_ASSIGN_OR_RETURN(
      Meaning sum, Reduce(b, ReduceKind::kSum, scaled.id, Meaning::Number(axes[0]), keepdim));
  if (bias >= 0) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning constant,
                             Reduce(b, ReduceKind::kSum, bias, Meaning::Number(0), false));
    DAVINCI_ASSIGN_OR_RETURN(sum, b.Binary("+", sum, constant));
  }
  return b.ByRule(Rule::kReduceWeights, sum);
}

}  // namespace

Result<Meaning> Reduce(Builder& b, ReduceKind kind, Id x, const Meaning& dim, bool keepdim) {
  TensorValue value;
  x = b.Readable(x);
  value.kind = TensorValue::Kind::kReduce;
  value.reduce = kind;
  value.keepdim = keepdim;
  if (b.p[x].dtype == DType::kIndex) return Unknown("a reduction of indices");
  const bool logic = b.p[x].dtype == DType::kBool;
  if (logic) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning real, b.Point("float", {Meaning::Tensor(x)}));
    x = real.id;
  }
  value.dtype = kind == ReduceKind::kAny || kind == ReduceKind::kAll ? DType::kBool
                : logic                                              ? DType::kIndex
                                                                     : DType::kFloat;
  value.operands = {x};
  const auto shape = b.p[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(value.axes, b.Axes(dim, shape.size()));
  if (value.axes.empty()) return Meaning::Tensor(x);
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced =
        std::find(value.axes.begin(), value.axes.end(), static_cast<int>(i)) != value.axes.end();
    if (!reduced) value.shape.push_back(shape[i]);
    if (reduced && keepdim) value.shape.push_back(b.p.graph.dims.Constant(1));
  }
  if (value.dtype == DType::kFloat &&
      std::all_of(value.axes.begin(), value.axes.end(),
                  [&](int axis) { return b.p.IsOne(shape[static_cast<size_t>(axis)]); }))
    return b.Reshape(x, value.shape);
  const auto axes = value.axes;
  const Id sum = b.p.Add(std::move(value));
  if (kind == ReduceKind::kSum)
    if (const auto cheaper = SummedProduct(b, x, axes, keepdim); cheaper.ok())
      b.p.cheaper[sum] = cheaper->id;
  return Meaning::Tensor(sum);
}

// The index is the least position whose element is the extreme value. A NaN counts as extreme, the
// first one wins: its position enters the minimum lowered by 2^24, more than any axis is long.
Result<Meaning> Extreme(Builder& b, ReduceKind kind, Id x, const Meaning& dim, bool keepdim) {
  constexpr double kLowered = 16777216;
  const auto shape = b.p[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, b.Axes(dim, shape.size()));
  if (axes.size() != 1 || b.p[x].dtype != DType::kFloat) return Unknown("such an extreme");
  const auto axis = static_cast<size_t>(axes[0]);
  if (b.p.At(shape[axis], synth::Binding::kCuda) >= kLowered) return Unknown("so long an axis");
  const Meaning own = Meaning::Tensor(x);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, Reduce(b, kind, x, dim, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning position,
                           b.Point("position", {Meaning::Tensor(b.Position(shape, axis))}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning lowered,
                           b.Point("sub", {position, Meaning::Number(kLowered)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning equal, b.Point("eq", {own, wide}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning unordered, b.Point("ne", {own, own}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning among,
                           b.Point("where", {equal, position, Meaning::Number(kLowered)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning marked, b.Point("where", {unordered, lowered, among}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning least,
                           Reduce(b, ReduceKind::kMin, marked.id, dim, keepdim));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning nan, b.Point("lt", {least, Meaning::Number(0)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning raised,
                           b.Point("add", {least, Meaning::Number(kLowered)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning place, b.Point("where", {nan, raised, least}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning index, b.Point("index", {place}));
  // Not through the index: where that is not read, it is not computed.
  DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Reduce(b, kind, x, dim, keepdim));
  return Meaning::Sequence({value, index});
}

Result<Meaning> Mean(Builder& b, Id x, const Meaning& dim, bool keepdim) {
  const auto shape = b.p[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, b.Axes(dim, shape.size()));
  std::vector<DimId> reduced;
  for (const int axis : axes) reduced.push_back(shape[static_cast<size_t>(axis)]);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning sum, Reduce(b, ReduceKind::kSum, x, dim, keepdim));
  return b.Binary("/", sum, b.Size(b.p.Product(reduced)));
}

Result<Meaning> PickClass(Builder& b, Id x, Id index, size_t axis, bool keepdim) {
  const auto shape = b.p[x].shape;
  const Id position = b.Position(shape, axis);
  auto wide = b.p[index].shape;
  if (wide.size() + 1 == shape.size()) {
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(axis), b.p.graph.dims.Constant(1));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, b.Reshape(index, wide));
    index = lifted.id;
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning same,
                           b.Point("eq", {Meaning::Tensor(position), Meaning::Tensor(index)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning kept,
                           b.Point("where", {same, Meaning::Tensor(x), Meaning::Number(0)}));
  return Reduce(b, ReduceKind::kSum, kept.id, Meaning::Number(static_cast<double>(axis)), keepdim);
}

}  // namespace davinci::teacher
