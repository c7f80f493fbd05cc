// Reductions, scans, positions of extremes, and losses over classes.
#include <algorithm>
#include <limits>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {

Result<Meaning> Evaluator::Reduce(ReduceKind kind, Id x, const Meaning& dim, bool keepdim) {
  TensorValue value;
  x = Readable(x);
  value.kind = TensorValue::Kind::kReduce;
  value.reduce = kind;
  value.keepdim = keepdim;
  if ((*p_)[x].dtype == DType::kIndex) return Unknown("a reduction of indices");
  const bool logic = (*p_)[x].dtype == DType::kBool;
  if (logic) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning real, Point("float", {Meaning::Tensor(x)}));
    x = real.id;
  }
  value.dtype = kind == ReduceKind::kAny || kind == ReduceKind::kAll ? DType::kBool
                : logic                                              ? DType::kIndex
                                                                     : DType::kFloat;
  value.operands = {x};
  const auto shape = (*p_)[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(value.axes, Axes(dim, shape.size()));
  if (value.axes.empty()) return Meaning::Tensor(x);
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool reduced =
        std::find(value.axes.begin(), value.axes.end(), static_cast<int>(i)) != value.axes.end();
    if (!reduced) value.shape.push_back(shape[i]);
    if (reduced && keepdim) value.shape.push_back(p_->graph.dims.Constant(1));
  }
  if (value.dtype == DType::kFloat &&
      std::all_of(value.axes.begin(), value.axes.end(),
                  [&](int axis) { return p_->IsOne(shape[static_cast<size_t>(axis)]); }))
    return Reshape(x, value.shape);
  const auto axes = value.axes;
  const Id sum = p_->Add(std::move(value));
  if (kind == ReduceKind::kSum)
    if (const auto cheaper = SummedProduct(x, axes, keepdim); cheaper && cheaper->ok())
      p_->cheaper[sum] = (*cheaper)->id;
  return Meaning::Tensor(sum);
}

// The index along an axis, of size 1 along the others.
Id Evaluator::Position(const std::vector<DimId>& shape, size_t axis) {
  TensorValue iota;
  iota.kind = TensorValue::Kind::kIota;
  iota.dtype = DType::kIndex;
  iota.axes = {static_cast<int>(axis)};
  iota.shape.assign(shape.size(), p_->graph.dims.Constant(1));
  iota.shape[axis] = shape[axis];
  return p_->Add(std::move(iota));
}

// The index is the least position whose element is the extreme value. A NaN counts as extreme, the
// first one wins: its position enters the minimum lowered by 2^24, more than any axis is long.
Result<Meaning> Evaluator::Extreme(ReduceKind kind, Id x, const Meaning& dim, bool keepdim) {
  constexpr double kLowered = 16777216;
  const auto shape = (*p_)[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, Axes(dim, shape.size()));
  if (axes.size() != 1 || (*p_)[x].dtype != DType::kFloat) return Unknown("such an extreme");
  const auto axis = static_cast<size_t>(axes[0]);
  if (p_->At(shape[axis], synth::Binding::kCuda) >= kLowered) return Unknown("so long an axis");
  const Meaning own = Meaning::Tensor(x);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, Reduce(kind, x, dim, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning position,
                           Point("position", {Meaning::Tensor(Position(shape, axis))}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning lowered,
                           Point("sub", {position, Meaning::Number(kLowered)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning equal, Point("eq", {own, wide}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning unordered, Point("ne", {own, own}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning among,
                           Point("where", {equal, position, Meaning::Number(kLowered)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning marked, Point("where", {unordered, lowered, among}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning least, Reduce(ReduceKind::kMin, marked.id, dim, keepdim));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning nan, Point("lt", {least, Meaning::Number(0)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning raised, Point("add", {least, Meaning::Number(kLowered)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning place, Point("where", {nan, raised, least}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Point("index", {place}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning extreme, Reduce(kind, x, dim, keepdim));
  DAVINCI_ASSIGN_OR_RETURN(
      const Meaning value,
      Point("where", {nan, Meaning::Number(std::numeric_limits<double>::quiet_NaN()), extreme}));
  Meaning pair;
  pair.kind = Meaning::Kind::kSequence;
  pair.items = {value, index};
  return pair;
}

Result<Meaning> Evaluator::Mean(Id x, const Meaning& dim, bool keepdim) {
  const auto shape = (*p_)[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, Axes(dim, shape.size()));
  std::vector<DimId> reduced;
  for (const int axis : axes) reduced.push_back(shape[static_cast<size_t>(axis)]);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning sum, Reduce(ReduceKind::kSum, x, dim, keepdim));
  return Binary("/", sum, Size(p_->Product(reduced)));
}

// x[…, index, …] along `axis`: the sum of x where the position is the index. Index has x's shape
// without `axis`.
Result<Meaning> Evaluator::PickClass(Id x, Id index, size_t axis, bool keepdim) {
  const auto shape = (*p_)[x].shape;
  const Id position = Position(shape, axis);
  auto wide = (*p_)[index].shape;
  if (wide.size() + 1 == shape.size()) {
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(axis), p_->graph.dims.Constant(1));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, Reshape(index, wide));
    index = lifted.id;
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning same,
                           Point("eq", {Meaning::Tensor(position), Meaning::Tensor(index)}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning kept,
                           Point("where", {same, Meaning::Tensor(x), Meaning::Number(0)}));
  return Reduce(ReduceKind::kSum, kept.id, Meaning::Number(static_cast<double>(axis)), keepdim);
}

std::optional<Result<Meaning>> Evaluator::Reduced(const NativeCall& call) {
  const std::string& name = call.name;
  const Meanings& arguments = call.arguments;
  const auto argument = [&](size_t at, const char* keyword) { return call.Argument(at, keyword); };
  const Id x = call.arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const bool second_tensor = arguments.size() > 1 && arguments[1].kind == Meaning::Kind::kTensor;
  static const std::map<std::string, ReduceKind> reductions = {
      {"sum", ReduceKind::kSum},   {"amax", ReduceKind::kMax}, {"amin", ReduceKind::kMin},
      {"prod", ReduceKind::kProd}, {"any", ReduceKind::kAny},  {"all", ReduceKind::kAll},
      {"max", ReduceKind::kMax},   {"min", ReduceKind::kMin}};
  if (const auto found = reductions.find(name); found != reductions.end()) {
    if (second_tensor) {
      if (name == "max" || name == "min")
        return Point(name == "max" ? "maximum" : "minimum", arguments);
      return Result<Meaning>(Unknown(name));
    }
    const Meaning dim = argument(1, "dim");
    auto reduced = Reduce(found->second, x, dim, IsTrue(argument(2, "keepdim")));
    if (!reduced.ok() || (name != "max" && name != "min") || dim.kind == Meaning::Kind::kNone)
      return reduced;
    auto pair = Extreme(found->second, x, dim, IsTrue(argument(2, "keepdim")));
    if (pair.ok()) pair->id = reduced->id;
    return pair;
  }
  static const std::map<std::string, ReduceKind> scans = {{"cumsum", ReduceKind::kSum},
                                                          {"cumprod", ReduceKind::kProd},
                                                          {"cummax", ReduceKind::kMax},
                                                          {"cummin", ReduceKind::kMin},
                                                          {"logcumsumexp", ReduceKind::kLogSum}};
  if (const auto found = scans.find(name); found != scans.end()) {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok() || axes->size() != 1 || (*p_)[x].dtype != DType::kFloat)
      return Result<Meaning>(Unknown(name));
    TensorValue value;
    value.kind = TensorValue::Kind::kScan;
    value.reduce = found->second;
    value.operands = {Readable(x)};
    value.axes = *axes;
    value.shape = shape;
    const Meaning scan = Meaning::Tensor(p_->Add(std::move(value)));
    if (name != "cummax" && name != "cummin") return scan;
    Meaning pair;  // of values and indices; the indices are not known
    pair.kind = Meaning::Kind::kSequence;
    pair.id = scan.id;
    pair.items = {scan};
    return pair;
  }
  if (name == "argmax" || name == "argmin") {
    const Meaning dim = argument(1, "dim");
    if (dim.kind == Meaning::Kind::kNone) return Result<Meaning>(Unknown(name));
    auto pair = Extreme(name == "argmax" ? ReduceKind::kMax : ReduceKind::kMin, x, dim,
                        IsTrue(argument(2, "keepdim")));
    if (!pair.ok()) return pair;
    return Result<Meaning>(pair->items[1]);
  }
  if (name == "mean") return Mean(x, argument(1, "dim"), IsTrue(argument(2, "keepdim")));
  if (name == "count") {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok()) return Result<Meaning>(axes.status());
    std::vector<DimId> sizes;
    for (const int axis : *axes) sizes.push_back(shape[static_cast<size_t>(axis)]);
    return Result<Meaning>(Size(p_->Product(sizes)));
  }
  return std::nullopt;
}

std::optional<Result<Meaning>> Evaluator::ClassLoss(const NativeCall& call) {
  const std::string& name = call.name;
  const Meanings& arguments = call.arguments;
  Keywords& keywords = call.keywords;
  const auto argument = [&](size_t at, const char* keyword) { return call.Argument(at, keyword); };
  const Id x = call.arguments[0].id;
  const size_t rank = (*p_)[x].shape.size();
  if (name == "cross_entropy" || name == "nll_loss") {
    const Meaning target = argument(1, "target");
    if (target.kind != Meaning::Kind::kTensor || rank < 2) return Result<Meaning>(Unknown(name));
    Meaning reduction = argument(9, "reduction");
    if (reduction.kind == Meaning::Kind::kNone) {
      reduction.kind = Meaning::Kind::kText;
      reduction.text = "mean";
    }
    const double smoothing = keywords["label_smoothing"].number.value_or(0);
    const bool classes = (*p_)[target.id].dtype == DType::kIndex;
    const bool entropy = name == "cross_entropy";
    if (!classes && (!entropy || smoothing > 0)) return Result<Meaning>(Unknown(name));
    const Meaning axis = Meaning::Number(1);
    Result<Meaning> total = Meaning::Number(0);
    if (entropy) {
      total = Apply("log_total", {arguments[0], axis}, {});
      if (!total.ok()) return total;
    }
    Result<Meaning> picked =
        classes ? PickClass(x, target.id, 1, false) : Binary("*", arguments[0], target);
    if (!picked.ok()) return picked;
    if (!classes) {  // sum of y * (lse - x)
      auto mass = Reduce(ReduceKind::kSum, target.id, axis, false);
      auto part = Reduce(ReduceKind::kSum, picked->id, axis, false);
      if (!mass.ok() || !part.ok()) return Result<Meaning>(Unknown(name));
      auto scaled = Binary("*", *mass, *total);
      if (!scaled.ok()) return scaled;
      auto rows = Binary("-", *scaled, *part);
      if (!rows.ok()) return rows;
      return Apply("mean_or_sum", {*rows, reduction}, {});
    }
    if (smoothing > 0) {
      auto average = Mean(x, axis, false);
      if (!average.ok()) return average;
      auto near = Binary("*", *picked, Meaning::Number(1 - smoothing));
      auto far = Binary("*", *average, Meaning::Number(smoothing));
      if (!near.ok() || !far.ok()) return Result<Meaning>(Unknown(name));
      picked = Binary("+", *near, *far);
      if (!picked.ok()) return picked;
    }
    auto rows = entropy ? Binary("-", *total, *picked) : Point("neg", {*picked});
    if (!rows.ok()) return rows;
    return Apply("mean_or_sum", {*rows, reduction}, {});
  }
  return std::nullopt;
}

}  // namespace davinci::teacher
