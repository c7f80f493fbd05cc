// Pooling: windows of one size, of all, or as even as a number of them allows.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"
#include "davinci/teacher/semantics/slice.h"
#include "davinci/teacher/semantics/windows.h"

namespace davinci::teacher {
namespace {

// "max_pool2d" -> 2
size_t SpatialAxes(const std::string& name) {
  return static_cast<size_t>(name[name.size() - 2] - '0');
}

struct PoolWindow {
  int64_t size = 0;
  WindowSteps steps;
  // How much a window reaches beyond its first element, less the padding.
  int64_t Reach() const { return steps.dilation * (size - 1) + 1 - 2 * steps.padding; }
};

Result<PoolWindow> WindowOf(const Call& call, bool max) {
  const auto number = [&](size_t at, const char* keyword, int64_t otherwise) {
    const Meaning value = call.Argument(at, keyword);
    return value.IsNone() ? std::optional<int64_t>(otherwise) : WholeNumber(value);
  };
  const auto size = number(1, "kernel_size", 0);
  if (!size || *size < 2) return call.NotKnown();
  const auto stride = number(2, "stride", *size), padding = number(3, "padding", 0);
  const auto dilation = max ? number(4, "dilation", 1) : std::optional<int64_t>(1);
  for (const auto& [keyword, value] : call.keywords)
    if (keyword != "kernel_size" && keyword != "stride" && keyword != "padding" &&
        !(max && (keyword == "dilation" || keyword == "ceil_mode")))
      return Unknown(call.name + " with " + keyword);
  if (!stride || !padding || !dilation) return call.NotKnown();
  // Behind those: ceil_mode; count_include_pad and divisor_override, or return_indices.
  for (size_t at = max ? 5 : 4; at < call.arguments.size(); ++at) {
    const Meaning& more = call.arguments[at];
    const bool usual = !max && at == 5 ? IsTrue(more) : more.IsNone() || more.number == 0.0;
    if (!usual) return Unknown(fmt::format("{} with argument {}", call.name, at + 1));
  }
  return PoolWindow{*size,
                    {*stride, *padding, *dilation, max && IsTrue(call.Keyword("ceil_mode"))}};
}

WindowSpace SpaceOf(Builder& b, const std::vector<DimId>& shape, const PoolWindow& window) {
  auto& dims = b.p.graph.dims;
  const size_t axes = shape.size() - 2;
  std::vector<DimId> out;
  for (size_t i = 0; i < axes; ++i) {
    const int64_t reach = window.Reach() - (window.steps.ceil ? window.steps.stride - 1 : 0);
    const DimId size = reach > 0 ? dims.Binary('-', shape[2 + i], b.Constant(reach))
                                 : dims.Binary('+', shape[2 + i], b.Constant(-reach));
    out.push_back(
        dims.Binary('+', dims.Binary('/', size, b.Constant(window.steps.stride)), b.Constant(1)));
  }
  return SpaceOfWindows(shape[0], shape[1], out, std::vector<DimId>(axes, b.Constant(window.size)));
}

Result<Meaning> Pool(const Call& call) {
  Builder& b = call.b;
  const size_t axes = SpatialAxes(call.name);
  const auto shape = call.Shape();
  if (shape.size() != axes + 2) return call.NotKnown();
  const bool max = call.name.starts_with("max");
  DAVINCI_ASSIGN_OR_RETURN(const PoolWindow window, WindowOf(call, max));
  const WindowSpace in = SpaceOf(b, shape, window);
  std::vector<Id> indices = {b.Position(in.sizes, 0), b.Position(in.sizes, 1)};
  std::optional<Meaning> inside;
  for (size_t i = 0; i < axes; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(indices.emplace_back(),
                             PlaceInWindow(b, in, shape, i, window.steps, &inside));
  }
  DAVINCI_ASSIGN_OR_RETURN(Meaning element, b.Load(call.x(), indices));
  if (inside) {
    const double neutral = max ? -std::numeric_limits<double>::infinity() : 0.0;
    DAVINCI_ASSIGN_OR_RETURN(element,
                             b.Point("where", {*inside, element, Meaning::Number(neutral)}));
  }
  const Meaning windows = Meaning::Axes({in.window_at.begin(), in.window_at.end()});
  DAVINCI_ASSIGN_OR_RETURN(
      const Meaning pooled,
      Reduce(b, max ? ReduceKind::kMax : ReduceKind::kSum, element.id, windows, false));
  if (max) return pooled;
  const double share = std::pow(static_cast<double>(window.size), -static_cast<double>(axes));
  return b.Binary("*", pooled, Meaning::Number(share));
}

// Window i reaches from floor(i * size / count) to ceil((i + 1) * size / count); an axis of the
// longest window's length runs over each, masked behind its end.
Result<Meaning> UnevenPool(Builder& b, Id x, size_t axes, int64_t count, bool max) {
  const auto shape = b.p[x].shape;
  auto& dims = b.p.graph.dims;
  const DimId parts = dims.Constant(count);
  std::vector<DimId> space = {shape[0], shape[1]};
  Meaning windows = Meaning::Sequence({});
  for (size_t i = 0; i < axes; ++i) space.push_back(parts);
  const std::vector<DimId> outputs = space;
  for (size_t i = 0; i < axes; ++i) {
    windows.items.push_back(Meaning::Number(static_cast<double>(space.size())));
    space.push_back(dims.Binary('+', dims.Binary('/', shape[2 + i], parts), dims.Constant(2)));
  }
  std::vector<Id> at = {b.Position(space, 0), b.Position(space, 1)};
  std::optional<Meaning> inside;
  using Bounds = std::pair<Id, Id>;
  const auto bounds = [&](const std::vector<DimId>& of, size_t i) -> Result<Bounds> {
    const Id part = b.Position(of, 2 + i), size = SizeOfAxis(b, shape, 2 + i);
    DAVINCI_ASSIGN_OR_RETURN(Id begin, b.Integer("imul", part, size));
    DAVINCI_ASSIGN_OR_RETURN(const Id last, b.Integer("iadd", begin, size));
    DAVINCI_ASSIGN_OR_RETURN(begin, b.IntegerBy("idiv", begin, count));
    DAVINCI_ASSIGN_OR_RETURN(Id end, b.IntegerBy("iadd", last, count - 1));
    DAVINCI_ASSIGN_OR_RETURN(end, b.IntegerBy("idiv", end, count));
    return Bounds(begin, end);
  };
  for (size_t i = 0; i < axes; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const Bounds window, bounds(space, i));
    const auto [begin, end] = window;
    DAVINCI_ASSIGN_OR_RETURN(const Id place,
                             b.Integer("iadd", begin, b.Position(space, 2 + axes + i)));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning within,
                             b.Point("lt", {Meaning::Tensor(place), Meaning::Tensor(end)}));
    DAVINCI_RETURN_IF_ERROR(Narrow(b, within, &inside));
    // Behind the end the last element is read, and not used.
    DAVINCI_ASSIGN_OR_RETURN(const Id furthest, LastOfAxis(b, shape, 2 + i));
    DAVINCI_ASSIGN_OR_RETURN(at.emplace_back(), b.Integer("imin", place, furthest));
  }
  DAVINCI_ASSIGN_OR_RETURN(Meaning element, b.Load(x, at));
  if (max) {
    const Meaning least = Meaning::Number(-std::numeric_limits<double>::infinity());
    DAVINCI_ASSIGN_OR_RETURN(element, b.Point("where", {inside.value(), element, least}));
    return Reduce(b, ReduceKind::kMax, element.id, windows, false);
  }
  DAVINCI_ASSIGN_OR_RETURN(element,
                           b.Point("where", {inside.value(), element, Meaning::Number(0)}));
  DAVINCI_ASSIGN_OR_RETURN(Meaning mean, Reduce(b, ReduceKind::kSum, element.id, windows, false));
  for (size_t i = 0; i < axes; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const Bounds window, bounds(outputs, i));
    DAVINCI_ASSIGN_OR_RETURN(const Id length, b.Integer("isub", window.second, window.first));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, b.Point("position", {Meaning::Tensor(length)}));
    DAVINCI_ASSIGN_OR_RETURN(mean, b.Point("div", {mean, wide}));
  }
  return mean;
}

// Axes of which one window is as long as the axis, where the others keep their size: None, or the
// size itself. Nothing: other sizes.
std::optional<Meaning> WholeAxes(const Call& call, const Meaning& sizes) {
  const auto shape = call.Shape();
  if (!sizes.IsSequence() || sizes.items.size() + 2 != shape.size()) return std::nullopt;
  Meaning whole = Meaning::Sequence({});
  for (size_t i = 0; i < sizes.items.size(); ++i) {
    const Meaning& size = sizes.items[i];
    if (size.number == 1.0)
      whole.items.push_back(Meaning::Number(static_cast<double>(2 + i)));
    else if (!size.IsNone() &&
             !(size.number &&
               call.b.p.graph.dims.IsConstant(shape[2 + i], static_cast<int64_t>(*size.number))))
      return std::nullopt;
  }
  return whole.items.empty() ? std::nullopt : std::optional(whole);
}

// Windows from floor(i * size / count) to ceil((i + 1) * size / count).
Result<Meaning> AdaptivePool(const Call& call) {
  Builder& b = call.b;
  const size_t axes = SpatialAxes(call.name);
  const auto shape = call.Shape();
  const Meaning sizes = call.Argument(1, "output_size");
  const auto count = WholeNumber(sizes);
  if (shape.size() != axes + 2) return call.NotKnown();
  const bool max = call.name.find("max") != std::string::npos;
  const auto pooled = [&](Id x, const Meaning& along, bool keepdim) {
    return max ? Reduce(b, ReduceKind::kMax, x, along, keepdim) : Mean(b, x, along, keepdim);
  };
  if (const auto whole = WholeAxes(call, sizes); b.options.in_cpp && !count && whole)
    return pooled(call.x(), *whole, true);
  if (!count || *count < 1) return call.NotKnown();
  if (*count == 1) {
    Meaning spatial = Meaning::Sequence({});
    for (size_t i = 0; i < axes; ++i)
      spatial.items.push_back(Meaning::Number(static_cast<double>(2 + i)));
    return pooled(call.x(), spatial, true);
  }
  // Where all windows are alike it is a reduction of a reshaped tensor.
  auto& dims = b.p.graph.dims;
  const DimId parts = b.Constant(*count);
  std::vector<DimId> split = {shape[0], shape[1]};
  Meaning inner = Meaning::Sequence({});
  for (size_t i = 0; i < axes; ++i) {
    const DimId window = dims.Binary('/', shape[2 + i], parts);
    if (window == synth::kNoDim || !b.p.Same(dims.Binary('*', window, parts), shape[2 + i]) ||
        b.p.IsOne(window))
      return UnevenPool(b, call.x(), axes, *count, max);
    split.push_back(parts);
    inner.items.push_back(Meaning::Number(static_cast<double>(split.size())));
    split.push_back(window);
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning parted, b.Reshape(call.x(), split));
  return pooled(parted.id, inner, false);
}

// "nn.AdaptiveMaxPool2d" -> "adaptive_max_pool2d"
Result<Meaning> PoolModule(const ModuleCall& call) {
  const bool adaptive = call.name.starts_with("nn.Adaptive");
  const bool max = call.name.find("Max") != std::string::npos;
  const std::string function =
      fmt::format("{}{}_pool{}", adaptive ? "adaptive_" : "", max ? "max" : "avg",
                  call.name.substr(call.name.size() - 2));
  return adaptive ? AdaptivePool(call.As(function)) : Pool(call.As(function));
}

}  // namespace

void AddPools(FunctionRegistry* registry) {
  registry->Add(
      {"max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d"}, Pool);
  registry->Add({"adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d",
                 "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d"},
                AdaptivePool);
  registry->AddModules(
      {"nn.MaxPool1d", "nn.MaxPool2d", "nn.MaxPool3d", "nn.AvgPool1d", "nn.AvgPool2d",
       "nn.AvgPool3d", "nn.AdaptiveMaxPool1d", "nn.AdaptiveMaxPool2d", "nn.AdaptiveMaxPool3d",
       "nn.AdaptiveAvgPool1d", "nn.AdaptiveAvgPool2d", "nn.AdaptiveAvgPool3d"},
      PoolModule);
}

}  // namespace davinci::teacher
