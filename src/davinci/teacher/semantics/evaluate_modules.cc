// Normalizations, and modules by their constructors.
#include <fmt/format.h>

#include "davinci/teacher/semantics/evaluate.h"

namespace davinci::teacher {

Meaning Evaluator::Weight(const std::string& name, std::vector<DimId> shape) {
  TensorValue leaf;
  leaf.text = path_ + "." + name;
  leaf.shape = std::move(shape);
  for (size_t i = 0; i < leaf.shape.size(); ++i)
    if (!p_->graph.dims.IsConstant(leaf.shape[i]))
      p_->size_sources.emplace_back(leaf.shape[i], fmt::format("{}.shape[{}]", leaf.text, i));
  return Meaning::Tensor(p_->Add(std::move(leaf)));
}

// (x - mean) * rsqrt(var + eps), or x * rsqrt(mean of squares + eps).
Result<Meaning> Evaluator::Normalized(Id x, std::vector<int> axes, const Meaning& eps,
                                      bool centred) {
  Meaning dims;
  dims.kind = Meaning::Kind::kSequence;
  for (const int axis : axes) dims.items.push_back(Meaning::Number(axis));
  return Apply(centred ? "center_scale" : "rms_scale", {Meaning::Tensor(x), dims, eps}, {});
}

// weight and bias of size shape[axis], or None.
Result<Meaning> Evaluator::Affine(Meaning x, const Meaning& weight, const Meaning& bias,
                                  size_t axis) {
  const size_t rank = (*p_)[x.id].shape.size();
  const auto lift = [&](const Meaning& w) -> Result<Meaning> {
    if (axis + 1 == rank) return w;
    std::vector<DimId> shape = (*p_)[w.id].shape;
    shape.resize(rank - axis, p_->graph.dims.Constant(1));
    return Reshape(w.id, shape);
  };
  if (weight.kind == Meaning::Kind::kTensor) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, lift(weight));
    DAVINCI_ASSIGN_OR_RETURN(x, Binary("*", x, lifted));
  }
  if (bias.kind == Meaning::Kind::kTensor) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning lifted, lift(bias));
    DAVINCI_ASSIGN_OR_RETURN(x, Binary("+", x, lifted));
  }
  return x;
}

// By the statistics of the batch, which also move the running ones, where there are any.
Result<Meaning> Evaluator::BatchNorm(Id x, const Meaning& weight, const Meaning& bias,
                                     const Meaning& eps, const Meaning& momentum,
                                     const Running& running) {
  std::vector<int> axes = {0};
  Meaning dims;
  dims.kind = Meaning::Kind::kSequence;
  for (size_t i = 2; i < (*p_)[x].shape.size(); ++i) axes.push_back(static_cast<int>(i));
  for (const int axis : axes) dims.items.push_back(Meaning::Number(axis));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed, Normalized(x, axes, eps, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning result, Affine(normed, weight, bias, 1));
  if (!running) return result;
  if (!momentum.number) return Unknown("batch norm without momentum");
  DAVINCI_ASSIGN_OR_RETURN(const Meaning wide, Mean(x, dims, true));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning mean, Reshape(wide.id, {(*p_)[x].shape[1]}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning var, Apply("var", {Meaning::Tensor(x), dims}, {}));
  // Stored by the kernel that has the statistics, which are not rounded on their way.
  for (const auto& [name, value] :
       {std::pair<const char*, Meaning>{"running_mean", mean}, {"running_var", var}}) {
    const Meaning before = running(name);
    DAVINCI_ASSIGN_OR_RETURN(const Meaning change, Binary("-", value, before));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning step, Binary("*", change, momentum));
    DAVINCI_ASSIGN_OR_RETURN(const Meaning moved, Binary("+", before, step));
    p_->updates.emplace_back(moved.id, before.id);
  }
  return result;
}

// By the statistics that training has left.
Result<Meaning> Evaluator::BatchNormOf(const Meaning& x, const Meaning& weight, const Meaning& bias,
                                       const Meaning& eps, const Running& running) {
  const auto shape = (*p_)[x.id].shape;
  std::vector<DimId> wide(shape.size() - 1, p_->graph.dims.Constant(1));
  wide[0] = shape[1];
  DAVINCI_ASSIGN_OR_RETURN(const Meaning mean, Reshape(running("running_mean").id, wide));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning var, Reshape(running("running_var").id, wide));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning centred, Binary("-", x, mean));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning safe, Binary("+", var, eps));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning scale, Point("rsqrt", {safe}));
  DAVINCI_ASSIGN_OR_RETURN(const Meaning normed, Binary("*", centred, scale));
  return Affine(normed, weight, bias, 1);
}

std::optional<Result<Meaning>> Evaluator::Normalization(const NativeCall& call) {
  const std::string& name = call.name;
  const Meanings& arguments = call.arguments;
  Keywords& keywords = call.keywords;
  const auto argument = [&](size_t at, const char* keyword) { return call.Argument(at, keyword); };
  const Id x = call.arguments[0].id;
  const std::vector<DimId> shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  const bool second_tensor = arguments.size() > 1 && arguments[1].kind == Meaning::Kind::kTensor;
  if (name == "layer_norm" || name == "rms_norm") {
    const Meaning normalized = argument(1, "normalized_shape");
    const size_t count = normalized.kind == Meaning::Kind::kSequence ? normalized.items.size() : 1;
    if (count == 0 || count > rank) return Result<Meaning>(Unknown(name));
    std::vector<int> axes;
    for (size_t i = rank - count; i < rank; ++i) axes.push_back(static_cast<int>(i));
    const bool centred = name == "layer_norm";
    Meaning eps = argument(centred ? 4 : 3, "eps");
    if (eps.kind == Meaning::Kind::kNone) {
      if (!centred) return Result<Meaning>(Unknown("rms_norm without eps"));
      eps = Meaning::Number(1e-5);
    }
    auto normed = Normalized(x, axes, eps, centred);
    if (!normed.ok()) return normed;
    const Meaning weight = argument(2, "weight");
    const Meaning bias = centred ? argument(3, "bias") : Meaning{};
    return Affine(*normed, weight, bias, rank - 1);
  }
  if (name == "group_norm" || name == "instance_norm") {
    const Meaning groups = argument(1, "num_groups");
    const bool grouped = name == "group_norm";
    if (rank < 2 || (grouped && !groups.number)) return Result<Meaning>(Unknown(name));
    Meaning eps = argument(4, "eps");
    if (eps.kind == Meaning::Kind::kNone) eps = Meaning::Number(1e-5);
    Meaning normed;
    if (!grouped) {
      std::vector<int> axes;
      for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int>(i));
      auto result = Normalized(x, axes, eps, true);
      if (!result.ok()) return result;
      normed = *result;
    } else {
      const DimId g = p_->graph.dims.Constant(static_cast<int64_t>(*groups.number));
      std::vector<DimId> split = {shape[0], g, p_->graph.dims.Binary('/', shape[1], g)};
      split.insert(split.end(), shape.begin() + 2, shape.end());
      auto parted = Reshape(x, split);
      if (!parted.ok()) return parted;
      std::vector<int> axes;
      for (size_t i = 2; i < split.size(); ++i) axes.push_back(static_cast<int>(i));
      auto result = Normalized(parted->id, axes, eps, true);
      if (!result.ok()) return result;
      auto joined = Reshape(result->id, shape);
      if (!joined.ok()) return joined;
      normed = *joined;
    }
    const Meaning weight = grouped ? argument(2, "weight") : keywords["weight"];
    const Meaning bias = grouped ? argument(3, "bias") : keywords["bias"];
    return Affine(normed, weight, bias, 1);
  }
  if (name == "batch_norm" && rank >= 2) {
    const Meaning mean = argument(1, "running_mean"), var = argument(2, "running_var");
    const Meaning weight = argument(3, "weight"), bias = argument(4, "bias");
    Meaning eps = argument(7, "eps");
    if (eps.kind == Meaning::Kind::kNone) eps = Meaning::Number(1e-5);
    Meaning momentum = argument(6, "momentum");
    if (momentum.kind == Meaning::Kind::kNone) momentum = Meaning::Number(0.1);
    const bool tracked = mean.kind == Meaning::Kind::kTensor && var.kind == Meaning::Kind::kTensor;
    const Running running = [&](const char* which) {
      return std::string_view(which) == "running_mean" ? mean : var;
    };
    if (IsTrue(argument(5, "training")))
      return BatchNorm(x, weight, bias, eps, momentum, tracked ? running : Running());
    if (!tracked) return Result<Meaning>(Unknown(name));
    return BatchNormOf(arguments[0], weight, bias, eps, running);
  }
  if (name == "prelu" && second_tensor) {
    const auto weights = (*p_)[arguments[1].id].shape;
    if (weights.size() != 1) return Result<Meaning>(Unknown(name));
    auto scaled = Affine(arguments[0], arguments[1], {}, p_->IsOne(weights[0]) ? rank - 1 : 1);
    auto positive = Binary(">", arguments[0], Meaning::Number(0));
    if (!scaled.ok() || !positive.ok()) return Result<Meaning>(Unknown(name));
    return Point("where", {*positive, arguments[0], *scaled});
  }
  return std::nullopt;
}

Result<Meaning> Evaluator::Module(const Names&, const Meanings& inputs) {
  if (!constructor_ || constructor_->kind != PythonExpression::Kind::kCall || inputs.empty() ||
      inputs[0].kind != Meaning::Kind::kTensor)
    return Unknown("this module");
  const std::string name = constructor_->parts[0].DottedName();
  Meanings arguments;
  Keywords keywords;
  for (size_t i = 1; i < constructor_->parts.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(Meaning argument, Evaluate(constructor_->parts[i], {}));
    arguments.push_back(std::move(argument));
  }
  for (const auto& [keyword, value] : constructor_->keywords) {
    DAVINCI_ASSIGN_OR_RETURN(keywords[keyword], Evaluate(value, {}));
  }
  const auto keyword = [&](const char* key, double otherwise) {
    const auto found = keywords.find(key);
    return found == keywords.end() || !found->second.number ? Meaning::Number(otherwise)
                                                            : found->second;
  };
  const Id x = inputs[0].id;
  const auto shape = (*p_)[x].shape;
  const size_t rank = shape.size();
  if (name == "nn.LayerNorm" || name == "nn.RMSNorm") {
    const bool centred = name == "nn.LayerNorm";
    const Meaning sizes = arguments.empty() ? keywords["normalized_shape"] : arguments[0];
    const size_t count = sizes.kind == Meaning::Kind::kSequence ? sizes.items.size() : 1;
    if (count == 0 || count > rank) return Unknown(name);
    if (!centred && !keywords.contains("eps")) return Unknown(name);
    std::vector<int> axes;
    std::vector<DimId> own;
    for (size_t i = rank - count; i < rank; ++i) {
      axes.push_back(static_cast<int>(i));
      own.push_back(shape[i]);
    }
    DAVINCI_ASSIGN_OR_RETURN(const Meaning normed,
                             Normalized(x, axes, keyword("eps", 1e-5), centred));
    if (!IsTrue(keyword("elementwise_affine", 1))) return normed;
    return Affine(normed, Weight("weight", own), centred ? Weight("bias", own) : Meaning{},
                  rank - 1);
  }
  const bool group = name == "nn.GroupNorm";
  const bool instance = name.starts_with("nn.InstanceNorm");
  const bool batch = name.starts_with("nn.BatchNorm");
  if (group || instance || batch) {
    if (rank < 2) return Unknown(name);
    const bool affine = IsTrue(keyword("affine", instance ? 0 : 1));
    const Meaning weight = affine ? Weight("weight", {shape[1]}) : Meaning{};
    const Meaning bias = affine ? Weight("bias", {shape[1]}) : Meaning{};
    if (group || instance) {
      Keywords passed = {{"weight", weight}, {"bias", bias}, {"eps", keyword("eps", 1e-5)}};
      Meanings all = {inputs[0]};
      if (group) all.push_back(arguments.empty() ? keywords["num_groups"] : arguments[0]);
      auto result = Native(group ? "group_norm" : "instance_norm", all, passed);
      return result ? std::move(*result) : Result<Meaning>(Unknown(name));
    }
    const bool track = IsTrue(keyword("track_running_stats", 1));
    const Running running = [&](const char* which) { return Weight(which, {shape[1]}); };
    if (!training_) return BatchNormOf(inputs[0], weight, bias, keyword("eps", 1e-5), running);
    DAVINCI_ASSIGN_OR_RETURN(const Meaning result,
                             BatchNorm(x, weight, bias, keyword("eps", 1e-5),
                                       keyword("momentum", 0.1), track ? running : Running()));
    if (track) {
      TensorValue counted;
      counted.kind = TensorValue::Kind::kOpaque;
      counted.effect = true;
      counted.text = path_ + ".num_batches_tracked.add_(1)";
      p_->effects.push_back(p_->Add(std::move(counted)));
    }
    return result;
  }
  if (name == "nn.PReLU") {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning positive, Binary(">", inputs[0], Meaning::Number(0)));
    const bool shared = arguments.empty();
    const Meaning weight = Weight("weight", {shared ? p_->graph.dims.Constant(1) : shape[1]});
    DAVINCI_ASSIGN_OR_RETURN(const Meaning scaled,
                             Affine(inputs[0], weight, {}, shared ? rank - 1 : 1));
    return Point("where", {positive, inputs[0], scaled});
  }
  if (name == "nn.CrossEntropyLoss" || name == "nn.NLLLoss") {
    Meanings all = inputs;
    auto result = Native(name == "nn.NLLLoss" ? "nll_loss" : "cross_entropy", all, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  static const std::map<std::string, std::string, std::less<>> functionals = {
      {"nn.MaxPool", "max_pool"},
      {"nn.AvgPool", "avg_pool"},
      {"nn.AdaptiveAvgPool", "adaptive_avg_pool"},
      {"nn.AdaptiveMaxPool", "adaptive_max_pool"}};
  for (const auto& [module, function] : functionals) {
    if (!name.starts_with(module)) continue;
    Meanings all = {inputs[0]};
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto result = Native(function + name.substr(module.size()), all, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  if (name == "nn.Upsample" && arguments.empty()) {
    Meanings all = {inputs[0]};
    auto result = Native("interpolate", all, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  static const std::map<std::string, std::string, std::less<>> moves = {
      {"nn.PixelShuffle", "pixel_shuffle"},
      {"nn.PixelUnshuffle", "pixel_unshuffle"},
      {"nn.ChannelShuffle", "channel_shuffle"},
      {"nn.Unfold", "unfold"}};
  if (const auto move = moves.find(name); move != moves.end()) {
    Meanings all = {inputs[0]};
    all.insert(all.end(), arguments.begin(), arguments.end());
    auto result = Native(move->second, all, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  if ((name.starts_with("nn.ReflectionPad") || name.starts_with("nn.ReplicationPad") ||
       name.starts_with("nn.ZeroPad")) &&
      arguments.size() == 1 && arguments[0].number && rank > 2) {
    Meaning sizes;
    sizes.kind = Meaning::Kind::kSequence;
    sizes.items.assign(2 * (rank - 2), arguments[0]);
    Result<Meaning> padded = Unknown(name);
    if (name.starts_with("nn.ZeroPad"))
      padded = Padded(x, sizes.items, Meaning::Number(0));
    else
      padded = Reflected(x, sizes.items, name.starts_with("nn.Repl"));
    return padded;
  }
  if (name == "nn.Linear" && arguments.size() >= 2 && arguments[1].dim != synth::kNoDim &&
      rank > 0) {
    const bool biased = IsTrue(arguments.size() > 2 ? arguments[2] : keyword("bias", 1));
    return Linear(x, Weight("weight", {arguments[1].dim, shape.back()}),
                  biased ? Weight("bias", {arguments[1].dim}) : Meaning{}, path_);
  }
  if (name == "nn.MultiheadAttention") return MultiheadAttention(arguments, keywords, inputs);
  if (name == "nn.EmbeddingBag" && arguments.size() == 2 && arguments[0].dim != synth::kNoDim &&
      arguments[1].dim != synth::kNoDim) {
    Meanings all = {inputs[0], Weight("weight", {arguments[0].dim, arguments[1].dim})};
    auto result = Native("embedding_bag", all, keywords);
    return result ? std::move(*result) : Result<Meaning>(Unknown(name));
  }
  if (name == "nn.Embedding" && arguments.size() == 2 && arguments[0].dim != synth::kNoDim &&
      arguments[1].dim != synth::kNoDim) {
    const Meaning table = Weight("weight", {arguments[0].dim, arguments[1].dim});
    return Select(table.id, 0, x);
  }
  const auto found = tables_.functions.find(name);
  if (found == tables_.functions.end()) return Unknown(name);
  Names names;
  static const char* const kInputs[] = {"x", "y", "z"};
  if (inputs.size() > 3) return Unknown(name);
  for (size_t i = 0; i < inputs.size(); ++i) names[kInputs[i]] = inputs[i];
  return ApplyTable(found->second, std::move(arguments), std::move(keywords), names, name);
}

}  // namespace davinci::teacher
