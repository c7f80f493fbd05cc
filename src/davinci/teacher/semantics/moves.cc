// Elements that change place: repetition, rolling, reversal, diagonals, classes as columns.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"

namespace davinci::teacher {
namespace {

// Each element `count` times side by side (`interleave`), or the whole `count` times.
Result<Meaning> Repeated(Builder& b, Id x, size_t axis, int64_t count, bool interleave) {
  auto space = b.p[x].shape;
  if (axis >= space.size() || count < 1) return Unknown("such a repetition");
  const DimId own = space[axis];
  space[axis] = b.p.graph.dims.Binary('*', own, b.p.graph.dims.Constant(count));
  std::vector<Id> at = b.Positions(space);
  DAVINCI_ASSIGN_OR_RETURN(
      at[axis], interleave ? b.IntegerBy("idiv", at[axis], count)
                           : b.Integer("imod", at[axis], SizeOfAxis(b, b.p[x].shape, axis)));
  return b.Load(x, at);
}

// The axis that is given and is one.
std::optional<size_t> GivenAxis(const Call& call, size_t at, const char* keyword) {
  const Meaning dim = call.Argument(at, keyword);
  return dim.IsNone() ? std::nullopt : call.OneAxis(dim);
}

Result<Meaning> RepeatInterleave(const Call& call) {
  const auto count = Integral(call.Argument(1, "repeats"));
  const auto axis = GivenAxis(call, 2, "dim");
  return count && axis ? Repeated(call.b, call.x(), *axis, *count, true) : call.NotKnown();
}

// Along one axis alone.
Result<Meaning> Tile(const Call& call) {
  const Meanings counts = Spread(call.arguments, 1);
  if (counts.size() != call.Rank()) return call.NotKnown();
  std::optional<Result<Meaning>> result;
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto count = Integral(counts[i]);
    if (!count || (*count != 1 && result)) return call.NotKnown();
    if (*count != 1) result = Repeated(call.b, call.x(), i, *count, false);
  }
  return result ? std::move(*result) : call.NotKnown();
}

// By one shift along one axis, or by as many shifts as axes.
Result<Meaning> Roll(const Call& call) {
  Builder& b = call.b;
  const auto shape = call.Shape();
  const Meanings shifts = Spread({call.Argument(1, "shifts")}, 0);
  const Meanings dims = Spread({call.Argument(2, "dims")}, 0);
  if (shifts.empty() || shifts.size() != dims.size()) return call.NotKnown();
  std::vector<Id> at = b.Positions(shape);
  for (size_t i = 0; i < shifts.size(); ++i) {
    const auto shift = Integral(shifts[i]);
    const auto axis = dims[i].IsNone() ? std::nullopt : call.OneAxis(dims[i]);
    if (!shift || !axis) return call.NotKnown();
    const DimId back = *shift < 0 ? b.Constant(-*shift)
                                  : b.p.graph.dims.Binary('-', shape[*axis], b.Constant(*shift));
    DAVINCI_ASSIGN_OR_RETURN(const Id moved, b.Integer("iadd", at[*axis], b.p.Size(back)));
    DAVINCI_ASSIGN_OR_RETURN(at[*axis], b.Integer("imod", moved, SizeOfAxis(b, shape, *axis)));
  }
  return b.Load(call.x(), at);
}

Result<Meaning> Flip(const Call& call) {
  Builder& b = call.b;
  const auto shape = call.Shape();
  DAVINCI_ASSIGN_OR_RETURN(const auto axes, Builder::Axes(call.Argument(1, "dims"), shape.size()));
  std::vector<Id> indices = b.Positions(shape);
  for (const int axis : axes) {
    const auto at = static_cast<size_t>(axis);
    DAVINCI_ASSIGN_OR_RETURN(const Id last, LastOfAxis(b, shape, at));
    DAVINCI_ASSIGN_OR_RETURN(indices[at], b.Integer("isub", last, indices[at]));
  }
  return b.Load(call.x(), indices);
}

bool OfSquare(const Call& call) {
  const auto shape = call.Shape();
  return shape.size() == 2 && call.b.p.Same(shape[0], shape[1]);
}

bool HasOptions(const Call& call) { return call.arguments.size() != 1 || !call.keywords.empty(); }

Result<Meaning> Diagonal(const Call& call) {
  if (!OfSquare(call) || HasOptions(call)) return call.NotKnown();
  const Id at = call.b.Position({call.Shape()[0]}, 0);
  return call.b.Load(call.x(), {at, at});
}

Result<Meaning> Trace(const Call& call) {
  if (!OfSquare(call)) return call.NotKnown();
  const Id at = call.b.Position({call.Shape()[0]}, 0);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning diagonal, call.b.Load(call.x(), {at, at}));
  return Reduce(call.b, ReduceKind::kSum, diagonal.id, {}, false);
}

Result<Meaning> DiagonalMatrix(const Call& call) {
  Builder& b = call.b;
  const size_t rank = call.Rank();
  if (rank < 1 || HasOptions(call)) return call.NotKnown();
  auto space = call.Shape();
  space.push_back(space.back());
  std::vector<Id> at;
  for (size_t i = 0; i < rank; ++i) at.push_back(b.Position(space, i));
  DAVINCI_ASSIGN_OR_RETURN(
      const Meaning same,
      b.Point("eq", {Meaning::Tensor(at.back()), Meaning::Tensor(b.Position(space, rank))}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, b.Load(call.x(), at));
  return b.Point("where", {same, element, Meaning::Number(0)});
}

Result<Meaning> DiagonalOrMatrix(const Call& call) {
  if (call.Rank() > 2) return call.NotKnown();
  return call.Rank() == 2 ? Diagonal(call) : DiagonalMatrix(call);
}

Result<Meaning> OneHot(const Call& call) {
  Builder& b = call.b;
  const Meaning classes = call.Argument(1, "num_classes");
  const size_t rank = call.Rank();
  auto space = call.Shape();
  auto wide = space;
  wide.push_back(b.Constant(1));
  if (classes.dim != synth::kNoDim)
    space.push_back(classes.dim);
  else if (const auto number = Integral(classes))
    space.push_back(b.Constant(*number));
  else
    return call.NotKnown();
  DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, b.Reshape(call.x(), wide));
  return b.Point("eq", {Meaning::Tensor(b.Position(space, rank)), lifted});
}

}  // namespace

void AddMoves(FunctionRegistry* registry) {
  registry->Add({"repeat_interleave"}, RepeatInterleave);
  registry->Add({"tile", "repeat"}, Tile);
  registry->Add({"roll"}, Roll);
  registry->Add({"flip"}, Flip);
  registry->Add({"diagonal"}, Diagonal);
  registry->Add({"diag"}, DiagonalOrMatrix);
  registry->Add({"diag_embed"}, DiagonalMatrix);
  registry->Add({"trace"}, Trace);
  registry->Add({"one_hot"}, OneHot);
}

}  // namespace davinci::teacher
