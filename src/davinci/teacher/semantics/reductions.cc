// Reductions, scans and positions of extremes, by their functions' names.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"

namespace davinci::teacher {
namespace {

ReduceKind KindNamed(const std::string& name) {
  static const std::map<std::string, ReduceKind> kinds = {{"sum", ReduceKind::kSum},
                                                          {"amax", ReduceKind::kMax},
                                                          {"amin", ReduceKind::kMin},
                                                          {"prod", ReduceKind::kProd},
                                                          {"any", ReduceKind::kAny},
                                                          {"all", ReduceKind::kAll},
                                                          {"max", ReduceKind::kMax},
                                                          {"min", ReduceKind::kMin},
                                                          {"cumsum", ReduceKind::kSum},
                                                          {"cumprod", ReduceKind::kProd},
                                                          {"cummax", ReduceKind::kMax},
                                                          {"cummin", ReduceKind::kMin},
                                                          {"argmax", ReduceKind::kMax},
                                                          {"argmin", ReduceKind::kMin},
                                                          {"logcumsumexp", ReduceKind::kLogSum}};
  return kinds.at(name);
}

bool OfTwoTensors(const Call& call) {
  return call.arguments.size() > 1 && call.arguments[1].IsTensor();
}

Result<Meaning> Reduction(const Call& call) {
  if (OfTwoTensors(call)) return call.NotKnown();
  return Reduce(call.b, KindNamed(call.name), call.x(), call.Argument(1, "dim"),
                IsTrue(call.Argument(2, "keepdim")));
}

// max(x), max(x, y), and max(x, dim), which also gives positions.
Result<Meaning> ExtremeOf(const Call& call) {
  const ReduceKind kind = KindNamed(call.name);
  if (OfTwoTensors(call))
    return call.b.Point(kind == ReduceKind::kMax ? "maximum" : "minimum", call.arguments);
  const Meaning dim = call.Argument(1, "dim");
  const bool keepdim = IsTrue(call.Argument(2, "keepdim"));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning reduced, Reduce(call.b, kind, call.x(), dim, keepdim));
  if (dim.IsNone()) return reduced;
  DAVINCI_ASSIGN_OR_RETURN(Meaning pair, Extreme(call.b, kind, call.x(), dim, keepdim));
  pair.id = reduced.id;
  return pair;
}

Result<Meaning> PositionOfExtreme(const Call& call) {
  Id x = call.x();
  Meaning dim = call.Argument(1, "dim");
  const bool keepdim = IsTrue(call.Argument(2, "keepdim"));
  if (dim.IsNone()) {  // among all elements
    if (keepdim) return call.NotKnown();
    DAVINCI_ASSIGN_OR_RETURN(const Meaning flat,
                             call.b.Reshape(x, {call.b.p.Product(call.Shape())}));
    x = flat.id;
    dim = Meaning::Number(0);
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning pair,
                           Extreme(call.b, KindNamed(call.name), x, dim, keepdim));
  return pair.items[1];
}

// torch.linalg.norm: of vectors along one axis, or of all elements. An order along two axes is a
// norm of matrices, which is not known.
Result<Meaning> LinalgNorm(const Call& call) {
  Meaning order = call.Argument(1, "ord");
  const Meaning dim = call.Argument(2, "dim");
  Meaning keepdim = call.Argument(3, "keepdim");
  if (order.IsNone())
    order = Meaning::Number(2);
  else if (!call.OneAxis(dim))
    return call.NotKnown();
  if (keepdim.IsNone()) keepdim = Meaning::Number(0);
  return call.defined.Apply("norm", {call.arguments[0], order, dim, keepdim});
}

Result<Meaning> Scan(const Call& call) {
  Builder& b = call.b;
  const auto axis = call.OneAxis(call.Argument(1, "dim"));
  if (!axis || b.p[call.x()].dtype != DType::kFloat) return call.NotKnown();
  TensorValue value;
  value.kind = TensorValue::Kind::kScan;
  value.reduce = KindNamed(call.name);
  value.operands = {b.Readable(call.x())};
  value.axes = {static_cast<int>(*axis)};
  value.shape = call.Shape();
  const Meaning scan = Meaning::Tensor(b.p.Add(std::move(value)));
  if (call.name != "cummax" && call.name != "cummin") return scan;
  Meaning pair = Meaning::Sequence({scan});  // of values and indices; the indices are not known
  pair.id = scan.id;
  return pair;
}

Result<Meaning> MeanOf(const Call& call) {
  return Mean(call.b, call.x(), call.Argument(1, "dim"), IsTrue(call.Argument(2, "keepdim")));
}

// How many elements a reduction along `dim` reads.
Result<Meaning> Count(const Call& call) {
  const auto shape = call.Shape();
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, Builder::Axes(call.Argument(1, "dim"), shape.size()));
  std::vector<DimId> sizes;
  for (const int axis : axes) sizes.push_back(shape[static_cast<size_t>(axis)]);
  return call.b.Size(call.b.p.Product(sizes));
}

}  // namespace

void AddReductions(FunctionRegistry* registry) {
  registry->Add({"sum", "amax", "amin", "prod", "any", "all"}, Reduction);
  registry->Add({"max", "min"}, ExtremeOf);
  registry->Add({"argmax", "argmin"}, PositionOfExtreme);
  registry->Add({"cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"}, Scan);
  registry->Add({"mean"}, MeanOf);
  registry->Add({"count"}, Count);
  registry->Add({"linalg_norm"}, LinalgNorm);
}

}  // namespace davinci::teacher
