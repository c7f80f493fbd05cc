// What PyTorch functions mean that need shapes: reductions, views, normalizations, class indices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "davinci/teacher/evaluate.h"
#include "davinci/teacher/kernel_form.h"

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using EKind = PythonExpression::Kind;

bool IsTrue(const Meaning& value) { return value.number && *value.number != 0; }

}  // namespace

Meaning Evaluator::Size(DimId dim) {
  Meaning size = Meaning::Number(0);
  size.dim = dim;
  if (p_->graph.dims.IsConstant(dim)) {
    size.number = static_cast<double>(p_->graph.dims.At(dim, synth::Binding::kCuda));
  } else {
    size.number.reset();
    size.text = Bracketed(p_->SizeText(dim));
  }
  return size;
}

Result<std::vector<int>> Evaluator::Axes(const Meaning& dim, size_t rank) {
  std::vector<int> axes;
  if (dim.kind == Meaning::Kind::kNone) {
    for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int>(i));
    return axes;
  }
  Meanings all = dim.kind == Meaning::Kind::kSequence ? dim.items : Meanings{dim};
  for (const Meaning& one : all) {
    if (one.kind != Meaning::Kind::kNumber || !one.number) return Unknown("such an axis");
    int axis = static_cast<int>(*one.number);
    if (axis < 0) axis += static_cast<int>(rank);
    if (axis < 0 || axis >= static_cast<int>(rank)) return Unknown("an axis out of range");
    axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

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
  return Meaning::Tensor(p_->Add(std::move(value)));
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

Result<Meaning> Evaluator::Reshape(Id x, std::vector<DimId> shape) {
  TensorValue value;
  value.kind = TensorValue::Kind::kReshape;
  value.operands = {x};
  value.dtype = (*p_)[x].dtype;
  value.shape = std::move(shape);
  return Meaning::Tensor(p_->Add(std::move(value)));
}

Meaning Evaluator::View(Id x, const std::string& text, std::vector<DimId> shape) {
  TensorValue value;
  value.kind = TensorValue::Kind::kOpaque;
  value.what = "view";
  value.view = true;
  value.contiguous = false;
  value.operands = {x};
  value.text = text;
  value.dtype = (*p_)[x].dtype;
  value.shape = std::move(shape);
  return Meaning::Tensor(p_->Add(std::move(value)));
}

Meaning Evaluator::Weight(const std::string& name, std::vector<DimId> shape) {
  TensorValue leaf;
  leaf.text = path_ + "." + name;
  leaf.shape = std::move(shape);
  for (size_t i = 0; i < leaf.shape.size(); ++i)
    if (!p_->graph.dims.IsConstant(leaf.shape[i]))
      p_->size_sources.emplace_back(leaf.shape[i], fmt::format("{}.shape[{}]", leaf.text, i));
  return Meaning::Tensor(p_->Add(std::move(leaf)));
}

// (x - mean) * rsqrt(var + eps), or x * rsqrt(mean of squares + eps).
Result<Meaning> Evaluator::Normalized(Id x, std::vector<int> axes, const Meaning& eps,
                                      bool centred) {
  Meaning dims;
  dims.kind = Meaning::Kind::kSequence;
  for (const int axis : axes) dims.items.push_back(Meaning::Number(axis));
  return Apply(centred ? "center_scale" : "rms_scale", {Meaning::Tensor(x), dims, eps}, {});
}

// weight and bias of size shape[axis], or None.
Result<Meaning> Evaluator::Affine(Meaning x, const Meaning& weight, const Meaning& bias,
                                  size_t axis) {
  const size_t rank = (*p_)[x.id].shape.size();
  const auto lift = [&](const Meaning& w) -> Result<Meaning> {
    if (axis + 1 == rank) return w;
    std::vector<DimId> shape = (*p_)[w.id].shape;
    shape.resize(rank - axis, p_->graph.dims.Constant(1));
    return Reshape(w.id, shape);
  };
  if (weight.kind == Meaning::Kind::kTensor) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, lift(weight));
    DAVINCI_ASSIGN_OR_RETURN(x, Binary("*", x, lifted));
  }
  if (bias.kind == Meaning::Kind::kTensor) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, lift(bias));
    DAVINCI_ASSIGN_OR_RETURN(x, Binary("+", x, lifted));
  }
  return x;
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

std::optional<Result<Meaning>> Evaluator::Native(const std::string& name, Meanings& arguments,
                                                 Keywords& keywords) {
  const auto argument = [&](size_t at, const char* keyword) -> Meaning {
    if (at < arguments.size()) return arguments[at];
    if (const auto found = keywords.find(keyword); found != keywords.end()) return found->second;
    return {};
  };
  if ((name == "cat" || name == "concat") && !arguments.empty() &&
      arguments[0].kind == Meaning::Kind::kSequence) {
    const Meaning dim = argument(1, "dim");
    return Concatenated(arguments[0].items,
                        dim.kind == Meaning::Kind::kNone ? Meaning::Number(0) : dim);
  }
  if (arguments.empty() || arguments[0].kind != Meaning::Kind::kTensor) return std::nullopt;
  const Id x = arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const DimId one = p_->graph.dims.Constant(1);
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
                                                          {"cummin", ReduceKind::kMin}};
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
    if (name == "cumsum" || name == "cumprod") return scan;
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
  if (name == "size" || name == "dim") {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown("size"));
    return Result<Meaning>(Size(shape[static_cast<size_t>((*axes)[0])]));
  }
  if (name == "contiguous" || name == "clone" || name == "detach" || name == "nan_to_num") {
    if (name == "nan_to_num") return Result<Meaning>(Unknown(name));
    return Result<Meaning>(arguments[0]);
  }
  if (name == "unsqueeze") {
    const Meaning dim = argument(1, "dim");
    if (!dim.number) return Result<Meaning>(Unknown(name));
    int axis = static_cast<int>(*dim.number);
    if (axis < 0) axis += static_cast<int>(rank) + 1;
    if (axis < 0 || axis > static_cast<int>(rank)) return Result<Meaning>(Unknown(name));
    auto wide = shape;
    wide.insert(wide.begin() + axis, one);
    return Reshape(x, wide);
  }
  if (name == "squeeze") {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown(name));
    auto narrow = shape;
    if (!p_->IsOne(narrow[static_cast<size_t>((*axes)[0])])) return Result<Meaning>(Unknown(name));
    narrow.erase(narrow.begin() + (*axes)[0]);
    return Reshape(x, narrow);
  }
  if (name == "flatten") {
    auto begin = argument(1, "start_dim"), end = argument(2, "end_dim");
    int from = begin.number ? static_cast<int>(*begin.number) : 0;
    int to = end.number ? static_cast<int>(*end.number) : -1;
    if (from < 0) from += static_cast<int>(rank);
    if (to < 0) to += static_cast<int>(rank);
    if (from > to || to >= static_cast<int>(rank)) return Result<Meaning>(Unknown(name));
    std::vector<DimId> flat(shape.begin(), shape.begin() + from);
    flat.push_back(p_->Product({shape.begin() + from, shape.begin() + to + 1}));
    flat.insert(flat.end(), shape.begin() + to + 1, shape.end());
    return Reshape(x, flat);
  }
  if (name == "view" || name == "reshape") {
    Meanings sizes(arguments.begin() + 1, arguments.end());
    if (sizes.size() == 1 && sizes[0].kind == Meaning::Kind::kSequence) sizes = sizes[0].items;
    std::vector<DimId> to;
    int open = -1;
    for (const Meaning& size : sizes) {
      if (size.dim != synth::kNoDim) {
        to.push_back(size.dim);
      } else if (size.number && *size.number == -1 && open < 0) {
        open = static_cast<int>(to.size());
        to.push_back(one);
      } else if (size.number) {
        to.push_back(p_->graph.dims.Constant(static_cast<int64_t>(*size.number)));
      } else {
        return Result<Meaning>(Unknown(name));
      }
    }
    if (open >= 0) {
      const DimId rest = p_->graph.dims.Binary('/', p_->Product(shape), p_->Product(to));
      if (rest == synth::kNoDim) return Result<Meaning>(Unknown(name));
      to[static_cast<size_t>(open)] = rest;
    }
    if (!p_->Same(p_->Product(shape), p_->Product(to))) return Result<Meaning>(Unknown(name));
    return Reshape(x, to);
  }
  if (name == "t" && rank == 2) return Result<Meaning>(View(x, "{0}.t()", {shape[1], shape[0]}));
  if (name == "transpose" && rank >= 2) {
    auto a = Axes(argument(1, "dim0"), rank), b = Axes(argument(2, "dim1"), rank);
    if (!a.ok() || !b.ok() || a->size() != 1 || b->size() != 1)
      return Result<Meaning>(Unknown(name));
    auto swapped = shape;
    std::swap(swapped[static_cast<size_t>((*a)[0])], swapped[static_cast<size_t>((*b)[0])]);
    return Result<Meaning>(
        View(x, fmt::format("{{0}}.transpose({}, {})", (*a)[0], (*b)[0]), swapped));
  }
  if (name == "permute") {
    Meanings order(arguments.begin() + 1, arguments.end());
    if (order.size() == 1 && order[0].kind == Meaning::Kind::kSequence) order = order[0].items;
    if (order.size() != rank) return Result<Meaning>(Unknown(name));
    std::vector<DimId> to;
    std::vector<int> axes;
    for (const Meaning& axis : order) {
      auto one_axis = Axes(axis, rank);
      if (!one_axis.ok()) return Result<Meaning>(one_axis.status());
      axes.push_back((*one_axis)[0]);
      to.push_back(shape[static_cast<size_t>(axes.back())]);
    }
    return Result<Meaning>(View(x, fmt::format("{{0}}.permute({})", fmt::join(axes, ", ")), to));
  }
  if (name == "half_first" || name == "half_second") {
    auto axes = Axes(argument(1, "dim"), rank);
    if (!axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown(name));
    auto half = shape;
    const auto axis = static_cast<size_t>((*axes)[0]);
    const DimId size = p_->graph.dims.Binary('/', half[axis], p_->graph.dims.Constant(2));
    half[axis] = size;
    const Meaning view = View(
        x, fmt::format("{{0}}.chunk(2, dim={})[{}]", axis, name == "half_first" ? 0 : 1), half);
    return ReadAs(view,
                  Slice(x, axis, name == "half_first" ? p_->graph.dims.Constant(0) : size, size));
  }
  if (name == "chunk") {
    const Meaning count = argument(1, "chunks");
    auto axes = Axes(argument(2, "dim"), rank);
    if (!count.number || !axes.ok() || axes->size() != 1) return Result<Meaning>(Unknown(name));
    auto part = shape;
    DimId& size = part[static_cast<size_t>((*axes)[0])];
    size = p_->graph.dims.Binary('/', size,
                                 p_->graph.dims.Constant(static_cast<int64_t>(*count.number)));
    Meaning all;
    all.kind = Meaning::Kind::kSequence;
    for (int k = 0; k < static_cast<int>(*count.number); ++k) {
      const Meaning view =
          View(x, fmt::format("{{0}}.chunk({}, dim={})[{}]", *count.number, (*axes)[0], k), part);
      const DimId from = p_->graph.dims.Binary('*', size, p_->graph.dims.Constant(k));
      all.items.push_back(ReadAs(view, Slice(x, static_cast<size_t>((*axes)[0]), from, size)));
    }
    return Result<Meaning>(all);
  }
  if (name == "gather") {
    auto axes = Axes(argument(1, "dim"), rank);
    const Meaning index = argument(2, "index");
    if (!axes.ok() || axes->size() != 1 || index.kind != Meaning::Kind::kTensor)
      return Result<Meaning>(Unknown(name));
    const auto axis = static_cast<size_t>((*axes)[0]);
    const auto& to = (*p_)[index.id].shape;
    bool rows = to.size() == rank && p_->IsOne(to[axis]);
    for (size_t i = 0; rows && i < rank; ++i) rows = i == axis || p_->Same(to[i], shape[i]);
    if (!rows) return Indexed(name, arguments, keywords);
    return PickClass(x, index.id, axis, true);
  }
  if (name == "layer_norm" || name == "rms_norm") {
    const Meaning normalized = argument(1, "normalized_shape");
    const size_t count = normalized.kind == Meaning::Kind::kSequence ? normalized.items.size() : 1;
    if (count == 0 || count > rank) return Result<Meaning>(Unknown(name));
    std::vector<int> axes;
    for (size_t i = rank - count; i < rank; ++i) axes.push_back(static_cast<int>(i));
    const bool centred = name == "layer_norm";
    Meaning eps = argument(centred ? 4 : 3, "eps");
    if (eps.kind == Meaning::Kind::kNone) {
      if (!centred) return Result<Meaning>(Unknown("rms_norm without eps"));
      eps = Meaning::Number(1e-5);
    }
    auto normed = Normalized(x, axes, eps, centred);
    if (!normed.ok()) return normed;
    const Meaning weight = argument(2, "weight");
    const Meaning bias = centred ? argument(3, "bias") : Meaning{};
    return Affine(*normed, weight, bias, rank - 1);
  }
  if (name == "group_norm" || name == "instance_norm") {
    const Meaning groups = argument(1, "num_groups");
    const bool grouped = name == "group_norm";
    if (rank < 2 || (grouped && !groups.number)) return Result<Meaning>(Unknown(name));
    Meaning eps = argument(4, "eps");
    if (eps.kind == Meaning::Kind::kNone) eps = Meaning::Number(1e-5);
    Meaning normed;
    if (!grouped) {
      std::vector<int> axes;
      for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int>(i));
      auto result = Normalized(x, axes, eps, true);
      if (!result.ok()) return result;
      normed = *result;
    } else {
      const DimId g = p_->graph.dims.Constant(static_cast<int64_t>(*groups.number));
      std::vector<DimId> split = {shape[0], g, p_->graph.dims.Binary('/', shape[1], g)};
      split.insert(split.end(), shape.begin() + 2, shape.end());
      auto parted = Reshape(x, split);
      if (!parted.ok()) return parted;
      std::vector<int> axes;
      for (size_t i = 2; i < split.size(); ++i) axes.push_back(static_cast<int>(i));
      auto result = Normalized(parted->id, axes, eps, true);
      if (!result.ok()) return result;
      auto joined = Reshape(result->id, shape);
      if (!joined.ok()) return joined;
      normed = *joined;
    }
    const Meaning weight = grouped ? argument(2, "weight") : keywords["weight"];
    const Meaning bias = grouped ? argument(3, "bias") : keywords["bias"];
    return Affine(normed, weight, bias, 1);
  }
  if (name == "batch_norm" && rank >= 2) {
    if (argument(1, "running_mean").kind != Meaning::Kind::kNone ||
        !IsTrue(argument(5, "training")))
      return Result<Meaning>(Unknown(name));
    Meaning eps = argument(7, "eps");
    if (eps.kind == Meaning::Kind::kNone) eps = Meaning::Number(1e-5);
    return BatchNorm(x, argument(3, "weight"), argument(4, "bias"), eps, {}, false);
  }
  if (name == "prelu" && second_tensor) {
    const auto weights = (*p_)[arguments[1].id].shape;
    if (weights.size() != 1) return Result<Meaning>(Unknown(name));
    auto scaled = Affine(arguments[0], arguments[1], {}, p_->IsOne(weights[0]) ? rank - 1 : 1);
    auto positive = Binary(">", arguments[0], Meaning::Number(0));
    if (!scaled.ok() || !positive.ok()) return Result<Meaning>(Unknown(name));
    return Point("where", {*positive, arguments[0], *scaled});
  }
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
      total = Apply("logsumexp", {arguments[0], axis}, {});
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
  if (name == "pow") return Power(arguments[0], argument(1, "exponent"));
  return Indexed(name, arguments, keywords);
}

Result<Meaning> Evaluator::Module(const Names&, const Meanings& inputs) {
  if (!constructor_ || constructor_->kind != EKind::kCall || inputs.empty() ||
      inputs[0].kind != Meaning::Kind::kTensor)
    return Unknown("this module");
  const std::string name = constructor_->parts[0].DottedName();
  Meanings arguments;
  Keywords keywords;
  for (size_t i = 1; i < constructor_->parts.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(Meaning argument, Evaluate(constructor_->parts[i], {}));
    arguments.push_back(std::move(argument));
  }
  for (const auto& [keyword, value] : constructor_->keywords) {
    DAVINCI_ASSIGN_OR_RETURN(keywords[keyword], Evaluate(value, {}));
  }
  const auto keyword = [&](const char* key, double otherwise) {
    const auto found = keywords.find(key);
    return found == keywords.end() || !found->second.number ? Meaning::Number(otherwise)
                                                            : found->second;
  };
  const Id x = inputs[0].id;
  const auto shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  if (name == "nn.LayerNorm" || name == "nn.RMSNorm") {
    const bool centred = name == "nn.LayerNorm";
    const Meaning sizes = arguments.empty() ? keywords["normalized_shape"] : arguments[0];
    const size_t count = sizes.kind == Meaning::Kind::kSequence ? sizes.items.size() : 1;
    if (count == 0 || count > rank) return Unknown(name);
    if (!centred && !keywords.contains("eps")) return Unknown(name);
    std::vector<int> axes;
    std::vector<DimId> own;
    for (size_t i = rank - count; i < rank; ++i) {
      axes.push_back(static_cast<int>(i));
      own.push_back(shape[i]);
    }
    DAVINCI_ASSIGN_OR_RETURN(const Meaning normed,
                             Normalized(x, axes, keyword("eps", 1e-5), centred));
    if (!IsTrue(keyword("elementwise_affine", 1))) return normed;
    return Affine(normed, Weight("weight", own), centred ? Weight("bias", own) : Meaning{},
                  rank - 1);
  }
  const bool group = name == "nn.GroupNorm";
  const bool instance = name.starts_with("nn.InstanceNorm");
  const bool batch = name.starts_with("nn.BatchNorm");
  if (group || instance || batch) {
    if (rank < 2) return Unknown(name);
    const bool affine = IsTrue(keyword("affine", instance ? 0 : 1));
    const Meaning weight = affine ? Weight("weight", {shape[1]}) : Meaning{};
    const Meaning bias = affine ? Weight("bias", {shape[1]}) : Meaning{};
    if (group || instance) {
      Keywords passed = {{"weight", weight}, {"bias", bias}, {"eps", keyword("eps", 1e-5)}};
      Meanings all = {inputs[0]};
      if (group) all.push_back(arguments.empty() ? keywords["num_groups"] : arguments[0]);
      auto result = Native(group ? "group_norm" : "instance_norm", all, passed);
      return result ? std::move(*result) : Result<Meaning>(Unknown(name));
    }
    if (training_)
      return BatchNorm(x, weight, bias, keyword("eps", 1e-5), keyword("momentum", 0.1),
                       IsTrue(keyword("track_running_stats", 1)));
    std::vector<DimId> wide(rank - 1, p_->graph.dims.Constant(1));
    wide[0] = shape[1];
    DAVINCI_ASSIGN_OR_RETURN(const Meaning mean,
                             Reshape(Weight("running_mean", {shape[1]}).id, wide));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning var,
                             Reshape(Weight("running_var", {shape[1]}).id, wide));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning centred, Binary("-", inputs[0], mean));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning safe, Binary("+", var, keyword("eps", 1e-5)));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scale, Point("rsqrt", {safe}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning normed, Binary("*", centred, scale));
    return Affine(normed, weight, bias, 1);
  }
  if (name == "nn.PReLU") {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning positive, Binary(">", inputs[0], Meaning::Number(0)));
    const bool shared = arguments.empty();
    const Meaning weight = Weight("weight", {shared ? p_->graph.dims.Constant(1) : shape[1]});
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled,
                             Affine(inputs[0], weight, {}, shared ? rank - 1 : 1));
    return Point("where", {positive, inputs[0], scaled});
  }
  if (name == "nn.CrossEntropyLoss" || name == "nn.NLLLoss") {
    Meanings all = inputs;
    auto result = Native(name == "nn.NLLLoss" ? "nll_loss" : "cross_entropy", all, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  static const std::map<std::string, std::string, std::less<>> functionals = {
      {"nn.MaxPool", "max_pool"},
      {"nn.AvgPool", "avg_pool"},
      {"nn.AdaptiveAvgPool", "adaptive_avg_pool"},
      {"nn.AdaptiveMaxPool", "adaptive_max_pool"}};
  for (const auto& [module, function] : functionals) {
    if (!name.starts_with(module)) continue;
    Meanings all = {inputs[0]};
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto result = Native(function + name.substr(module.size()), all, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  if (name == "nn.Upsample" && arguments.empty()) {
    auto result = Indexed("interpolate", inputs, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  if (name == "nn.Embedding" && arguments.size() == 2 && arguments[0].dim != synth::kNoDim &&
      arguments[1].dim != synth::kNoDim) {
    const Meaning table = Weight("weight", {arguments[0].dim, arguments[1].dim});
    return Select(table.id, 0, x);
  }
  const auto found = tables_.functions.find(name);
  if (found == tables_.functions.end()) return Unknown(name);
  Names names;
  static const char* const kInputs[] = {"x", "y", "z"};
  if (inputs.size() > 3) return Unknown(name);
  for (size_t i = 0; i < inputs.size(); ++i) names[kInputs[i]] = inputs[i];
  return ApplyTable(found->second, std::move(arguments), std::move(keywords), names, name);
}

// By the statistics of the batch, which also move the running ones.
Result<Meaning> Evaluator::BatchNorm(Id x, const Meaning& weight, const Meaning& bias,
                                     const Meaning& eps, const Meaning& momentum, bool track) {
  std::vector<int> axes = {0};
  Meaning dims;
  dims.kind = Meaning::Kind::kSequence;
  for (size_t i = 2; i < (*p_)[x].shape.size(); ++i) axes.push_back(static_cast<int>(i));
  for (const int axis : axes) dims.items.push_back(Meaning::Number(axis));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed, Normalized(x, axes, eps, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning result, Affine(normed, weight, bias, 1));
  if (!track) return result;
  if (!momentum.number) return Unknown("batch norm without momentum");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, Mean(x, dims, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning mean, Reshape(wide.id, {(*p_)[x].shape[1]}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning var, Apply("var", {Meaning::Tensor(x), dims}, {}));
  const auto effect = [&](const std::string& text, const std::vector<Id>& operands) {
    TensorValue value;
    value.kind = TensorValue::Kind::kOpaque;
    value.effect = true;
    value.text = path_ + text;
    value.operands = operands;
    p_->effects.push_back(p_->Add(std::move(value)));
  };
  effect(fmt::format(".running_mean.lerp_({{0}}, {})", *momentum.number), {mean.id});
  effect(fmt::format(".running_var.lerp_({{0}}, {})", *momentum.number), {var.id});
  effect(".num_batches_tracked.add_(1)", {});
  return result;
}

Result<Meaning> Evaluator::Subscript(const Expression& e, const Names& names) {
  DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(e.parts[0], names));
  if (value.kind == Meaning::Kind::kSequence) {
    if (e.parts.size() != 2) return Unknown("[]");
    if (e.parts[1].kind == EKind::kSlice) {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning from, Evaluate(e.parts[1].parts[0], names));
      Meaning rest = value;
      int begin = from.number ? static_cast<int>(*from.number) : 0;
      if (begin < 0) begin += static_cast<int>(value.items.size());
      if (begin < 0 || e.parts[1].parts[1].kind != EKind::kNone) return Unknown("[:]");
      rest.items.erase(rest.items.begin(), rest.items.begin() + begin);
      return rest;
    }
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Evaluate(e.parts[1], names));
    if (!index.number) return Unknown("[]");
    int at = static_cast<int>(*index.number);
    if (at < 0) at += static_cast<int>(value.items.size());
    if (at < 0 || at >= static_cast<int>(value.items.size())) return Unknown("[]");
    if (at == 0 && value.id >= 0) return Meaning::Tensor(value.id);
    return value.items[static_cast<size_t>(at)];
  }
  if (value.kind != Meaning::Kind::kTensor) return Unknown("[]");
  const auto old = (*p_)[value.id].shape;
  if (e.parts.size() == 2 && e.parts[1].kind == EKind::kName) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Evaluate(e.parts[1], names));
    if (index.kind == Meaning::Kind::kTensor) return Select(value.id, 0, index.id);
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto part, Part(value.id, e, names));
  if (part) return *part;
  // x[:, :, None], x[None]
  std::vector<DimId> shape;
  size_t axis = 0;
  for (size_t i = 1; i < e.parts.size(); ++i) {
    const Expression& item = e.parts[i];
    if (item.kind == EKind::kName && item.text == "None") {
      shape.push_back(p_->graph.dims.Constant(1));
    } else if (item.kind == EKind::kSlice && item.parts[0].kind == EKind::kNone &&
               item.parts[1].kind == EKind::kNone && item.parts[2].kind == EKind::kNone &&
               axis < old.size()) {
      shape.push_back(old[axis++]);
    } else {
      return Unknown("a slice");
    }
  }
  shape.insert(shape.end(), old.begin() + static_cast<std::ptrdiff_t>(axis), old.end());
  return Reshape(value.id, shape);
}

}  // namespace davinci::teacher
