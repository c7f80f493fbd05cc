// Normalizations: by the statistics of a row, a group, a channel, and by those that training left.
#include <fmt/format.h>

#include <functional>
#include <limits>

#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/reduce.h"

namespace davinci::teacher {
namespace {

struct Norm {
  Builder& b;
  Definitions& defined;
  Meaning eps, weight, bias;  // the last two may be None
};

// (x - mean) * rsqrt(var + eps), or x * rsqrt(mean of squares + eps).
Result<Meaning> Normalized(const Norm& norm, Id x, const std::vector<int>& axes, bool centred) {
  return norm.defined.Apply(centred ? "center_scale" : "rms_scale",
                            {Meaning::Tensor(x), Meaning::Axes(axes), norm.eps});
}

std::vector<int> AxesFrom(size_t first, size_t rank) {
  std::vector<int> axes;
  for (size_t i = first; i < rank; ++i) axes.push_back(static_cast<int>(i));
  return axes;
}

// weight and bias of size shape[axis], or None.
Result<Meaning> Affine(Builder& b, Meaning x, const Meaning& weight, const Meaning& bias,
                       size_t axis) {
  const size_t rank = b.p[x.id].shape.size();
  const auto lift = [&](const Meaning& w) -> Result<Meaning> {
    if (axis + 1 == rank) return w;
    std::vector<DimId> shape = b.p[w.id].shape;
    shape.resize(rank - axis, b.p.graph.dims.Constant(1));
    return b.Reshape(w.id, shape);
  };
  if (weight.kind == Meaning::Kind::kTensor) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, lift(weight));
    DAVINCI_ASSIGN_OR_RETURN(x, b.Binary("*", x, lifted));
  }
  if (bias.kind == Meaning::Kind::kTensor) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, lift(bias));
    DAVINCI_ASSIGN_OR_RETURN(x, b.Binary("+", x, lifted));
  }
  return x;
}

Result<Meaning> Affine(const Norm& norm, const Meaning& x, size_t axis) {
  return Affine(norm.b, x, norm.weight, norm.bias, axis);
}

// The running statistics by name; none: they are not kept.
using Running = std::function<Meaning(const char*)>;

// By the statistics of the batch, which also move the running ones, where there are any.
Result<Meaning> BatchNorm(const Norm& norm, Id x, const Meaning& momentum, const Running& running) {
  Builder& b = norm.b;
  std::vector<int> axes = {0};
  for (size_t i = 2; i < b.p[x].shape.size(); ++i) axes.push_back(static_cast<int>(i));
  const Meaning dims = Meaning::Axes(axes);
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed, Normalized(norm, x, axes, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning result, Affine(norm, normed, 1));
  if (!running) return result;
  if (!momentum.number) return Unknown("batch norm without momentum");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, Mean(b, x, dims, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning mean, b.Reshape(wide.id, {b.p[x].shape[1]}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning var,
                           norm.defined.Apply("var", {Meaning::Tensor(x), dims}));
  // Stored by the kernel that has the statistics, which are not rounded on their way.
  for (const auto& [name, value] :
       {std::pair<const char*, Meaning>{"running_mean", mean}, {"running_var", var}}) {
    const Meaning before = running(name);
    DAVINCI_ASSIGN_OR_RETURN(const Meaning change, b.Binary("-", value, before));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning step, b.Binary("*", change, momentum));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning moved, b.Binary("+", before, step));
    b.p.updates.emplace_back(moved.id, before.id);
  }
  return result;
}

// By the statistics that training has left.
Result<Meaning> TrainedNorm(const Norm& norm, const Meaning& x, const Running& running) {
  Builder& b = norm.b;
  const auto shape = b.p[x.id].shape;
  std::vector<DimId> wide(shape.size() - 1, b.p.graph.dims.Constant(1));
  wide[0] = shape[1];
  DAVINCI_ASSIGN_OR_RETURN(const Meaning mean, b.Reshape(running("running_mean").id, wide));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning var, b.Reshape(running("running_var").id, wide));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning centred, b.Binary("-", x, mean));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning safe, b.Binary("+", var, norm.eps));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning scale, b.Point("rsqrt", {safe}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed, b.Binary("*", centred, scale));
  return Affine(norm, normed, 1);
}

Result<Meaning> GroupNorm(const Norm& norm, Id x, const Meaning& groups) {
  Builder& b = norm.b;
  const auto shape = b.p[x].shape;
  if (shape.size() < 2 || !groups.number) return Unknown("group_norm");
  const DimId g = b.Constant(static_cast<int64_t>(*groups.number));
  std::vector<DimId> split = {shape[0], g, b.p.graph.dims.Binary('/', shape[1], g)};
  split.insert(split.end(), shape.begin() + 2, shape.end());
  DAVINCI_ASSIGN_OR_RETURN(const Meaning parted, b.Reshape(x, split));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed,
                           Normalized(norm, parted.id, AxesFrom(2, split.size()), true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning joined, b.Reshape(normed.id, shape));
  return Affine(norm, joined, 1);
}

Result<Meaning> InstanceNorm(const Norm& norm, Id x) {
  const size_t rank = norm.b.p[x].shape.size();
  if (rank < 2) return Unknown("instance_norm");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed, Normalized(norm, x, AxesFrom(2, rank), true));
  return Affine(norm, normed, 1);
}

Meaning Or(const Meaning& given, double otherwise) {
  return given.IsNone() ? Meaning::Number(otherwise) : given;
}

constexpr double kUsualEps = 1e-5;

Meaning RmsEps(const Builder& b, const Meaning& given) {
  const auto usual = DefaultRmsEps(b.p.graph.precision);
  return usual ? Or(given, *usual) : given;
}

Result<Meaning> LayerNormFunction(const Call& call) {
  const Meaning normalized = call.Argument(1, "normalized_shape");
  const size_t rank = call.Rank();
  const size_t count = normalized.IsSequence() ? normalized.items.size() : 1;
  if (count == 0 || count > rank) return call.NotKnown();
  const bool centred = call.name == "layer_norm";
  Norm norm{call.b, call.defined, call.Argument(centred ? 4 : 3, "eps"), {}, {}};
  norm.eps = centred ? Or(norm.eps, kUsualEps) : RmsEps(call.b, norm.eps);
  if (norm.eps.IsNone()) return Unknown("rms_norm without eps");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed,
                           Normalized(norm, call.x(), AxesFrom(rank - count, rank), centred));
  norm.weight = call.Argument(2, "weight");
  if (centred) norm.bias = call.Argument(3, "bias");
  return Affine(norm, normed, rank - 1);
}

Result<Meaning> GroupNormFunction(const Call& call) {
  const Meaning groups = call.Argument(1, "num_groups");
  const Norm norm{call.b, call.defined, Or(call.Argument(4, "eps"), kUsualEps),
                  call.Argument(2, "weight"), call.Argument(3, "bias")};
  return GroupNorm(norm, call.x(), groups);
}

// By the statistics of each instance; running ones are not known.
Result<Meaning> InstanceNormFunction(const Call& call) {
  const Meaning by_instance = call.Keyword("use_input_stats");
  if (!by_instance.IsNone() && !IsTrue(by_instance)) return call.NotKnown();
  call.Keyword("momentum");  // of running statistics
  const Norm norm{call.b, call.defined, Or(call.Argument(4, "eps"), kUsualEps),
                  call.Keyword("weight"), call.Keyword("bias")};
  return InstanceNorm(norm, call.x());
}

Result<Meaning> BatchNormFunction(const Call& call) {
  if (call.Rank() < 2) return call.NotKnown();
  const Meaning mean = call.Argument(1, "running_mean"), var = call.Argument(2, "running_var");
  const Norm norm{call.b, call.defined, Or(call.Argument(7, "eps"), kUsualEps),
                  call.Argument(3, "weight"), call.Argument(4, "bias")};
  const Meaning momentum = Or(call.Argument(6, "momentum"), 0.1);
  const bool tracked = mean.IsTensor() && var.IsTensor();
  const Running running = [&](const char* which) {
    return std::string_view(which) == "running_mean" ? mean : var;
  };
  if (IsTrue(call.Argument(5, "training")))
    return BatchNorm(norm, call.x(), momentum, tracked ? running : Running());
  if (!tracked) return call.NotKnown();
  return TrainedNorm(norm, call.arguments[0], running);
}

Result<Meaning> Leaked(Builder& b, const Meaning& x, const Result<Meaning>& scaled) {
  const auto positive = b.Binary(">", x, Meaning::Number(0));
  if (!scaled.ok() || !positive.ok()) return Unknown("prelu");
  return b.Point("where", {*positive, x, *scaled});
}

Result<Meaning> PReluFunction(const Call& call) {
  Builder& b = call.b;
  if (call.arguments.size() < 2 || !call.arguments[1].IsTensor()) return call.NotKnown();
  const auto weights = b.p[call.arguments[1].id].shape;
  if (weights.size() != 1) return call.NotKnown();
  const size_t axis = b.p.IsOne(weights[0]) ? call.Rank() - 1 : 1;
  return Leaked(b, call.arguments[0], Affine(b, call.arguments[0], call.arguments[1], {}, axis));
}

Result<Meaning> LayerNormModule(const ModuleCall& call) {
  const auto shape = call.Shape();
  const bool centred = call.name == "nn.LayerNorm";
  const Meaning sizes = call.Argument(0, "normalized_shape");
  const size_t rank = shape.size(), count = sizes.IsSequence() ? sizes.items.size() : 1;
  if (count == 0 || count > rank) return call.NotKnown();
  Norm norm{call.b, call.defined, call.Argument(1, "eps"), {}, {}};
  norm.eps = centred ? Or(norm.eps, kUsualEps) : RmsEps(call.b, norm.eps);
  if (norm.eps.IsNone()) return call.NotKnown();
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed,
                           Normalized(norm, call.x(), AxesFrom(rank - count, rank), centred));
  if (!IsTrue(call.Number("elementwise_affine", 1))) return normed;
  const std::vector<DimId> own(shape.end() - static_cast<std::ptrdiff_t>(count), shape.end());
  if (centred) norm.bias = call.Weight("bias", own);
  norm.weight = call.Weight("weight", own);
  return Affine(norm, normed, rank - 1);
}

// With weight and bias of one element a channel, where the module has them.
Norm NormOfChannels(const ModuleCall& call, bool affine) {
  Norm norm{call.b, call.defined, call.Number("eps", kUsualEps), {}, {}};
  const DimId channels = call.Shape()[1];
  if (affine) norm.weight = call.Weight("weight", {channels});
  if (affine) norm.bias = call.Weight("bias", {channels});
  return norm;
}

Result<Meaning> GroupNormModule(const ModuleCall& call) {
  if (call.Shape().size() < 2) return call.NotKnown();
  const Norm norm = NormOfChannels(call, IsTrue(call.Number("affine", 1)));
  return GroupNorm(norm, call.x(), call.Argument(0, "num_groups"));
}

Result<Meaning> InstanceNormModule(const ModuleCall& call) {
  if (call.Shape().size() < 2) return call.NotKnown();
  return InstanceNorm(NormOfChannels(call, IsTrue(call.Number("affine", 0))), call.x());
}

Result<Meaning> BatchNormModule(const ModuleCall& call) {
  const auto shape = call.Shape();
  if (shape.size() < 2) return call.NotKnown();
  const Norm norm = NormOfChannels(call, IsTrue(call.Number("affine", 1)));
  const Running running = [&](const char* which) { return call.Weight(which, {shape[1]}); };
  if (!call.training) return TrainedNorm(norm, call.inputs[0], running);
  const bool track = IsTrue(call.Number("track_running_stats", 1));
  DAVINCI_ASSIGN_OR_RETURN(
      const Meaning result,
      BatchNorm(norm, call.x(), call.Number("momentum", 0.1), track ? running : Running()));
  if (track) {
    TensorValue counted;
    counted.kind = TensorValue::Kind::kOpaque;
    counted.effect = true;
    counted.text = call.path + ".num_batches_tracked.add_(1)";
    call.b.p.effects.push_back(call.b.p.Add(std::move(counted)));
  }
  return result;
}

Result<Meaning> PReluModule(const ModuleCall& call) {
  Builder& b = call.b;
  DAVINCI_ASSIGN_OR_RETURN(const Meaning positive,
                           b.Binary(">", call.inputs[0], Meaning::Number(0)));
  const bool shared = call.arguments.empty();
  const auto shape = call.Shape();
  if (!shared && shape.size() < 2) return call.NotKnown();
  const Meaning weight = call.Weight("weight", {shared ? b.Constant(1) : shape[1]});
  DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled,
                           Affine(b, call.inputs[0], weight, {}, shared ? shape.size() - 1 : 1));
  return b.Point("where", {positive, call.inputs[0], scaled});
}

}  // namespace

std::optional<double> DefaultRmsEps(synth::Precision precision) {
  if (precision != synth::Precision::kFp32) return std::nullopt;
  return std::numeric_limits<float>::epsilon();
}

void AddNorms(FunctionRegistry* registry) {
  registry->Add({"layer_norm", "rms_norm"}, LayerNormFunction);
  registry->Add({"group_norm"}, GroupNormFunction);
  registry->Add({"instance_norm"}, InstanceNormFunction);
  registry->Add({"batch_norm"}, BatchNormFunction);
  registry->Add({"prelu"}, PReluFunction);
  registry->AddModules({"nn.LayerNorm", "nn.RMSNorm"}, LayerNormModule);
  registry->AddModules({"nn.GroupNorm"}, GroupNormModule);
  registry->AddModules({"nn.InstanceNorm1d", "nn.InstanceNorm2d", "nn.InstanceNorm3d"},
                       InstanceNormModule);
  registry->AddModules({"nn.BatchNorm1d", "nn.BatchNorm2d", "nn.BatchNorm3d"}, BatchNormModule);
  registry->AddModules({"nn.PReLU"}, PReluModule);
}

}  // namespace davinci::teacher
