#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

// Element i of an index, moved to `axis` among `rank`: for the other axes it has size 1.
Result<Id> AlongAxis(Builder& b, Id index, size_t axis, size_t rank) {
  const auto own = b.p[index].shape;
  std::vector<DimId> wide(rank, b.p.graph.dims.Constant(1));
  for (size_t i = 0; i < own.size(); ++i) wide[axis + i] = own[i];
  while (wide.size() > own.size() && b.p.IsOne(wide.front()) && axis > 0) {
    wide.erase(wide.begin());
    --axis;
  }
  if (wide.size() == own.size()) return index;
  DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, b.Reshape(index, wide));
  return lifted.id;
}

}  // namespace

Result<Meaning> Slice(Builder& b, Id x, size_t axis, DimId from, DimId size) {
  auto space = b.p[x].shape;
  space[axis] = size;
  std::vector<Id> indices = b.Positions(space);
  DAVINCI_ASSIGN_OR_RETURN(indices[axis], b.Integer("iadd", indices[axis], b.p.Size(from)));
  return b.Load(x, indices);
}

Result<Meaning> Select(Builder& b, Id x, size_t axis, Id index) {
  const auto shape = b.p[x].shape;
  const auto picked = b.p[index].shape;
  if (b.p[index].dtype != DType::kIndex || b.p[index].kind == TensorValue::Kind::kPoint)
    return Unknown("an index that is computed");
  std::vector<DimId> space(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  space.insert(space.end(), picked.begin(), picked.end());
  space.insert(space.end(), shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape.end());
  std::vector<Id> indices;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == axis) {
      DAVINCI_ASSIGN_OR_RETURN(const Id lifted, AlongAxis(b, index, axis, space.size()));
      indices.push_back(lifted);
      continue;
    }
    indices.push_back(b.Position(space, i < axis ? i : i + picked.size() - 1));
  }
  return b.Load(x, indices);
}

Status Narrow(Builder& b, const Meaning& more, std::optional<Meaning>* inside) {
  if (!*inside) {
    *inside = more;
    return Status::Ok();
  }
  DAVINCI_ASSIGN_OR_RETURN(**inside, b.Point("and", {**inside, more}));
  return Status::Ok();
}

Result<Id> Clamped(Builder& b, Id index, const std::vector<DimId>& shape, size_t axis,
                   std::optional<Meaning>* inside) {
  const Meaning at = Meaning::Tensor(index);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning low,
                           b.Point("ge", {at, Meaning::Tensor(b.p.Size(b.Constant(0)))}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning high,
                           b.Point("lt", {at, Meaning::Tensor(SizeOfAxis(b, shape, axis))}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning both, b.Point("and", {low, high}));
  DAVINCI_RETURN_IF_ERROR(Narrow(b, both, inside));
  // Outside of the tensor the nearest element is read, and not used.
  DAVINCI_ASSIGN_OR_RETURN(const Id least, b.IntegerBy("imax", index, 0));
  DAVINCI_ASSIGN_OR_RETURN(const Id last, LastOfAxis(b, shape, axis));
  return b.Integer("imin", least, last);
}

}  // namespace davinci::teacher
