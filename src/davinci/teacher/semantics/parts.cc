// Writes into a part of a tensor: each element is read from what is written, or from the tensor.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

// slice(begin, end, step) of Python.
Result<Meaning> SliceOf(const Call& call) {
  if (!call.b.options.in_cpp || call.arguments.size() != 3) return call.NotKnown();
  Meaning slice = Meaning::Sequence(call.arguments);
  slice.text = call.name;
  return slice;
}

struct Part {
  DimId begin = synth::kNoDim, size = synth::kNoDim;  // kNoDim: the whole axis
};

// A bound of a slice, counted from the end where it is negative.
Result<DimId> Bound(Builder& b, const Meaning& given, DimId size, DimId otherwise) {
  if (given.IsNone()) return otherwise;
  if (given.kind != Meaning::Kind::kNumber || !given.number) return Unknown("a slice");
  const auto number = static_cast<int64_t>(*given.number);
  return number < 0 ? b.p.graph.dims.Binary('-', size, b.Constant(-number)) : b.Constant(number);
}

Result<Part> PartOf(Builder& b, const Meaning& item, DimId size) {
  if (!item.IsSequence() || item.text != "slice" || !item.items[2].IsNone())
    return Unknown("a write to other elements than those of slices");
  if (item.items[0].IsNone() && item.items[1].IsNone()) return Part{};
  auto& dims = b.p.graph.dims;
  const DimId zero = b.Constant(0);
  DAVINCI_ASSIGN_OR_RETURN(const DimId begin, Bound(b, item.items[0], size, zero));
  DAVINCI_ASSIGN_OR_RETURN(const DimId end, Bound(b, item.items[1], size, size));
  const DimId length = dims.Binary('-', end, begin);
  if (!dims.IsConstant(size) || dims.At(begin, b.options.binding) < 0 ||
      dims.At(end, b.options.binding) > dims.At(size, b.options.binding) ||
      dims.At(length, b.options.binding) < 1)
    return Unknown("a slice beyond the axis");
  return Part{begin, length};
}

// The axes' parts; behind the items, and in the place of "...", whole axes.
Result<std::vector<Part>> PartsOf(Builder& b, const Meaning& index,
                                  const std::vector<DimId>& shape) {
  const Meanings items =
      index.IsSequence() && index.text != "slice" ? index.items : Meanings{index};
  if (items.size() > shape.size()) return Unknown("a slice");
  std::vector<Part> parts;
  for (size_t i = 0; i < items.size(); ++i) {
    if (Says(items[i], "...")) {
      parts.resize(shape.size() - (items.size() - 1 - i));
    } else {
      if (parts.size() == shape.size()) return Unknown("a slice");
      DAVINCI_ASSIGN_OR_RETURN(parts.emplace_back(), PartOf(b, items[i], shape[parts.size()]));
    }
  }
  parts.resize(shape.size());
  return parts;
}

// changed_part(x, index, value): x after x[index] = value.
Result<Meaning> ChangedPart(const Call& call) {
  Builder& b = call.b;
  if (!b.options.in_cpp || call.arguments.size() != 3) return call.NotKnown();
  const Meaning &x = call.arguments[0], &value = call.arguments[2];
  const bool full = x.kind == Meaning::Kind::kNumber && !x.filled.empty() && !x.boolean;
  const bool number = value.kind == Meaning::Kind::kNumber && value.number && value.filled.empty();
  const auto is_float = [&](const Meaning& tensor) {
    return tensor.IsTensor() && b.p[tensor.id].dtype == DType::kFloat;
  };
  if ((!full && !is_float(x)) || (!is_float(value) && (!number || full))) return call.NotKnown();
  const std::vector<DimId> space = full ? x.filled : b.p[x.id].shape;
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<Part> parts, PartsOf(b, call.arguments[1], space));
  std::vector<Id> indices = b.Positions(space);
  std::vector<DimId> part_space = space;
  std::optional<Meaning> inside;
  for (size_t i = 0; i < space.size(); ++i) {
    if (parts[i].size == synth::kNoDim || b.p.Same(parts[i].size, space[i])) continue;
    part_space[i] = parts[i].size;
    DAVINCI_ASSIGN_OR_RETURN(const Id at, b.Integer("isub", indices[i], b.p.Size(parts[i].begin)));
    DAVINCI_ASSIGN_OR_RETURN(indices[i], Clamped(b, at, part_space, i, &inside));
  }
  if (!inside) return Unknown("a write to all elements");
  Meaning written = value;
  if (!number) {
    const std::vector<DimId> own = b.p[value.id].shape;
    if (own.size() > space.size() || own.empty()) return Unknown("a value of more axes");
    const size_t first = space.size() - own.size();
    std::vector<Id> places(indices.begin() + static_cast<std::ptrdiff_t>(first), indices.end());
    for (size_t i = 0; i < own.size(); ++i) {
      if (b.p.Same(own[i], part_space[first + i])) continue;
      if (!b.p.IsOne(own[i])) return Unknown("a value of another shape");
      places[i] = b.p.Size(b.Constant(0));
    }
    DAVINCI_ASSIGN_OR_RETURN(written, b.Load(value.id, places));
  }
  const Meaning rest = full ? Meaning::Number(x.number.value_or(0)) : x;
  if (full && !x.number) return call.NotKnown();
  return b.Point("where", {*inside, written, rest});
}

}  // namespace

void AddParts(FunctionRegistry* registry) {
  registry->AddFree({"slice"}, SliceOf);
  registry->AddFree({"changed_part"}, ChangedPart);
}

}  // namespace davinci::teacher
