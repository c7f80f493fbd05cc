// unfold: square windows of an image as columns.
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

// Square windows as columns: N, C * k * k, number of windows.
Result<Meaning> Unfolded(Builder& b, Id x, int64_t kernel, int64_t stride, int64_t padding) {
  const auto shape = b.p[x].shape;
  if (shape.size() != 4 || kernel < 1 || stride < 1 || padding < 0) return Unknown("unfold");
  auto& dims = b.p.graph.dims;
  const auto windows = [&](DimId size) {
    const int64_t more = 2 * padding - kernel;
    const DimId inner = more < 0 ? dims.Binary('-', size, dims.Constant(-more))
                                 : dims.Binary('+', size, dims.Constant(more));
    return dims.Binary('+', dims.Binary('/', inner, dims.Constant(stride)), dims.Constant(1));
  };
  const DimId across = windows(shape[3]);
  const std::vector<DimId> space = {shape[0],
                                    dims.Binary('*', shape[1], dims.Constant(kernel * kernel)),
                                    dims.Binary('*', windows(shape[2]), across)};
  const Id channel = b.Position(space, 1), window = b.Position(space, 2);
  std::vector<Id> at = {b.Position(space, 0)};
  DAVINCI_ASSIGN_OR_RETURN(at.emplace_back(), b.IntegerBy("idiv", channel, kernel * kernel));
  DAVINCI_ASSIGN_OR_RETURN(const Id tap, b.IntegerBy("imod", channel, kernel * kernel));
  std::optional<Meaning> inside;
  for (const bool vertical : {true, false}) {
    DAVINCI_ASSIGN_OR_RETURN(const Id step, b.IntegerBy(vertical ? "idiv" : "imod", tap, kernel));
    DAVINCI_ASSIGN_OR_RETURN(Id place,
                             b.Integer(vertical ? "idiv" : "imod", window, b.p.Size(across)));
    DAVINCI_ASSIGN_OR_RETURN(place, b.IntegerBy("imul", place, stride));
    DAVINCI_ASSIGN_OR_RETURN(place, b.Integer("iadd", place, step));
    if (padding > 0) {
      DAVINCI_ASSIGN_OR_RETURN(place, b.IntegerBy("isub", place, padding));
      DAVINCI_ASSIGN_OR_RETURN(place, Clamped(b, place, shape, vertical ? 2 : 3, &inside));
    }
    at.push_back(place);
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, b.Load(x, at));
  if (!inside) return element;
  return b.Point("where", {*inside, element, Meaning::Number(0)});
}

Result<Meaning> Unfold(const Call& call) {
  if (call.Rank() != 4) return call.NotKnown();
  const auto kernel = Integral(call.Argument(1, "kernel_size"));
  const Meaning stride = call.Argument(4, "stride"), padding = call.Argument(3, "padding");
  const auto step = stride.IsNone() ? 1 : Integral(stride);
  const auto border = padding.IsNone() ? 0 : Integral(padding);
  const Meaning dilation = call.Argument(2, "dilation");
  if (!kernel || !step || !border || (!dilation.IsNone() && Integral(dilation) != 1))
    return call.NotKnown();
  return Unfolded(call.b, call.x(), *kernel, *step, *border);
}

Result<Meaning> UnfoldModule(const ModuleCall& call) { return Unfold(call.As("unfold")); }

}  // namespace

void AddPatches(FunctionRegistry* registry) {
  registry->Add({"unfold"}, Unfold);
  registry->AddModules({"nn.Unfold"}, UnfoldModule);
}

}  // namespace davinci::teacher
