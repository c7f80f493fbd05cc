#include "davinci/judge/check/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "davinci/base/json_text.h"
#include "davinci/judge/roles/untrusted_json.h"
#include "davinci/judge/trial/candidate_process.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// One call with more CPU time than this while frozen means something woke the process. Not less:
// the kernel books the time of a thread that is just stopping up to a scheduler tick late. The
// median over all calls is held to a far tighter bound.
constexpr int64_t kMaxOutsideCpuNs = 20'000'000;
constexpr double kOverwrittenValue = 3.39e38;

// The part of an answer with this number, as the beginning of a sentence: what forward returned
// comes first, then the buffers that it writes to, then the inputs.
std::string WhereInAnswer(const VariantFacts& facts, size_t part, size_t num_parts) {
  const size_t num_outputs = facts.outputs.size();
  const size_t first_kept = num_outputs - std::min(num_outputs, facts.kept.size());
  if (part >= num_outputs) {
    const size_t at = part - num_outputs;
    return at < facts.left_in.size() ? fmt::format("input {} after the call: ", facts.left_in[at])
                                     : "an input after the call: ";
  }
  if (part >= first_kept)
    return fmt::format("buffer {} after the call: ", facts.kept[part - first_kept]);
  return num_parts > 1 ? fmt::format("output {}: ", part) : std::string();
}

Failure LateWrites() {
  return Broken(
      Rule::kLateWrites,
      "the outputs went on changing after forward returned: work was left running on the device");
}

Failure InputMutation(int input) {
  return Broken(
      Rule::kInputMutation,
      fmt::format("forward changed its input {}; the reference leaves inputs as they are", input));
}

// Where the inputs of the last call lie, in an arena of the oracle's.
to_oracle::Place InputsOf(const DrawnInputs& inputs, const Timed& timed) {
  return {timed.name, inputs.shift[static_cast<int>(timed.side)]};
}

}  // namespace

to_oracle::Verify VerifyRequest(const Trial& trial, const json& layout, const json& baseline_layout,
                                bool against_truth, bool samples_are_the_candidates) {
  to_oracle::Verify request = {
      .outputs = layout,
      .left = {InputsOf(trial.inputs, trial.candidate.timed),
               InputsOf(trial.inputs, trial.session->baseline)},
      .truth = against_truth,
      .settled = samples_are_the_candidates && trial.job.target == Target::kCuda};
  if (!baseline_layout.is_null()) request.baseline = baseline_layout;
  if (!trial.session->reference_mutates && !trial.task.config.inplace)
    request.intact = InputsOf(trial.inputs, trial.candidate.timed);
  return request;
}

to_oracle::Compare CompareRequest(const DrawnInputs& inputs, const Timed& timed,
                                  const json& layout) {
  return {.outputs = layout, .left = {InputsOf(inputs, timed), std::nullopt}};
}

std::optional<Failure> WhatBroke(const from_oracle::Verified& found) {
  if (found.late) return LateWrites();
  if (found.changed) return InputMutation(*found.changed);
  return std::nullopt;
}

std::optional<Failure> CheckOutside(const Trial& trial, const Timed& timed) {
  if (SharesProcess(trial) && timed.side == Side::kCandidate && !trial.job.compile_only)
    if (auto helpers = HelperProcesses(trial.candidate)) return helpers;
  if (timed.outside_cpu_ns.empty()) return std::nullopt;
  const int64_t worst = timed.outside_cpu_ns.back();
  if (worst <= kMaxOutsideCpuNs) return std::nullopt;
  return WorkedWhileStopped(1e-9 * static_cast<double>(worst));
}

Failure WorkedWhileStopped(double cpu_seconds) {
  return Broken(
      Rule::kWorkOutsideWindow,
      fmt::format("the candidate used {:.3f} ms of CPU time while it was stopped between calls",
                  1e3 * cpu_seconds));
}

Failure MismatchFailure(const Trial& trial, const json& comparison, const std::string& distribution,
                        int variant) {
  Failure failure;
  failure.outcome = Outcome::kMismatch;
  failure.evidence.mismatch = {comparison, distribution, variant, trial.weights.count};
  const json& outputs = comparison.at("outputs");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const json& o = outputs[i];
    if (o.value("passed", false)) continue;
    const std::string where = WhereInAnswer(
        trial.session->facts[static_cast<size_t>(variant)].value(), i, outputs.size());
    std::string shapes;
    if (variant > 0)
      shapes = fmt::format(" with {}",
                           JsonText(trial.task.config.variants[static_cast<size_t>(variant - 1)]));
    else if (ShrunkSizes(trial.session.get()) != nullptr)
      shapes = fmt::format(" with {}", JsonText(ShrunkSizes(trial.session.get())->at("set")));
    const std::string inputs =
        distribution == "task" ? "the task's own" : "\"" + distribution + "\"";
    if (o.value("wrong", int64_t{0}) == 0) {  // all values together, or none could be judged
      failure.message =
          fmt::format("{}on {} inputs{}: {}", where, inputs, shapes, o.value("text", "wrong"));
      break;
    }
    failure.message =
        fmt::format("{}{} of {} values are outside the tolerance on {} inputs{}", where,
                    o.value("wrong", int64_t{0}), o.value("elements", int64_t{0}), inputs, shapes);
    if (o.contains("first_wrong") && o["first_wrong"]["index"].is_array())
      failure.message +=
          fmt::format("; first at {}: expected {}, got {}", JsonText(o["first_wrong"]["index"]),
                      JsonText(o["first_wrong"]["expected"]), JsonText(o["first_wrong"]["got"]));
    if (o.contains("first_wrong") &&
        std::abs(NumberIn(o["first_wrong"], "got", 0) / kOverwrittenValue - 1) < 0.01)
      failure.message +=
          " (a part of what an earlier call returned: that was overwritten since, as a caller may)";
    if (o.contains("worst") && o["worst"]["index"].is_array())
      failure.message +=
          fmt::format("; worst at {}: error {}, allowed {}", JsonText(o["worst"]["index"]),
                      JsonText(o["worst"]["error"]), JsonText(o["worst"]["tolerance"]));
    break;
  }
  if (!trial.weights.right_since)
    failure.message +=
        "; its weights had been written to since it was last right, so if it keeps something "
        "computed from them: that has to be computed in every call, or kept together with their "
        "_version";
  return failure;
}

}  // namespace davinci::judge
