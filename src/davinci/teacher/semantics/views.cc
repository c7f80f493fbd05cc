// Views and other shapes of the same elements.
#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

Result<Meaning> Itself(const Call& call) { return call.arguments[0]; }

Result<Meaning> SizeOf(const Call& call) {
  const auto axis = call.OneAxis(call.Argument(1, "dim"));
  if (!axis) return Unknown("size");
  return call.b.Size(call.Shape()[*axis]);
}

Result<Meaning> Unsqueeze(const Call& call) {
  const Meaning dim = call.Argument(1, "dim");
  if (!dim.number) return call.NotKnown();
  auto wide = call.Shape();
  const int rank = static_cast<int>(wide.size());
  int axis = static_cast<int>(*dim.number);
  if (axis < 0) axis += rank + 1;
  if (axis < 0 || axis > rank) return call.NotKnown();
  wide.insert(wide.begin() + axis, call.b.Constant(1));
  return call.b.Reshape(call.x(), wide);
}

Result<Meaning> Squeeze(const Call& call) {
  const auto axis = call.OneAxis(call.Argument(1, "dim"));
  auto narrow = call.Shape();
  if (!axis || !call.b.p.IsOne(narrow[*axis])) return call.NotKnown();
  narrow.erase(narrow.begin() + static_cast<std::ptrdiff_t>(*axis));
  return call.b.Reshape(call.x(), narrow);
}

Result<Meaning> Flatten(const Call& call) {
  const auto shape = call.Shape();
  const int rank = static_cast<int>(shape.size());
  const Meaning begin = call.Argument(1, "start_dim"), end = call.Argument(2, "end_dim");
  int from = begin.number ? static_cast<int>(*begin.number) : 0;
  int to = end.number ? static_cast<int>(*end.number) : -1;
  if (from < 0) from += rank;
  if (to < 0) to += rank;
  if (from > to || to >= rank) return call.NotKnown();
  std::vector<DimId> flat(shape.begin(), shape.begin() + from);
  flat.push_back(call.b.p.Product({shape.begin() + from, shape.begin() + to + 1}));
  flat.insert(flat.end(), shape.begin() + to + 1, shape.end());
  return call.b.Reshape(call.x(), flat);
}

Result<Meaning> Viewed(const Call& call) {
  Builder& b = call.b;
  const auto shape = call.Shape();
  std::vector<DimId> to;
  int open = -1;
  for (const Meaning& size : Spread(call.arguments, 1)) {
    if (size.dim != synth::kNoDim) {
      to.push_back(size.dim);
    } else if (size.number && *size.number == -1 && open < 0) {
      open = static_cast<int>(to.size());
      to.push_back(b.Constant(1));
    } else if (size.number) {
      to.push_back(b.Constant(static_cast<int64_t>(*size.number)));
    } else {
      return call.NotKnown();
    }
  }
  if (open >= 0) {
    const DimId rest = b.p.graph.dims.Binary('/', b.p.Product(shape), b.p.Product(to));
    if (rest == synth::kNoDim) return call.NotKnown();
    to[static_cast<size_t>(open)] = rest;
  }
  if (!b.p.Same(b.p.Product(shape), b.p.Product(to))) return call.NotKnown();
  return b.Reshape(call.x(), to);
}

// Pointwise kernels read the one element of an axis that is expanded.
Result<Meaning> Expanded(const Call& call) {
  Builder& b = call.b;
  const auto shape = call.Shape();
  std::vector<DimId> to;
  if (call.name == "expand_as") {
    const Meaning like = call.Argument(1, "other");
    if (!like.IsTensor()) return call.NotKnown();
    to = b.p[like.id].shape;
  } else {
    const Meanings sizes = Spread(call.arguments, 1);
    const size_t before = sizes.size() - std::min(sizes.size(), shape.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      const Meaning& size = sizes[i];
      const bool same = size.number && *size.number == -1;
      if (same && i < before) return call.NotKnown();
      if (!same && size.dim == synth::kNoDim && !size.number) return call.NotKnown();
      to.push_back(same                        ? shape[i - before]
                   : size.dim != synth::kNoDim ? size.dim
                                               : b.Constant(static_cast<int64_t>(*size.number)));
    }
  }
  if (to.size() < shape.size()) return call.NotKnown();
  const size_t before = to.size() - shape.size();
  std::vector<std::string> sizes;
  for (size_t i = 0; i < to.size(); ++i) {
    const bool kept = i >= before && b.p.Same(to[i], shape[i - before]);
    if (i >= before && !kept && !b.p.IsOne(shape[i - before])) return call.NotKnown();
    sizes.push_back(kept ? "-1" : b.p.SizeText(to[i]));
  }
  const Meaning view =
      b.View(call.x(), fmt::format("{{0}}.expand({})", fmt::join(sizes, ", ")), to);
  b.p.expanded[view.id] = call.x();
  return view;
}

Result<Meaning> Transposed(const Call& call) {
  const auto first = call.OneAxis(call.Argument(1, "dim0"));
  const auto second = call.OneAxis(call.Argument(2, "dim1"));
  auto swapped = call.Shape();
  if (swapped.size() < 2 || !first || !second) return call.NotKnown();
  std::swap(swapped[*first], swapped[*second]);
  const auto [low, high] = std::minmax(*first, *second);
  return call.b.View(call.x(), fmt::format("{{0}}.transpose({}, {})", low, high), swapped);
}

Result<Meaning> MatrixTransposed(const Call& call) {
  const auto shape = call.Shape();
  if (shape.size() != 2) return call.NotKnown();
  return call.b.View(call.x(), "{0}.t()", {shape[1], shape[0]});
}

Result<Meaning> Permuted(const Call& call) {
  const auto shape = call.Shape();
  const Meanings order = Spread(call.arguments, 1);
  if (order.size() != shape.size()) return call.NotKnown();
  std::vector<DimId> to;
  std::vector<int> axes;
  for (const Meaning& axis : order) {
    DAVINCI_ASSIGN_OR_RETURN(const auto one, Builder::Axes(axis, shape.size()));
    axes.push_back(one[0]);
    to.push_back(shape[static_cast<size_t>(one[0])]);
  }
  return call.b.View(call.x(), fmt::format("{{0}}.permute({})", fmt::join(axes, ", ")), to);
}

// half_first and half_second are names of the tables alone.
Result<Meaning> Half(const Call& call) {
  Builder& b = call.b;
  const auto axis = call.OneAxis(call.Argument(1, "dim"));
  if (!axis) return call.NotKnown();
  const bool first = call.name == "half_first";
  auto half = call.Shape();
  const DimId size = b.p.graph.dims.Binary('/', half[*axis], b.Constant(2));
  half[*axis] = size;
  const Meaning view =
      b.View(call.x(), fmt::format("{{0}}.chunk(2, dim={})[{}]", *axis, first ? 0 : 1), half);
  return b.ReadAs(view, Slice(b, call.x(), *axis, first ? b.Constant(0) : size, size));
}

Result<Meaning> Chunks(const Call& call) {
  Builder& b = call.b;
  const Meaning count = call.Argument(1, "chunks");
  const auto axis = call.OneAxis(call.Argument(2, "dim"));
  if (!count.number || !axis) return call.NotKnown();
  auto part = call.Shape();
  DimId& size = part[*axis];
  size = b.p.graph.dims.Binary('/', size, b.Constant(static_cast<int64_t>(*count.number)));
  Meaning all = Meaning::Sequence({});
  for (int k = 0; k < static_cast<int>(*count.number); ++k) {
    const Meaning view =
        b.View(call.x(), fmt::format("{{0}}.chunk({}, dim={})[{}]", *count.number, *axis, k), part);
    const DimId from = b.p.graph.dims.Binary('*', size, b.Constant(k));
    all.items.push_back(b.ReadAs(view, Slice(b, call.x(), *axis, from, size)));
  }
  return all;
}

}  // namespace

void AddViews(FunctionRegistry* registry) {
  registry->Add({"contiguous", "clone", "detach"}, Itself);
  registry->Add({"size", "dim"}, SizeOf);
  registry->Add({"unsqueeze"}, Unsqueeze);
  registry->Add({"squeeze"}, Squeeze);
  registry->Add({"flatten"}, Flatten);
  registry->Add({"expand", "expand_as"}, Expanded);
  registry->Add({"view", "reshape"}, Viewed);
  registry->Add({"t"}, MatrixTransposed);
  registry->Add({"transpose"}, Transposed);
  registry->Add({"permute"}, Permuted);
  registry->Add({"half_first", "half_second"}, Half);
  registry->Add({"chunk"}, Chunks);
}

}  // namespace davinci::teacher
