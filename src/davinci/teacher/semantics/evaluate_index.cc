// What PyTorch functions mean that read elements at computed places: pooling, indexing, slices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {
namespace {

// "max_pool2d" -> 2; 0: none.
size_t SpatialAxes(const std::string& name) {
  if (name.size() < 2 || !name.ends_with('d')) return 0;
  const char digit = name[name.size() - 2];
  return digit >= '1' && digit <= '3' ? static_cast<size_t>(digit - '0') : 0;
}

std::optional<int64_t> WholeNumber(const Meaning& value) {
  if (value.kind == Meaning::Kind::kSequence) {
    for (const Meaning& item : value.items)
      if (item.number != value.items[0].number) return std::nullopt;
    return value.items.empty() ? std::nullopt : WholeNumber(value.items[0]);
  }
  if (!value.number) return std::nullopt;
  return static_cast<int64_t>(*value.number);
}

}  // namespace

Result<Id> Evaluator::Integer(const char* primitive, Id a, Id b) {
  const auto& second = (*p_)[b];
  const std::string_view name = primitive;
  if (second.kind == TensorValue::Kind::kScalar && second.number) {
    if (*second.number == 0 && (name == "iadd" || name == "isub")) return a;
    if (*second.number == 1 && (name == "imul" || name == "idiv")) return a;
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning result,
                           Point(primitive, {Meaning::Tensor(a), Meaning::Tensor(b)}));
  return result.id;
}

Result<Meaning> Evaluator::Load(Id source, const std::vector<Id>& indices) {
  const auto shape = (*p_)[source].shape;
  if (indices.size() != shape.size() || shape.empty()) return Unknown("such an index");
  TensorValue value;
  value.kind = TensorValue::Kind::kLoad;
  value.dtype = (*p_)[source].dtype;
  value.operands = {source};
  size_t rank = 0;
  for (const Id index : indices) rank = std::max(rank, (*p_)[index].shape.size());
  value.shape.assign(rank, p_->graph.dims.Constant(1));
  for (const Id index : indices) {
    if ((*p_)[index].dtype != DType::kIndex) return Unknown("an index that is a number");
    value.operands.push_back(index);
    const auto own = (*p_)[index].shape;
    for (size_t i = 0; i < own.size(); ++i) {
      DimId& size = value.shape[rank - own.size() + i];
      if (p_->IsOne(size))
        size = own[i];
      else if (!p_->IsOne(own[i]) && !p_->Same(size, own[i]))
        return Unknown("indices that do not broadcast");
    }
  }
  for (size_t i = 1; i < shape.size(); ++i) value.operands.push_back(p_->Size(shape[i]));
  return Meaning::Tensor(p_->Add(std::move(value)));
}

Result<Id> Evaluator::AlongAxis(Id index, size_t axis, size_t rank) {
  const auto own = (*p_)[index].shape;
  std::vector<DimId> wide(rank, p_->graph.dims.Constant(1));
  for (size_t i = 0; i < own.size(); ++i) wide[axis + i] = own[i];
  while (wide.size() > own.size() && p_->IsOne(wide.front()) && axis > 0) {
    wide.erase(wide.begin());
    --axis;
  }
  if (wide.size() == own.size()) return index;
  DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, Reshape(index, wide));
  return lifted.id;
}

// The window's axes lie before the last axis of the result: lanes along it read side by side.
Result<Meaning> Evaluator::Pool(Id x, const std::string& name, const Meanings& arguments,
                                Keywords& keywords) {
  const size_t axes = SpatialAxes(name);
  const auto shape = (*p_)[x].shape;
  if (axes == 0 || shape.size() != axes + 2) return Unknown(name);
  const bool max = name.starts_with("max");
  const auto number = [&](size_t at, const char* keyword, int64_t otherwise) {
    Meaning value;
    if (at < arguments.size())
      value = arguments[at];
    else if (const auto found = keywords.find(keyword); found != keywords.end())
      value = found->second;
    return value.kind == Meaning::Kind::kNone ? std::optional<int64_t>(otherwise)
                                              : WholeNumber(value);
  };
  const auto k = number(1, "kernel_size", 0);
  if (!k || *k < 2) return Unknown(name);
  const auto stride = number(2, "stride", *k), padding = number(3, "padding", 0);
  const auto dilation = max ? number(4, "dilation", 1) : std::optional<int64_t>(1);
  for (const auto& [keyword, value] : keywords)
    if (keyword != "kernel_size" && keyword != "stride" && keyword != "padding" &&
        !(max && keyword == "dilation"))
      return Unknown(name + " with " + keyword);
  if (!stride || !padding || !dilation) return Unknown(name);
  // Behind those: ceil_mode; count_include_pad and divisor_override, or return_indices.
  for (size_t at = max ? 5 : 4; at < arguments.size(); ++at) {
    const Meaning& more = arguments[at];
    const bool usual =
        !max && at == 5 ? IsTrue(more) : more.kind == Meaning::Kind::kNone || more.number == 0.0;
    if (!usual) return Unknown(fmt::format("{} with argument {}", name, at + 1));
  }
  auto& dims = p_->graph.dims;
  const auto constant = [&](int64_t value) { return dims.Constant(value); };
  // N, C, O1, …, window 1, …, window n, On.
  std::vector<DimId> space = {shape[0], shape[1]};
  std::vector<DimId> out;
  for (size_t i = 0; i < axes; ++i) {
    DimId size = dims.Binary('+', shape[2 + i], constant(2 * *padding - *dilation * (*k - 1) - 1));
    if (2 * *padding - *dilation * (*k - 1) - 1 < 0)
      size = dims.Binary('-', shape[2 + i], constant(*dilation * (*k - 1) + 1 - 2 * *padding));
    out.push_back(dims.Binary('+', dims.Binary('/', size, constant(*stride)), constant(1)));
  }
  std::vector<size_t> out_at, window_at;
  for (size_t i = 0; i + 1 < axes; ++i) {
    out_at.push_back(space.size());
    space.push_back(out[i]);
  }
  Meaning windows;
  windows.kind = Meaning::Kind::kSequence;
  for (size_t i = 0; i < axes; ++i) {
    window_at.push_back(space.size());
    windows.items.push_back(Meaning::Number(static_cast<double>(space.size())));
    space.push_back(constant(*k));
  }
  out_at.push_back(space.size());
  space.push_back(out[axes - 1]);
  std::vector<Id> indices = {Position(space, 0), Position(space, 1)};
  std::optional<Meaning> inside;
  for (size_t i = 0; i < axes; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(
        Id at, Integer("imul", Position(space, out_at[i]), p_->Size(constant(*stride))));
    DAVINCI_ASSIGN_OR_RETURN(const Id step, Integer("imul", Position(space, window_at[i]),
                                                    p_->Size(constant(*dilation))));
    DAVINCI_ASSIGN_OR_RETURN(at, Integer("iadd", at, step));
    if (*padding > 0) {
      DAVINCI_ASSIGN_OR_RETURN(at, Integer("isub", at, p_->Size(constant(*padding))));
      DAVINCI_ASSIGN_OR_RETURN(
          const Meaning low,
          Point("ge", {Meaning::Tensor(at), Meaning::Tensor(p_->Size(constant(0)))}));
      DAVINCI_ASSIGN_OR_RETURN(
          const Meaning high,
          Point("lt", {Meaning::Tensor(at), Meaning::Tensor(p_->Size(shape[2 + i]))}));
      DAVINCI_ASSIGN_OR_RETURN(const Meaning both, Point("and", {low, high}));
      if (inside) {
        DAVINCI_ASSIGN_OR_RETURN(*inside, Point("and", {*inside, both}));
      } else {
        inside = both;
      }
      // Outside of the tensor the nearest element is read, and not used.
      DAVINCI_ASSIGN_OR_RETURN(at, Integer("imax", at, p_->Size(constant(0))));
      DAVINCI_ASSIGN_OR_RETURN(
          at, Integer("imin", at, p_->Size(dims.Binary('-', shape[2 + i], constant(1)))));
    }
    indices.push_back(at);
  }
  DAVINCI_ASSIGN_OR_RETURN(Meaning element, Load(x, indices));
  if (inside) {
    const double neutral = max ? -std::numeric_limits<double>::infinity() : 0.0;
    DAVINCI_ASSIGN_OR_RETURN(element, Point("where", {*inside, element, Meaning::Number(neutral)}));
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning pooled, Reduce(max ? ReduceKind::kMax : ReduceKind::kSum,
                                                        element.id, windows, false));
  if (max) return pooled;
  return Binary("*", pooled, Meaning::Number(std::pow(*k, -static_cast<double>(axes))));
}

// Windows from floor(i * size / count) to ceil((i + 1) * size / count).
Result<Meaning> Evaluator::AdaptivePool(Id x, const std::string& name, const Meaning& size) {
  const size_t axes = SpatialAxes(name);
  const auto shape = (*p_)[x].shape;
  const auto count = WholeNumber(size);
  if (axes == 0 || shape.size() != axes + 2 || !count || *count < 1) return Unknown(name);
  const bool max = name.find("max") != std::string::npos;
  const ReduceKind kind = max ? ReduceKind::kMax : ReduceKind::kSum;
  if (*count == 1) {
    Meaning spatial;
    spatial.kind = Meaning::Kind::kSequence;
    for (size_t i = 0; i < axes; ++i)
      spatial.items.push_back(Meaning::Number(static_cast<double>(2 + i)));
    return max ? Reduce(kind, x, spatial, true) : Mean(x, spatial, true);
  }
  // Where all windows are alike it is a reduction of a reshaped tensor.
  auto& dims = p_->graph.dims;
  const DimId parts = dims.Constant(*count);
  std::vector<DimId> split = {shape[0], shape[1]};
  Meaning inner;
  inner.kind = Meaning::Kind::kSequence;
  for (size_t i = 0; i < axes; ++i) {
    const DimId window = dims.Binary('/', shape[2 + i], parts);
    if (window == synth::kNoDim || !p_->Same(dims.Binary('*', window, parts), shape[2 + i]) ||
        p_->IsOne(window))
      return UnevenPool(x, axes, *count, max);
    split.push_back(parts);
    inner.items.push_back(Meaning::Number(static_cast<double>(split.size())));
    split.push_back(window);
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning parted, Reshape(x, split));
  return max ? Reduce(kind, parted.id, inner, false) : Mean(parted.id, inner, false);
}

Result<Meaning> Evaluator::Slice(Id x, size_t axis, DimId from, DimId size) {
  auto space = (*p_)[x].shape;
  space[axis] = size;
  std::vector<Id> indices;
  for (size_t i = 0; i < space.size(); ++i) indices.push_back(Position(space, i));
  DAVINCI_ASSIGN_OR_RETURN(indices[axis], Integer("iadd", indices[axis], p_->Size(from)));
  return Load(x, indices);
}

// x[:, …, index]: the index' axes take the place of `axis`.
Result<Meaning> Evaluator::Select(Id x, size_t axis, Id index) {
  const auto shape = (*p_)[x].shape;
  const auto picked = (*p_)[index].shape;
  if ((*p_)[index].dtype != DType::kIndex || (*p_)[index].kind == TensorValue::Kind::kPoint)
    return Unknown("an index that is computed");
  std::vector<DimId> space(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  space.insert(space.end(), picked.begin(), picked.end());
  space.insert(space.end(), shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end());
  std::vector<Id> indices;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == axis) {
      DAVINCI_ASSIGN_OR_RETURN(const Id lifted, AlongAxis(index, axis, space.size()));
      indices.push_back(lifted);
      continue;
    }
    indices.push_back(Position(space, i < axis ? i : i + picked.size() - 1));
  }
  return Load(x, indices);
}

Result<std::optional<Meaning>> Evaluator::Part(Id x, const PythonExpression& subscript,
                                               const Names& names) {
  using EKind = PythonExpression::Kind;
  const auto shape = (*p_)[x].shape;
  auto& dims = p_->graph.dims;
  const auto is_dots = [](const PythonExpression& item) { return item.text == "..."; };
  size_t given = 0;
  bool dots = false, any = false;
  for (size_t i = 1; i < subscript.parts.size(); ++i) {
    const auto& item = subscript.parts[i];
    dots = dots || is_dots(item);
    given += !is_dots(item);
    any = any || item.kind == EKind::kNumber || item.kind == EKind::kUnary ||
          (item.kind == EKind::kSlice &&
           (item.parts[0].kind != EKind::kNone || item.parts[1].kind != EKind::kNone));
    if (item.kind == EKind::kName && item.text == "None") return std::optional<Meaning>();
    if (item.kind == EKind::kSlice && item.parts[2].kind != EKind::kNone)
      return std::optional<Meaning>();
  }
  if (!any || given > shape.size()) return std::optional<Meaning>();
  // A bound, counted from the end where it is negative.
  const auto bound = [&](const PythonExpression& text, DimId size,
                         DimId otherwise) -> Result<DimId> {
    if (text.kind == EKind::kNone) return otherwise;
    DAVINCI_ASSIGN_OR_RETURN(const Meaning value, Evaluate(text, names));
    if (value.dim != synth::kNoDim) return value.dim;
    if (!value.number) return Unknown("a slice");
    const auto number = static_cast<int64_t>(*value.number);
    return number < 0 ? dims.Binary('-', size, dims.Constant(-number)) : dims.Constant(number);
  };
  std::vector<DimId> space, kept;
  std::vector<std::pair<DimId, bool>> from;  // and whether the axis goes away
  size_t axis = 0;
  const auto whole = [&] {
    space.push_back(shape[axis]);
    from.emplace_back(dims.Constant(0), false);
    kept.push_back(shape[axis++]);
  };
  for (size_t i = 1; i < subscript.parts.size(); ++i) {
    const auto& item = subscript.parts[i];
    if (is_dots(item)) {
      while (axis + (given - (i - 1)) < shape.size()) whole();
      continue;
    }
    if (item.kind == EKind::kSlice) {
      DAVINCI_ASSIGN_OR_RETURN(const DimId begin,
                               bound(item.parts[0], shape[axis], dims.Constant(0)));
      DAVINCI_ASSIGN_OR_RETURN(const DimId end, bound(item.parts[1], shape[axis], shape[axis]));
      if (dims.At(begin, synth::Binding::kCuda) < 0 ||
          dims.At(end, synth::Binding::kCuda) > dims.At(shape[axis], synth::Binding::kCuda))
        return Unknown("a slice beyond the axis");
      space.push_back(dims.Binary('-', end, begin));
      from.emplace_back(begin, false);
      kept.push_back(space.back());
    } else {
      DAVINCI_ASSIGN_OR_RETURN(const DimId at, bound(item, shape[axis], synth::kNoDim));
      space.push_back(dims.Constant(1));
      from.emplace_back(at, true);
    }
    ++axis;
  }
  while (axis < shape.size()) whole();
  std::vector<Id> indices;
  size_t out = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (from[i].second) {
      indices.push_back(p_->Size(from[i].first));
      continue;
    }
    DAVINCI_ASSIGN_OR_RETURN(const Id at,
                             Integer("iadd", Position(kept, out++), p_->Size(from[i].first)));
    indices.push_back(at);
  }
  if (kept.empty()) return Unknown("one element");
  // PyTorch makes a view of it; kernels read through it.
  std::string text = "{0}";
  for (size_t i = shape.size(); i-- > 0;) {
    if (from[i].second)
      text += fmt::format(".select({}, {})", i, p_->SizeText(from[i].first));
    else if (!p_->Same(space[i], shape[i]))
      text += fmt::format(".narrow({}, {}, {})", i, p_->SizeText(from[i].first),
                          p_->SizeText(space[i]));
  }
  return std::optional<Meaning>(ReadAs(View(x, text, kept), Load(x, indices)));
}

Result<Meaning> Evaluator::Concatenated(const Meanings& parts, const Meaning& dim) {
  if (parts.size() < 2) return Unknown("cat of one tensor");
  auto space = (*p_)[parts[0].id].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, Axes(dim, space.size()));
  if (axes.size() != 1) return Unknown("cat along several axes");
  const auto axis = static_cast<size_t>(axes[0]);
  auto& dims = p_->graph.dims;
  std::vector<DimId> ends;
  for (const Meaning& part : parts) {
    if (part.kind != Meaning::Kind::kTensor) return Unknown("cat of such");
    const auto& own = (*p_)[part.id].shape;
    if (own.size() != space.size() || (*p_)[part.id].dtype != DType::kFloat)
      return Unknown("cat of such");
    ends.push_back(ends.empty() ? own[axis] : dims.Binary('+', ends.back(), own[axis]));
  }
  space[axis] = ends.back();
  const Id position = Position(space, axis);
  Meaning result;
  for (size_t k = parts.size(); k-- > 0;) {
    std::vector<Id> indices;
    for (size_t i = 0; i < space.size(); ++i) indices.push_back(Position(space, i));
    Id at = position;
    if (k > 0) {
      DAVINCI_ASSIGN_OR_RETURN(at, Integer("isub", at, p_->Size(ends[k - 1])));
      DAVINCI_ASSIGN_OR_RETURN(at, Integer("imax", at, p_->Size(dims.Constant(0))));
    }
    if (k + 1 < parts.size()) {
      const DimId last = dims.Binary('-', (*p_)[parts[k].id].shape[axis], dims.Constant(1));
      DAVINCI_ASSIGN_OR_RETURN(at, Integer("imin", at, p_->Size(last)));
    }
    indices[axis] = at;
    DAVINCI_ASSIGN_OR_RETURN(const Meaning own, Load(parts[k].id, indices));
    if (k + 1 == parts.size()) {
      result = own;
      continue;
    }
    DAVINCI_ASSIGN_OR_RETURN(
        const Meaning before,
        Point("lt", {Meaning::Tensor(position), Meaning::Tensor(p_->Size(ends[k]))}));
    DAVINCI_ASSIGN_OR_RETURN(result, Point("where", {before, own, result}));
  }
  return result;
}

// `sizes`: before and behind the last axis, then the one before it, and so on.
Result<Meaning> Evaluator::Padded(Id x, const Meanings& sizes, const Meaning& value) {
  const auto shape = (*p_)[x].shape;
  auto& dims = p_->graph.dims;
  auto space = shape;
  std::vector<int64_t> before(shape.size());
  for (size_t i = 0; i < sizes.size(); i += 2) {
    const size_t axis = shape.size() - 1 - i / 2;
    const auto left = WholeNumber(sizes[i]), right = WholeNumber(sizes[i + 1]);
    if (!left || !right || *left < 0 || *right < 0) return Unknown("padding that cuts");
    before[axis] = *left;
    space[axis] = dims.Binary('+', shape[axis], dims.Constant(*left + *right));
  }
  std::vector<Id> indices;
  std::optional<Meaning> inside;
  for (size_t i = 0; i < shape.size(); ++i) {
    indices.push_back(Position(space, i));
    if (p_->Same(space[i], shape[i])) continue;
    DAVINCI_ASSIGN_OR_RETURN(const Id at,
                             Integer("isub", indices[i], p_->Size(dims.Constant(before[i]))));
    DAVINCI_ASSIGN_OR_RETURN(
        const Meaning low,
        Point("ge", {Meaning::Tensor(at), Meaning::Tensor(p_->Size(dims.Constant(0)))}));
    DAVINCI_ASSIGN_OR_RETURN(
        const Meaning high,
        Point("lt", {Meaning::Tensor(at), Meaning::Tensor(p_->Size(shape[i]))}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning both, Point("and", {low, high}));
    if (inside) {
      DAVINCI_ASSIGN_OR_RETURN(*inside, Point("and", {*inside, both}));
    } else {
      inside = both;
    }
    DAVINCI_ASSIGN_OR_RETURN(const Id least, Integer("imax", at, p_->Size(dims.Constant(0))));
    DAVINCI_ASSIGN_OR_RETURN(
        indices[i], Integer("imin", least, p_->Size(dims.Binary('-', shape[i], dims.Constant(1)))));
  }
  if (!inside) return Unknown("padding of nothing");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, Load(x, indices));
  return Point("where", {*inside, element, value});
}

Meaning Evaluator::ReadAs(const Meaning& view, const Result<Meaning>& load) {
  if (load.ok()) p_->read_as[view.id] = load->id;
  return view;
}

Id Evaluator::Readable(Id id) const {
  const auto found = p_->read_as.find(id);
  return found == p_->read_as.end() ? id : found->second;
}

std::optional<Result<Meaning>> Evaluator::Indexed(const std::string& name,
                                                  const Meanings& arguments, Keywords& keywords) {
  const auto argument = [&](size_t at, const char* keyword) -> Meaning {
    if (at < arguments.size()) return arguments[at];
    if (const auto found = keywords.find(keyword); found != keywords.end()) return found->second;
    return {};
  };
  const Id x = arguments[0].id;
  const auto shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const auto one_axis = [&](const Meaning& dim) -> std::optional<size_t> {
    auto axes = Axes(dim, rank);
    if (!axes.ok() || axes->size() != 1) return std::nullopt;
    return static_cast<size_t>((*axes)[0]);
  };
  if (name.starts_with("max_pool") || name.starts_with("avg_pool"))
    return Pool(x, name, arguments, keywords);
  if (name.starts_with("adaptive_avg_pool") || name.starts_with("adaptive_max_pool"))
    return AdaptivePool(x, name, argument(1, "output_size"));
  if (name == "embedding") {  // F.embedding(ids, table)
    const Meaning table = argument(1, "weight");
    if (table.kind != Meaning::Kind::kTensor || (*p_)[table.id].shape.size() != 2)
      return Result<Meaning>(Unknown(name));
    return Select(table.id, 0, x);
  }
  if (name == "index_select") {
    const auto axis = one_axis(argument(1, "dim"));
    const Meaning index = argument(2, "index");
    if (!axis || index.kind != Meaning::Kind::kTensor || (*p_)[index.id].shape.size() != 1)
      return Result<Meaning>(Unknown(name));
    return Select(x, *axis, index.id);
  }
  if (name == "take" && rank == 1) {
    const Meaning index = argument(1, "index");
    if (index.kind != Meaning::Kind::kTensor) return Result<Meaning>(Unknown(name));
    return Select(x, 0, index.id);
  }
  if (name == "gather") {
    const auto axis = one_axis(argument(1, "dim"));
    const Meaning index = argument(2, "index");
    if (!axis || index.kind != Meaning::Kind::kTensor) return Result<Meaning>(Unknown(name));
    const auto space = (*p_)[index.id].shape;
    if (space.size() != rank || (*p_)[index.id].kind != TensorValue::Kind::kLeaf)
      return Result<Meaning>(Unknown(name));
    std::vector<Id> indices;
    for (size_t i = 0; i < rank; ++i) indices.push_back(Position(space, i));
    indices[*axis] = index.id;
    return Load(x, indices);
  }
  if (name == "flip") {
    const Meaning dim = argument(1, "dims");
    auto axes = Axes(dim, rank);
    if (!axes.ok()) return Result<Meaning>(axes.status());
    std::vector<Id> indices;
    for (size_t i = 0; i < rank; ++i) indices.push_back(Position(shape, i));
    for (const int axis : *axes) {
      const auto at = static_cast<size_t>(axis);
      auto turned = Integer(
          "isub", p_->Size(p_->graph.dims.Binary('-', shape[at], p_->graph.dims.Constant(1))),
          indices[at]);
      if (!turned.ok()) return Result<Meaning>(turned.status());
      indices[at] = *turned;
    }
    return Load(x, indices);
  }
  if (name == "pad") {
    const Meaning sizes = argument(1, "pad");
    const Meaning mode = argument(2, "mode"), value = argument(3, "value");
    if (sizes.kind != Meaning::Kind::kSequence || sizes.items.size() % 2 != 0 ||
        sizes.items.size() > 2 * rank || (*p_)[x].dtype != DType::kFloat ||
        (mode.kind != Meaning::Kind::kNone && mode.text != "constant"))
      return Result<Meaning>(Unknown(name));
    return Padded(x, sizes.items, value.kind == Meaning::Kind::kNone ? Meaning::Number(0) : value);
  }
  if (name == "interpolate") {
    const Meaning factor = argument(2, "scale_factor");
    const Meaning mode = argument(3, "mode");
    const auto scale = WholeNumber(factor);
    if (!scale || *scale < 2 || static_cast<double>(*scale) != factor.number.value_or(0) ||
        rank < 3 || (mode.kind != Meaning::Kind::kNone && mode.text != "nearest"))
      return Result<Meaning>(Unknown(name));
    auto space = shape;
    for (size_t i = 2; i < rank; ++i)
      space[i] = p_->graph.dims.Binary('*', shape[i], p_->graph.dims.Constant(*scale));
    std::vector<Id> indices;
    for (size_t i = 0; i < rank; ++i) {
      indices.push_back(Position(space, i));
      if (i < 2) continue;
      auto own = Integer("idiv", indices[i], p_->Size(p_->graph.dims.Constant(*scale)));
      if (!own.ok()) return Result<Meaning>(own.status());
      indices[i] = *own;
    }
    return Load(x, indices);
  }
  return std::nullopt;
}

}  // namespace davinci::teacher
