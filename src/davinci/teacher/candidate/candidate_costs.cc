#include "davinci/teacher/candidate/candidate_costs.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "davinci/teacher/candidate/imported_forward.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

// Microseconds of the host: a launch by Triton with what is allocated for it, the same without
// Triton's look-up, calls of PyTorch, and a replay with its copies.
constexpr double kOwnLaunch = 60, kDirectLaunch = 38, kConvCall = 30, kTorchCall = 16,
                 kViewCall = 4;
constexpr double kReplayed = 30, kCopy = 8;
// The rates of a large device, and the shortest kernel.
constexpr double kBytesPerUs = 3e6, kFlopsPerUs = 5e7, kLeastKernel = 2;
// Host time that a caller's work between two calls hides.
constexpr double kHidden = 40;

}  // namespace

int EagerKernels(std::string_view form) {
  static const std::set<std::string_view> kViews = {
      "reshape", "view",      "permute", "transpose", "unsqueeze", "squeeze", "expand", "t",
      "flatten", "unflatten", "movedim", "size",      "chunk",     "split",   "unbind", "diagonal",
      "narrow",  "select",    "unfold",  "swapaxes",  "expand_as", "detach"};
  int kernels = 0;
  for (size_t i = 0; i < form.size(); ++i) {
    if (form[i] == '(' && i > 0) {
      size_t begin = i;
      while (begin > 0 && (std::isalnum(static_cast<unsigned char>(form[begin - 1])) != 0 ||
                           form[begin - 1] == '_'))
        --begin;
      const std::string_view name = form.substr(begin, i - begin);
      kernels += (!name.empty() || form[i - 1] == '}') && !kViews.contains(name) ? 1 : 0;
    }
    for (const std::string_view sign : {" + ", " - ", " * ", " / ", " ** ", " @ ", " < ", " > "})
      kernels += form.substr(i).starts_with(sign) ? 1 : 0;
  }
  return std::max(kernels, 1);
}

double CandidateCosts::OpaqueFlops(const TensorValue& value, Id id) const {
  if (value.operands.empty()) return 0;
  if (value.own) return 2 * d_.Elements(id) * ShapeOf(d_.program, id).depth;
  const auto& read = d_.program[value.operands[0]].shape;
  if (read.size() < 2) return 0;
  const auto at = [&](DimId dim) { return d_.program.At(dim, synth::Binding::kCuda); };
  if (value.what != "conv" || value.node < 0) return 2 * d_.Elements(id) * at(read.back());
  double weights = 0;  // the largest parameter is the kernel
  for (const synth::ValueId weight : d_.graph.nodes[static_cast<size_t>(value.node)].weights) {
    double elements = 1;
    for (const DimId dim : d_.graph.values[static_cast<size_t>(weight)].shape) elements *= at(dim);
    weights = std::max(weights, elements);
  }
  // Transposed ones go by the positions of what they read.
  const double positions =
      std::min(d_.Elements(id) / at(value.shape[1]), d_.Elements(value.operands[0]) / at(read[1]));
  return 2 * positions * weights;
}

bool CandidateCosts::IsHeld(const TensorValue& value) const {
  static const std::set<std::string> kHeld = {
      "view",    "matmul",   "conv",      "activation", "pointwise", "norm", "pool",
      "softmax", "resample", "reduction", "attention",  "shape",     "sort"};
  static const std::set<std::string> kNotHeld = {"module", "random", "transfer", "waits"};
  if (!d_.task.parts.imported) return value.effect || kHeld.contains(value.what);
  // A mask as an index waits for the number of its true elements.
  const bool by_mask =
      value.what == "gather" && value.operands.size() > 1 &&
      std::any_of(value.operands.begin() + 1, value.operands.end(),
                  [&](Id operand) { return d_.program[operand].dtype == DType::kBool; });
  return !by_mask && !kNotHeld.contains(value.what);
}

CandidateCosts::Times CandidateCosts::OwnCosts() const {
  const double bytes = d_.graph.precision == synth::Precision::kFp32 ? 4 : 2;
  const double launch = d_.Allows(Rule::kDirectLaunch) ? kDirectLaunch : kOwnLaunch;
  Times costs;
  for (const Plan::Step& step : d_.plan.steps) {
    double elements = 0, flops = 0, launches = 0;
    if (step.region >= 0) {
      const Region& region = d_.plan.regions[static_cast<size_t>(step.region)];
      if (region.outputs.empty()) continue;
      for (const auto& [id, placement] : region.placements)
        if (d_.program[id].kind == Kind::kLeaf || d_.program[id].kind == Kind::kOpaque)
          elements += d_.Elements(id);
      if (const Id product = d_.fused[static_cast<size_t>(step.region)]; product >= 0)
        flops = OpaqueFlops(d_.program[product], product);
      for (const Id output : region.outputs) elements += 2 * d_.Elements(output);
      launches = d_.launches.at(step.region);
      costs.host_us += launch * launches;
    } else {
      const TensorValue& value = d_.program[step.value];
      if (value.kind != Kind::kOpaque) continue;
      if (value.own && std::find(d_.fused.begin(), d_.fused.end(), step.value) != d_.fused.end())
        continue;
      if (d_.constants.contains(step.value)) continue;
      if (!d_.templates.contains(step.value) && !IsHeld(value)) costs.held = false;
      if (value.what == "view" || value.view) {
        costs.host_us += kViewCall;
        continue;
      }
      elements = d_.Elements(step.value);
      for (const Id operand : value.operands) elements += d_.Elements(operand);
      if (value.what == "matmul" || value.what == "conv" || value.what == "attention")
        flops = OpaqueFlops(value, step.value);
      const bool own = value.own || d_.templates.contains(step.value);
      costs.host_us += own ? launch : value.what == "conv" ? kConvCall : kTorchCall;
      launches = 1;
    }
    costs.device_us +=
        std::max(kLeastKernel * launches, bytes * elements / kBytesPerUs + flops / kFlopsPerUs);
  }
  // Inputs are copied into the graph's, results out of it.
  costs.replay_host_us = kReplayed;
  costs.replay_device_us = costs.device_us;
  const auto copied = [&](double elements) {
    costs.replay_device_us += kLeastKernel + 2 * bytes * elements / kBytesPerUs;
    costs.replay_host_us += kCopy;
  };
  for (const synth::ValueId input : d_.graph.inputs)
    copied(ElementsOf(d_.graph.values[static_cast<size_t>(input)].shape));
  for (const Id output : d_.program.outputs) copied(d_.Elements(output));
  return costs;
}

double CandidateCosts::ElementsOf(const std::vector<DimId>& shape) const {
  double elements = 1;
  for (const DimId dim : shape) elements *= d_.program.At(dim, synth::Binding::kCuda);
  return elements;
}

bool CandidateCosts::Replays() const {
  if (d_.language != Language::kTriton || !d_.Allows(Rule::kReplayGraph) ||
      d_.candidate.own_kernels == 0)
    return false;
  if (const auto& from = d_.task.parts.imported;
      from && (from->base.empty() || HasOneOf(*from, kReplayNames)))
    return false;
  const Times costs = OwnCosts();
  constexpr double kGain = 5;  // that is worth the graph
  const auto call_us = [](double host_us, double device_us) {
    return std::max(host_us - kHidden, device_us);
  };
  return costs.held && call_us(costs.replay_host_us, costs.replay_device_us) + kGain <
                           call_us(costs.host_us, costs.device_us);
}

// Bytes, operations and launches, counted from the plan and from the graph. How long they take is a
// machine's affair.
Work CandidateCosts::WorkOfPlan() const {
  const double size = d_.graph.precision == synth::Precision::kFp32 ? 4 : 2;
  Work work;
  const auto fused = [&](Id id) { return std::ranges::find(d_.fused, id) != d_.fused.end(); };
  for (const Plan::Step& step : d_.plan.steps) {
    double elements = 0;
    if (step.region >= 0) {
      const Region& region = d_.plan.regions[static_cast<size_t>(step.region)];
      if (region.outputs.empty()) continue;
      const Id product = d_.fused[static_cast<size_t>(step.region)];
      for (const auto& [id, placement] : region.placements) {
        if (id == product) {
          work.flops += OpaqueFlops(d_.program[id], id);
          for (const Id operand : d_.program[id].operands) elements += d_.Elements(operand);
        } else if (d_.program[id].kind == Kind::kLeaf || d_.program[id].kind == Kind::kOpaque) {
          elements += d_.Elements(id);
        }
      }
      for (const Id output : region.outputs) elements += d_.Elements(output);
      ++work.own_launches;
    } else {
      const TensorValue& value = d_.program[step.value];
      if (value.kind != Kind::kOpaque || value.view || (value.own && fused(step.value))) continue;
      elements = d_.Elements(step.value);
      for (const Id operand : value.operands) elements += d_.Elements(operand);
      if (value.what == "matmul" || value.what == "conv" || value.what == "attention")
        work.flops += OpaqueFlops(value, step.value);
      ++(value.own || d_.templates.contains(step.value) ? work.own_launches : work.torch_launches);
    }
    work.bytes += size * elements;
  }
  return work;
}

int CandidateCosts::CostliestStep() const {
  double most = -1;
  int costliest = -1;
  for (size_t i = 0; i < d_.plan.steps.size(); ++i) {
    const Plan::Step& step = d_.plan.steps[i];
    double elements = 0;
    if (step.region >= 0) {
      const Region& region = d_.plan.regions[static_cast<size_t>(step.region)];
      for (const auto& [id, placement] : region.placements) {
        elements += d_.Elements(id);
        if (d_.program[id].own) elements += OpaqueFlops(d_.program[id], id);
      }
    } else if (d_.program[step.value].own) {
      elements = OpaqueFlops(d_.program[step.value], step.value);
    }
    if (elements <= most) continue;
    most = elements;
    costliest = static_cast<int>(i);
  }
  return costliest;
}

// Each operator reads and writes its tensors in memory, by one launch for each kernel of PyTorch's.
Work CandidateCosts::WorkOfEager() const {
  const double size = d_.graph.precision == synth::Precision::kFp32 ? 4 : 2;
  Work work;
  for (size_t i = 0; i < d_.graph.nodes.size(); ++i) {
    const synth::Node& node = d_.graph.nodes[i];
    if (node.view) continue;
    const int kernels = EagerKernels(d_.task.parts.nodes[i].form);
    double read = 0, written = 0;
    for (const synth::ValueId value : node.inputs)
      read += ElementsOf(d_.graph.values[static_cast<size_t>(value)].shape);
    for (const synth::ValueId value : node.outputs)
      written += ElementsOf(d_.graph.values[static_cast<size_t>(value)].shape);
    // Values between the kernels of one line are written and read again.
    work.bytes += size * (read + written + 2 * written * (kernels - 1));
    work.torch_launches += kernels;
  }
  // Products and convolutions are the same ones.
  for (size_t i = 0; i < d_.program.values.size(); ++i) {
    const TensorValue& value = d_.program.values[i];
    if (value.kind == Kind::kOpaque &&
        (value.what == "matmul" || value.what == "conv" || value.what == "attention"))
      work.flops += OpaqueFlops(value, static_cast<Id>(i));
  }
  return work;
}

bool CandidateCosts::PrefersVendor() const {
  if (d_.language != Language::kTriton || d_.candidate.own_kernels == 0) return false;
  // Calls that PyTorch computes by one kernel at the speed of memory.
  static const std::set<std::string_view> kKinds = {"activation", "pointwise", "softmax", "gather",
                                                    "shape",      "view",      "scan"};
  constexpr double kShort = 8;  // microseconds of the device: a launch by Triton is not hidden
  const double bytes = d_.graph.precision == synth::Precision::kFp32 ? 4 : 2;
  int kernels = 0;
  double device_us = 0;
  for (size_t i = 0; i < d_.graph.nodes.size(); ++i) {
    const synth::Node& node = d_.graph.nodes[i];
    if (node.view) continue;
    const Program::NodeCall& call = d_.program.calls[i];
    if (!kKinds.contains(call.kind)) return false;
    kernels += EagerKernels(d_.task.parts.nodes[i].form) + (call.function == "softmin" ? 1 : 0);
    for (const auto* values : {&node.inputs, &node.outputs})
      for (const synth::ValueId value : *values)
        device_us +=
            bytes * ElementsOf(d_.graph.values[static_cast<size_t>(value)].shape) / kBytesPerUs;
  }
  return kernels <= 1 && device_us < kShort;
}

}  // namespace davinci::teacher
