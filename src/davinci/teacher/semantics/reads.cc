// Elements at places that an index names: gather, embeddings, rows.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"
#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

// The table of embeddings; nothing: it is no matrix.
std::optional<Id> TableOf(const Program& p, const Meaning& table) {
  return table.IsTensor() && p[table.id].shape.size() == 2 ? std::optional<Id>(table.id)
                                                           : std::nullopt;
}

// F.embedding(ids, table)
Result<Meaning> Embedding(const Call& call) {
  const auto table = TableOf(call.b.p, call.Argument(1, "weight"));
  return table ? Select(call.b, *table, 0, call.x()) : call.NotKnown();
}

Result<Meaning> EmbeddingBag(const Call& call) {
  Builder& b = call.b;
  const auto table = TableOf(b.p, call.Argument(1, "weight"));
  const Meaning mode = call.Argument(6, "mode");
  if (!table || call.Rank() != 2) return call.NotKnown();
  DAVINCI_ASSIGN_OR_RETURN(const Meaning rows, Select(b, *table, 0, call.x()));
  const Meaning along = Meaning::Number(1);
  if (Says(mode, "max")) return Reduce(b, ReduceKind::kMax, rows.id, along, false);
  if (Says(mode, "sum")) return Reduce(b, ReduceKind::kSum, rows.id, along, false);
  return Mean(b, rows.id, along, false);
}

Result<Meaning> EmbeddingModule(const ModuleCall& call) {
  const Meanings& sizes = call.arguments;
  if (sizes.size() != 2 || sizes[0].dim == synth::kNoDim || sizes[1].dim == synth::kNoDim)
    return call.NotKnown();
  const Meaning table = call.Weight("weight", {sizes[0].dim, sizes[1].dim});
  if (call.name == "nn.Embedding") return Select(call.b, table.id, 0, call.x());
  return EmbeddingBag(
      {call.b, call.defined, "embedding_bag", {call.inputs[0], table}, call.keywords});
}

Result<Meaning> IndexSelect(const Call& call) {
  const auto axis = call.OneAxis(call.Argument(1, "dim"));
  const Meaning index = call.Argument(2, "index");
  if (!axis || !index.IsTensor() || call.b.p[index.id].shape.size() != 1) return call.NotKnown();
  return Select(call.b, call.x(), *axis, index.id);
}

Result<Meaning> Take(const Call& call) {
  const Meaning index = call.Argument(1, "index");
  if (call.Rank() != 1 || !index.IsTensor()) return call.NotKnown();
  return Select(call.b, call.x(), 0, index.id);
}

// x at `index` along the axis, and at the index' own position along the others, whose sizes are
// those of `space`.
Result<Meaning> LoadAlong(Builder& b, Id x, size_t axis, Id index,
                          const std::vector<DimId>& space) {
  std::vector<Id> at = b.Positions(space);
  at[axis] = index;
  return b.Load(x, at);
}

Result<Meaning> Gather(const Call& call) {
  Builder& b = call.b;
  const auto axis = call.OneAxis(call.Argument(1, "dim"));
  const Meaning index = call.Argument(2, "index");
  if (!axis || !index.IsTensor()) return call.NotKnown();
  const auto shape = call.Shape();
  const auto to = b.p[index.id].shape;
  // One element of each row: a selection and a sum, which fuse with what reads the row.
  bool rows = to.size() == shape.size() && b.p.IsOne(to[*axis]);
  for (size_t i = 0; rows && i < shape.size(); ++i) rows = i == *axis || b.p.Same(to[i], shape[i]);
  if (rows) return PickClass(b, call.x(), index.id, *axis, true);
  if (to.size() != shape.size() || b.p[index.id].kind != TensorValue::Kind::kLeaf)
    return call.NotKnown();
  return LoadAlong(b, call.x(), *axis, index.id, to);
}

Result<Meaning> TakeAlongDim(const Call& call) {
  const Program& p = call.b.p;
  const Meaning index = call.Argument(1, "indices"), dim = call.Argument(2, "dim");
  auto space = call.Shape();
  const auto axis = dim.IsNone() ? std::nullopt : call.OneAxis(dim);
  if (!axis || !index.IsTensor() || p[index.id].shape.size() != space.size() ||
      p[index.id].kind != TensorValue::Kind::kLeaf)
    return call.NotKnown();
  space[*axis] = p[index.id].shape[*axis];
  return LoadAlong(call.b, call.x(), *axis, index.id, space);
}

}  // namespace

void AddReads(FunctionRegistry* registry) {
  registry->Add({"embedding"}, Embedding);
  registry->Add({"embedding_bag"}, EmbeddingBag);
  registry->Add({"index_select"}, IndexSelect);
  registry->Add({"take"}, Take);
  registry->Add({"gather"}, Gather);
  registry->Add({"take_along_dim"}, TakeAlongDim);
  registry->AddModules({"nn.Embedding", "nn.EmbeddingBag"}, EmbeddingModule);
}

}  // namespace davinci::teacher
