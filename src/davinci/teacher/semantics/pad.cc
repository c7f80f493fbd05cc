// Padding: with a constant, or with elements of the tensor itself.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

// The padded shape, and how much lies before each axis. `sizes`: before and behind the last axis,
// then the one before it, and so on.
struct Border {
  std::vector<DimId> space;
  std::vector<int64_t> before;
};
Result<Border> BorderOf(Builder& b, const std::vector<DimId>& shape, const Meanings& sizes) {
  if (sizes.size() > 2 * shape.size()) return Unknown("padding of other axes");
  Border border{shape, std::vector<int64_t>(shape.size())};
  for (size_t i = 0; i + 1 < sizes.size(); i += 2) {
    const size_t axis = shape.size() - 1 - i / 2;
    const auto left = WholeNumber(sizes[i]), right = WholeNumber(sizes[i + 1]);
    if (!left || !right || *left < 0 || *right < 0) return Unknown("padding that cuts");
    border.before[axis] = *left;
    border.space[axis] = b.p.graph.dims.Binary('+', shape[axis], b.Constant(*left + *right));
  }
  return border;
}

Result<Meaning> Padded(Builder& b, Id x, const Meanings& sizes, const Meaning& value) {
  const auto shape = b.p[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(const Border border, BorderOf(b, shape, sizes));
  std::vector<Id> indices;
  std::optional<Meaning> inside;
  for (size_t i = 0; i < shape.size(); ++i) {
    indices.push_back(b.Position(border.space, i));
    if (b.p.Same(border.space[i], shape[i])) continue;
    DAVINCI_ASSIGN_OR_RETURN(const Id at, b.IntegerBy("isub", indices[i], border.before[i]));
    DAVINCI_ASSIGN_OR_RETURN(indices[i], Clamped(b, at, shape, i, &inside));
  }
  if (!inside) return Unknown("padding of nothing");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, b.Load(x, indices));
  return b.Point("where", {*inside, element, value});
}

// A reflection leaves out the border itself.
Result<Meaning> Reflected(Builder& b, Id x, const Meanings& sizes, bool replicate) {
  const auto shape = b.p[x].shape;
  DAVINCI_ASSIGN_OR_RETURN(const Border border, BorderOf(b, shape, sizes));
  std::vector<Id> at;
  for (size_t i = 0; i < shape.size(); ++i) {
    at.push_back(b.Position(border.space, i));
    if (b.p.Same(border.space[i], shape[i])) continue;
    DAVINCI_ASSIGN_OR_RETURN(const Id last, LastOfAxis(b, shape, i));
    const Id left = b.p.Size(b.Constant(border.before[i]));
    if (replicate) {
      DAVINCI_ASSIGN_OR_RETURN(const Id place, b.Integer("isub", at[i], left));
      DAVINCI_ASSIGN_OR_RETURN(const Id least, b.IntegerBy("imax", place, 0));
      DAVINCI_ASSIGN_OR_RETURN(at[i], b.Integer("imin", least, last));
      continue;
    }
    // |i - left| in front, and last - |last - that| behind.
    DAVINCI_ASSIGN_OR_RETURN(const Id ahead, b.Integer("isub", at[i], left));
    DAVINCI_ASSIGN_OR_RETURN(const Id behind, b.Integer("isub", left, at[i]));
    DAVINCI_ASSIGN_OR_RETURN(const Id front, b.Integer("imax", ahead, behind));
    DAVINCI_ASSIGN_OR_RETURN(const Id below, b.Integer("isub", last, front));
    DAVINCI_ASSIGN_OR_RETURN(const Id above, b.Integer("isub", front, last));
    DAVINCI_ASSIGN_OR_RETURN(const Id far, b.Integer("imax", below, above));
    DAVINCI_ASSIGN_OR_RETURN(at[i], b.Integer("isub", last, far));
  }
  return b.Load(x, at);
}

Result<Meaning> Pad(const Call& call) {
  const Meaning sizes = call.Argument(1, "pad"), mode = call.Argument(2, "mode");
  const bool replicate = Says(mode, "replicate");
  if (!sizes.IsSequence()) return call.NotKnown();
  if (replicate || Says(mode, "reflect"))
    return Reflected(call.b, call.x(), sizes.items, replicate);
  const Meaning value = call.Argument(3, "value");
  if (sizes.items.size() % 2 != 0 || sizes.items.size() > 2 * call.Rank() ||
      call.b.p[call.x()].dtype != DType::kFloat || (!mode.IsNone() && mode.text != "constant"))
    return call.NotKnown();
  return Padded(call.b, call.x(), sizes.items, value.IsNone() ? Meaning::Number(0) : value);
}

// Pads both sides of all axes behind the first two alike.
Result<Meaning> PadModule(const ModuleCall& call) {
  const size_t rank = call.Shape().size();
  if (call.arguments.size() != 1 || !call.arguments[0].number || rank <= 2) return call.NotKnown();
  const Meanings sizes(2 * (rank - 2), call.arguments[0]);
  if (call.name.starts_with("nn.ZeroPad"))
    return Padded(call.b, call.x(), sizes, Meaning::Number(0));
  return Reflected(call.b, call.x(), sizes, call.name.starts_with("nn.Repl"));
}

}  // namespace

void AddPadding(FunctionRegistry* registry) {
  registry->Add({"pad"}, Pad);
  registry->AddModules({"nn.ReflectionPad1d", "nn.ReflectionPad2d", "nn.ReflectionPad3d",
                        "nn.ReplicationPad1d", "nn.ReplicationPad2d", "nn.ReplicationPad3d",
                        "nn.ZeroPad1d", "nn.ZeroPad2d", "nn.ZeroPad3d"},
                       PadModule);
}

}  // namespace davinci::teacher
