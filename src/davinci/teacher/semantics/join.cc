// Tensors side by side: cat and stack read each element from one of them.
#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {
namespace {

Result<Meaning> Concatenated(Builder& b, const Meanings& parts, const Meaning& dim) {
  if (parts.size() < 2) return Unknown("cat of one tensor");
  if (!parts[0].IsTensor()) return Unknown("cat of such");
  auto space = b.p[parts[0].id].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, b.Axes(dim, space.size()));
  if (axes.size() != 1) return Unknown("cat along several axes");
  const auto axis = static_cast<size_t>(axes[0]);
  auto& dims = b.p.graph.dims;
  std::vector<DimId> ends;
  for (const Meaning& part : parts) {
    if (part.kind != Meaning::Kind::kTensor) return Unknown("cat of such");
    const auto& own = b.p[part.id].shape;
    if (own.size() != space.size() || b.p[part.id].dtype != DType::kFloat)
      return Unknown("cat of such");
    ends.push_back(ends.empty() ? own[axis] : dims.Binary('+', ends.back(), own[axis]));
  }
  space[axis] = ends.back();
  const Id position = b.Position(space, axis);
  Meaning result;
  for (size_t k = parts.size(); k-- > 0;) {
    std::vector<Id> indices = b.Positions(space);
    Id at = position;
    if (k > 0) {
      DAVINCI_ASSIGN_OR_RETURN(at, b.Integer("isub", at, b.p.Size(ends[k - 1])));
      DAVINCI_ASSIGN_OR_RETURN(at, b.Integer("imax", at, b.p.Size(dims.Constant(0))));
    }
    if (k + 1 < parts.size()) {
      const DimId last = dims.Binary('-', b.p[parts[k].id].shape[axis], dims.Constant(1));
      DAVINCI_ASSIGN_OR_RETURN(at, b.Integer("imin", at, b.p.Size(last)));
    }
    indices[axis] = at;
    DAVINCI_ASSIGN_OR_RETURN(const Meaning own, b.Load(parts[k].id, indices));
    if (k + 1 == parts.size()) {
      result = own;
      continue;
    }
    DAVINCI_ASSIGN_OR_RETURN(
        const Meaning before,
        b.Point("lt", {Meaning::Tensor(position), Meaning::Tensor(b.p.Size(ends[k]))}));
    DAVINCI_ASSIGN_OR_RETURN(result, b.Point("where", {before, own, result}));
  }
  return result;
}

Result<Meaning> Stacked(Builder& b, const Meanings& parts, const Meaning& dim) {
  if (parts.empty()) return Unknown("stack of nothing");
  for (const Meaning& part : parts) {
    if (part.kind != Meaning::Kind::kTensor || b.p[part.id].dtype != DType::kFloat ||
        b.p[part.id].shape.size() != b.p[parts[0].id].shape.size())
      return Unknown("stack of such");
  }
  auto space = b.p[parts[0].id].shape;
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, b.Axes(dim, space.size() + 1));
  if (axes.size() != 1 || space.empty()) return Unknown("stack along several axes");
  const auto axis = static_cast<size_t>(axes[0]);
  space.insert(space.begin() + static_cast<std::ptrdiff_t>(axis),
               b.p.graph.dims.Constant(static_cast<int64_t>(parts.size())));
  const Id position = b.Position(space, axis);
  Meaning result;
  for (size_t k = parts.size(); k-- > 0;) {
    // Read in place, broadcast along the new axis.
    auto wide = b.p[parts[k].id].shape;
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(axis), b.Constant(1));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning own, b.Reshape(parts[k].id, wide));
    if (k + 1 == parts.size()) {
      result = own;
      continue;
    }
    const DimId next = b.p.graph.dims.Constant(static_cast<int64_t>(k) + 1);
    DAVINCI_ASSIGN_OR_RETURN(
        const Meaning before,
        b.Point("lt", {Meaning::Tensor(position), Meaning::Tensor(b.p.Size(next))}));
    DAVINCI_ASSIGN_OR_RETURN(result, b.Point("where", {before, own, result}));
  }
  return result;
}

Result<Meaning> Join(const Call& call) {
  if (call.arguments.empty() || !call.arguments[0].IsSequence()) return call.NotKnown();
  Meaning dim = call.Argument(1, "dim");
  if (dim.IsNone()) dim = Meaning::Number(0);
  return (call.name == "stack" ? Stacked : Concatenated)(call.b, call.arguments[0].items, dim);
}

// hstack and vstack of tensors with two or more axes.
Result<Meaning> JoinByName(const Call& call) {
  if (call.arguments.size() != 1 || !call.arguments[0].IsSequence()) return call.NotKnown();
  const Meanings& parts = call.arguments[0].items;
  for (const Meaning& part : parts)
    if (!part.IsTensor() || call.b.p[part.id].shape.size() < 2) return call.NotKnown();
  return Concatenated(call.b, parts, Meaning::Number(call.name == "hstack" ? 1 : 0));
}

}  // namespace

void AddJoins(FunctionRegistry* registry) {
  registry->AddFree({"cat", "concat", "stack"}, Join);
  registry->AddFree({"hstack", "vstack"}, JoinByName);
}

}  // namespace davinci::teacher
