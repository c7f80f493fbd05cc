// What PyTorch functions mean that resample: adaptive windows of uneven sizes, interpolation to a
// size or by a factor, sampling at the places of a grid.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {

// Window i reaches from floor(i * size / count) to ceil((i + 1) * size / count); an axis of the
// longest window's length runs over each, masked behind its end.
Result<Meaning> Evaluator::UnevenPool(Id x, size_t axes, int64_t count, bool max) {
  const auto shape = (*p_)[x].shape;
  auto& dims = p_->graph.dims;
  const DimId parts = dims.Constant(count);
  std::vector<DimId> space = {shape[0], shape[1]};
  Meaning windows;
  windows.kind = Meaning::Kind::kSequence;
  for (size_t i = 0; i < axes; ++i) space.push_back(parts);
  const std::vector<DimId> outputs = space;
  for (size_t i = 0; i < axes; ++i) {
    windows.items.push_back(Meaning::Number(static_cast<double>(space.size())));
    space.push_back(dims.Binary('+', dims.Binary('/', shape[2 + i], parts), dims.Constant(2)));
  }
  std::vector<Id> at = {Position(space, 0), Position(space, 1)};
  std::optional<Meaning> inside;
  using Bounds = std::pair<Id, Id>;
  const auto bounds = [&](const std::vector<DimId>& of, size_t i) -> Result<Bounds> {
    const Id part = Position(of, 2 + i), size = p_->Size(shape[2 + i]);
    DAVINCI_ASSIGN_OR_RETURN(Id begin, Integer("imul", part, size));
    DAVINCI_ASSIGN_OR_RETURN(const Id last, Integer("iadd", begin, size));
    DAVINCI_ASSIGN_OR_RETURN(begin, IntegerBy("idiv", begin, count));
    DAVINCI_ASSIGN_OR_RETURN(Id end, IntegerBy("iadd", last, count - 1));
    DAVINCI_ASSIGN_OR_RETURN(end, IntegerBy("idiv", end, count));
    return Bounds(begin, end);
  };
  for (size_t i = 0; i < axes; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const Bounds window, bounds(space, i));
    const auto [begin, end] = window;
    DAVINCI_ASSIGN_OR_RETURN(const Id place, Integer("iadd", begin, Position(space, 2 + axes + i)));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning within,
                             Point("lt", {Meaning::Tensor(place), Meaning::Tensor(end)}));
    if (inside) {
      DAVINCI_ASSIGN_OR_RETURN(*inside, Point("and", {*inside, within}));
    } else {
      inside = within;
    }
    // Behind the end the last element is read, and not used.
    const DimId furthest = dims.Binary('-', shape[2 + i], dims.Constant(1));
    DAVINCI_ASSIGN_OR_RETURN(at.emplace_back(), Integer("imin", place, p_->Size(furthest)));
  }
  DAVINCI_ASSIGN_OR_RETURN(Meaning element, Load(x, at));
  if (max) {
    const Meaning least = Meaning::Number(-std::numeric_limits<double>::infinity());
    DAVINCI_ASSIGN_OR_RETURN(element, Point("where", {*inside, element, least}));
    return Reduce(ReduceKind::kMax, element.id, windows, false);
  }
  DAVINCI_ASSIGN_OR_RETURN(element, Point("where", {*inside, element, Meaning::Number(0)}));
  DAVINCI_ASSIGN_OR_RETURN(Meaning mean, Reduce(ReduceKind::kSum, element.id, windows, false));
  for (size_t i = 0; i < axes; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const Bounds window, bounds(outputs, i));
    DAVINCI_ASSIGN_OR_RETURN(const Id length, Integer("isub", window.second, window.first));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, Point("position", {Meaning::Tensor(length)}));
    DAVINCI_ASSIGN_OR_RETURN(mean, Point("div", {mean, wide}));
  }
  return mean;
}

Result<Evaluator::Taps> Evaluator::TapsOf(const std::string& mode, bool align_corners, DimId in,
                                          DimId out, const Meaning& scale, Id position) {
  auto& dims = p_->graph.dims;
  const Id last = p_->Size(dims.Binary('-', in, dims.Constant(1)));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning step, Point("position", {Meaning::Tensor(position)}));
  const auto real = [&](Id index) { return Point("position", {Meaning::Tensor(index)}); };
  const auto clamped = [&](Id index) -> Result<Id> {
    DAVINCI_ASSIGN_OR_RETURN(const Id least, IntegerBy("imax", index, 0));
    return Integer("imin", least, last);
  };
  Taps taps;
  if (mode == "nearest") {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning place, Point("mul", {step, scale}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Point("trunc_index", {place}));
    DAVINCI_ASSIGN_OR_RETURN(taps.at.emplace_back(), Integer("imin", index.id, last));
    return taps;
  }
  Meaning place;
  if (align_corners) {
    if (p_->IsOne(out)) return Unknown("corners of one element");
    DAVINCI_ASSIGN_OR_RETURN(const Meaning ratio,
                             Binary("/", Size(dims.Binary('-', in, dims.Constant(1))),
                                    Size(dims.Binary('-', out, dims.Constant(1)))));
    DAVINCI_ASSIGN_OR_RETURN(place, Point("mul", {step, ratio}));
  } else {
    DAVINCI_ASSIGN_OR_RETURN(place, Point("add", {step, Meaning::Number(0.5)}));
    DAVINCI_ASSIGN_OR_RETURN(place, Point("mul", {place, scale}));
    DAVINCI_ASSIGN_OR_RETURN(place, Point("sub", {place, Meaning::Number(0.5)}));
  }
  const Meaning one = Meaning::Number(1);
  if (mode == "linear") {
    if (!align_corners) {
      DAVINCI_ASSIGN_OR_RETURN(place, Point("clamp_low", {place, Meaning::Number(0)}));
    }
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Point("trunc_index", {place}));
    DAVINCI_ASSIGN_OR_RETURN(const Id low, Integer("imin", index.id, last));
    DAVINCI_ASSIGN_OR_RETURN(const Id next, IntegerBy("iadd", low, 1));
    DAVINCI_ASSIGN_OR_RETURN(const Id high, Integer("imin", next, last));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning whole, real(low));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning rest, Point("sub", {place, whole}));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning other, Point("sub", {one, rest}));
    taps.at = {low, high};
    taps.weights = {other, rest};
    return taps;
  }
  if (mode != "cubic") return Unknown("interpolation of this kind");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning floor, Point("floor", {place}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning index, Point("trunc_index", {floor}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning t, Point("sub", {place, floor}));
  // Keys' kernel with a = -0.75.
  const auto weight = [&](const char* definition, const Meaning& distance) {
    return Apply(definition, {distance}, {});
  };
  DAVINCI_ASSIGN_OR_RETURN(const Meaning before, Point("add", {t, one}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning behind, Point("sub", {one, t}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning far, Point("add", {behind, one}));
  for (const auto& [name, distance] : {std::pair<const char*, Meaning>{"cubic_far", before},
                                       {"cubic_near", t},
                                       {"cubic_near", behind},
                                       {"cubic_far", far}}) {
    DAVINCI_ASSIGN_OR_RETURN(taps.weights.emplace_back(), weight(name, distance));
  }
  for (const int64_t offset : {-1, 0, 1, 2}) {
    DAVINCI_ASSIGN_OR_RETURN(const Id moved, offset < 0 ? IntegerBy("isub", index.id, 1)
                                                        : IntegerBy("iadd", index.id, offset));
    DAVINCI_ASSIGN_OR_RETURN(taps.at.emplace_back(), clamped(moved));
  }
  return taps;
}

std::optional<Result<Meaning>> Evaluator::Resampled(const NativeCall& call) {
  const Id x = call.arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const auto unknown = [&] { return Result<Meaning>(Unknown(call.name)); };
  if (call.name != "interpolate" || rank < 3) return std::nullopt;
  if ((*p_)[x].dtype != DType::kFloat) return unknown();
  const Meaning size = call.Argument(1, "size"), factor = call.Argument(2, "scale_factor");
  const Meaning mode = call.Argument(3, "mode"), corners = call.Argument(4, "align_corners");
  std::string kind = mode.kind == Meaning::Kind::kNone ? "nearest" : mode.text;
  const bool by_size = size.kind != Meaning::Kind::kNone;
  if (kind == "nearest" && !by_size) return std::nullopt;  // without a product: Indexed()
  if (kind == "bilinear" || kind == "trilinear") kind = "linear";
  if (kind == "bicubic") kind = "cubic";
  auto& dims = p_->graph.dims;
  auto space = shape;
  std::vector<Meaning> scales;
  for (size_t i = 2; i < rank; ++i) {
    if (by_size) {
      const Meaning own = size.kind != Meaning::Kind::kSequence ? size
                          : size.items.size() == rank - 2       ? size.items[i - 2]
                                                                : Meaning{};
      if (!own.number && own.dim == synth::kNoDim) return unknown();
      space[i] =
          own.dim != synth::kNoDim ? own.dim : dims.Constant(static_cast<int64_t>(*own.number));
      auto ratio = Binary("/", Size(shape[i]), Size(space[i]));
      if (!ratio.ok()) return ratio;
      scales.push_back(*ratio);
    } else {
      if (!factor.number || *factor.number < 1) return unknown();
      const auto whole = static_cast<int64_t>(*factor.number);
      if (static_cast<double>(whole) != *factor.number) return unknown();
      space[i] = dims.Binary('*', shape[i], dims.Constant(whole));
      scales.push_back(Meaning::Number(1.0 / *factor.number));
    }
  }
  std::vector<Taps> taps;
  for (size_t i = 2; i < rank; ++i) {
    auto own = TapsOf(kind, IsTrue(corners), shape[i], space[i], scales[i - 2], Position(space, i));
    if (!own.ok()) return Result<Meaning>(own.status());
    taps.push_back(*own);
  }
  std::vector<Id> at = {Position(space, 0), Position(space, 1)};
  at.resize(rank);
  const std::function<Result<Meaning>(size_t)> sum = [&](size_t axis) -> Result<Meaning> {
    if (axis == rank) return Load(x, at);
    const Taps& own = taps[axis - 2];
    std::optional<Meaning> total;
    for (size_t k = 0; k < own.at.size(); ++k) {
      at[axis] = own.at[k];
      DAVINCI_ASSIGN_OR_RETURN(Meaning part, sum(axis + 1));
      if (!own.weights.empty()) {
        DAVINCI_ASSIGN_OR_RETURN(part, Point("mul", {own.weights[k], part}));
      }
      if (total) {
        DAVINCI_ASSIGN_OR_RETURN(part, Point("add", {*total, part}));
      }
      total = part;
    }
    return *total;
  };
  return sum(2);
}

}  // namespace davinci::teacher
