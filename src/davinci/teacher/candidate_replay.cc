#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/candidate_writer.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

double CandidateWriter::Elements(Id id) const { return p_.Elements(id, synth::Binding::kCuda); }

double CandidateWriter::OpaqueFlops(const TensorValue& value, Id id) const {
  if (value.operands.empty()) return 0;
  if (value.own) return 2 * Elements(id) * ShapeOf(p_, id).depth;
  const auto& read = p_[value.operands[0]].shape;
  if (read.size() < 2) return 0;
  const auto at = [&](DimId dim) { return p_.At(dim, synth::Binding::kCuda); };
  if (value.what != "conv" || value.node < 0) return 2 * Elements(id) * at(read.back());
  double weights = 0;  // the largest parameter is the kernel
  for (const synth::ValueId weight : graph_.nodes[static_cast<size_t>(value.node)].weights) {
    double elements = 1;
    for (const DimId dim : graph_.values[static_cast<size_t>(weight)].shape) elements *= at(dim);
    weights = std::max(weights, elements);
  }
  // Transposed ones go by the positions of what they read.
  const double positions =
      std::min(Elements(id) / at(value.shape[1]), Elements(value.operands[0]) / at(read[1]));
  return 2 * positions * weights;
}

bool CandidateWriter::Replays() const {
  if (language_ != Language::kTriton || !Allows("replay_graph") || candidate_.own_kernels == 0)
    return false;
  static const std::set<std::string> kHeld = {"view",      "matmul",    "conv",      "activation",
                                              "pointwise", "norm",      "pool",      "softmax",
                                              "resample",  "reduction", "attention", "shape"};
  // Microseconds of the host: a launch by Triton with what is allocated for it, calls of
  // PyTorch, and a replay. The device's rates are those of a large one.
  constexpr double kOwnLaunch = 40, kConv = 35, kCall = 15, kView = 4, kReplay = 20, kCopy = 8;
  constexpr double kBytesPerUs = 3e6, kFlopsPerUs = 5e7, kLeast = 2;
  const double bytes = graph_.precision == synth::Precision::kFp32 ? 4 : 2;
  // What a caller does between two calls hides so much of the host's time.
  constexpr double kHidden = 40;
  double host_us = 0, device_us = 0, replay_us = kReplay;
  for (const Plan::Step& step : plan_.steps) {
    double elements = 0, flops = 0, launches = 0;
    if (step.region >= 0) {
      const Region& region = plan_.regions[static_cast<size_t>(step.region)];
      if (region.outputs.empty()) continue;
      for (const auto& [id, placement] : region.placements)
        if (p_[id].kind == Kind::kLeaf || p_[id].kind == Kind::kOpaque) elements += Elements(id);
      if (const Id product = fused_[static_cast<size_t>(step.region)]; product >= 0)
        flops = OpaqueFlops(p_[product], product);
      for (const Id output : region.outputs) elements += 2 * Elements(output);
      launches = launches_.at(step.region);
      host_us += kOwnLaunch * launches;
    } else {
      const TensorValue& value = p_[step.value];
      if (value.kind != Kind::kOpaque) continue;
      if (value.own && std::find(fused_.begin(), fused_.end(), step.value) != fused_.end())
        continue;
      if (!value.effect && !kHeld.contains(value.what) && !templates_.contains(step.value))
        return false;
      if (value.what == "view" || value.view) {
        host_us += kView;
        continue;
      }
      elements = Elements(step.value);
      for (const Id operand : value.operands) elements += Elements(operand);
      if (value.what == "matmul" || value.what == "conv" || value.what == "attention")
        flops = OpaqueFlops(value, step.value);
      const bool own = value.own || templates_.contains(step.value);
      host_us += own ? kOwnLaunch : value.what == "conv" ? kConv : kCall;
      launches = 1;
    }
    device_us += std::max(kLeast * launches, bytes * elements / kBytesPerUs + flops / kFlopsPerUs);
  }
  // Inputs are copied into the graph's, results out of it.
  const auto copied = [&](double elements) {
    device_us += kLeast + 2 * bytes * elements / kBytesPerUs;
    replay_us += kCopy;
  };
  for (const synth::ValueId input : graph_.inputs) {
    double elements = 1;
    for (const DimId dim : graph_.values[static_cast<size_t>(input)].shape)
      elements *= p_.At(dim, synth::Binding::kCuda);
    copied(elements);
  }
  for (const Id output : p_.outputs) copied(Elements(output));
  return host_us > kHidden + device_us && host_us > kCall + replay_us;
}

std::string CandidateWriter::Replay(const std::string& inputs) const {
  std::string shapes, copies, clones;
  for (size_t i = 0; i < task_.parts.inputs.size(); ++i) {
    const std::string& input = task_.parts.inputs[i];
    shapes += input + ".shape, ";
    copies += fmt::format("        self.inputs[{}].copy_({})\n", i, input);
    clones += fmt::format("{}{}.clone()", i ? ", " : "", input);
  }
  std::string result = "self.result.clone()";
  if (task_.parts.result == "dict")
    result = "{name: value.clone() for name, value in self.result.items()}";
  else if (task_.parts.result == "list")
    result = "[value.clone() for value in self.result]";
  else if (p_.outputs.size() > 1)
    result = "tuple(value.clone() for value in self.result)";
  // The first run, which is not captured, must leave no trace.
  const bool pure = p_.effects.empty() && p_.updates.empty();
  const std::string save =
      pure ? "" : "            state = [value.clone() for value in self.buffers()]\n";
  const std::string restore = pure
                                  ? ""
                                  : "            for value, before in zip(self.buffers(), state):\n"
                                    "                value.copy_(before)\n";
  return fmt::format(R"(
    key = None
    weights = ()

    def forward(self, {0}):
        if not {1}.is_cuda:
            return self.compute({0})
        # The graph reads weights where they lie: other places or other shapes need another one.
        key = [{2}*map(torch.Tensor.data_ptr, self.weights)]
        if key != self.key:
            self.capture({0})
{3}        self.graph.replay()
        return {4}

    def capture(self, {0}):
        self.weights = [*self.parameters(), *self.buffers()]
        self.key = [{2}*map(torch.Tensor.data_ptr, self.weights)]
        with torch.inference_mode(False), torch.no_grad():
            self.inputs = [{5}]
{6}            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self.compute(*self.inputs)  # compiles, and lets libraries choose
            torch.cuda.current_stream().wait_stream(stream)
{7}            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.result = self.compute(*self.inputs)
)",
                     inputs, task_.parts.inputs[0], shapes, copies, result, clones, save, restore);
}

}  // namespace davinci::teacher
