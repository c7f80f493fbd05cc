// Blocks of channels as pixels and back, and channels of groups side by side.
#include "davinci/teacher/semantics/functions.h"

namespace davinci::teacher {
namespace {

// Blocks of `factor` x `factor` channels become pixels; `back`: the other way.
Result<Meaning> PixelShuffle(Builder& b, Id x, int64_t factor, bool back) {
  const auto shape = b.p[x].shape;
  if (shape.size() != 4 || factor < 2) return Unknown("such a shuffle");
  auto& dims = b.p.graph.dims;
  const DimId r = dims.Constant(factor), square = dims.Constant(factor * factor);
  const auto scaled = [&](DimId size, bool up, DimId by) {
    return dims.Binary(up ? '*' : '/', size, by);
  };
  const std::vector<DimId> space = {shape[0], scaled(shape[1], back, square),
                                    scaled(shape[2], !back, r), scaled(shape[3], !back, r)};
  std::vector<Id> at = b.Positions(space);
  if (back) {
    DAVINCI_ASSIGN_OR_RETURN(const Id part, b.IntegerBy("imod", at[1], factor * factor));
    DAVINCI_ASSIGN_OR_RETURN(at[1], b.IntegerBy("idiv", at[1], factor * factor));
    for (size_t i = 2; i < 4; ++i) {
      DAVINCI_ASSIGN_OR_RETURN(const Id first, b.IntegerBy("imul", at[i], factor));
      DAVINCI_ASSIGN_OR_RETURN(const Id step, b.IntegerBy(i == 2 ? "idiv" : "imod", part, factor));
      DAVINCI_ASSIGN_OR_RETURN(at[i], b.Integer("iadd", first, step));
    }
    return b.Load(x, at);
  }
  DAVINCI_ASSIGN_OR_RETURN(at[1], b.IntegerBy("imul", at[1], factor * factor));
  for (size_t i = 2; i < 4; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(Id step, b.IntegerBy("imod", at[i], factor));
    if (i == 2) {
      DAVINCI_ASSIGN_OR_RETURN(step, b.IntegerBy("imul", step, factor));
    }
    DAVINCI_ASSIGN_OR_RETURN(at[1], b.Integer("iadd", at[1], step));
    DAVINCI_ASSIGN_OR_RETURN(at[i], b.IntegerBy("idiv", at[i], factor));
  }
  return b.Load(x, at);
}

Result<Meaning> ChannelShuffle(Builder& b, Id x, int64_t groups) {
  const auto shape = b.p[x].shape;
  if (shape.size() < 2 || groups < 2) return Unknown("such a shuffle");
  std::vector<Id> at = b.Positions(shape);
  const DimId each = b.p.graph.dims.Binary('/', shape[1], b.p.graph.dims.Constant(groups));
  DAVINCI_ASSIGN_OR_RETURN(const Id group, b.IntegerBy("imod", at[1], groups));
  DAVINCI_ASSIGN_OR_RETURN(const Id first, b.Integer("imul", group, b.p.Size(each)));
  DAVINCI_ASSIGN_OR_RETURN(const Id within, b.IntegerBy("idiv", at[1], groups));
  DAVINCI_ASSIGN_OR_RETURN(at[1], b.Integer("iadd", first, within));
  return b.Load(x, at);
}

Result<Meaning> PixelShuffleOf(const Call& call) {
  const bool back = call.name == "pixel_unshuffle";
  const auto factor = Integral(call.Argument(1, back ? "downscale_factor" : "upscale_factor"));
  return factor ? PixelShuffle(call.b, call.x(), *factor, back) : call.NotKnown();
}

Result<Meaning> ChannelShuffleOf(const Call& call) {
  const auto groups = Integral(call.Argument(1, "groups"));
  return groups ? ChannelShuffle(call.b, call.x(), *groups) : call.NotKnown();
}

Result<Meaning> ShuffleModule(const ModuleCall& call) {
  if (call.name == "nn.ChannelShuffle") return ChannelShuffleOf(call.As("channel_shuffle"));
  return PixelShuffleOf(
      call.As(call.name == "nn.PixelShuffle" ? "pixel_shuffle" : "pixel_unshuffle"));
}

}  // namespace

void AddShuffles(FunctionRegistry* registry) {
  registry->Add({"pixel_shuffle", "pixel_unshuffle"}, PixelShuffleOf);
  registry->Add({"channel_shuffle"}, ChannelShuffleOf);
  registry->AddModules({"nn.PixelShuffle", "nn.PixelUnshuffle", "nn.ChannelShuffle"},
                       ShuffleModule);
}

}  // namespace davinci::teacher
