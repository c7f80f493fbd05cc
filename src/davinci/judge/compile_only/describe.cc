#include "davinci/judge/compile_only/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "davinci/base/json_text.h"
#include "davinci/judge/compile_only/blocked.h"
#include "davinci/judge/roles/runner_replies.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr size_t kMaxReportBytes = 64 << 10;

// {"set", "own"} of sizes as text.
std::string ShrunkSizesText(const json& shrunk) {
  std::vector<std::string> sizes;
  for (const auto& [name, value] : shrunk.at("set").items())
    sizes.push_back(fmt::format("{} = {} instead of {}", name, JsonText(value),
                                JsonText(shrunk.at("own").at(name))));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

}  // namespace

void DescribeCompileOnly(Trial& trial, const json& report, Evaluation* evaluation) {
  const json* shrunk = ShrunkSizes(trial.session.get());
  if (!trial.report.evidence.compile_only) trial.report.evidence.compile_only.emplace();
  CompileOnlyEvidence& evidence = *trial.report.evidence.compile_only;
  evidence.arch = fmt::format("sm_{}", trial.job.compile_only_arch);
  if (JsonText(report).size() <= kMaxReportBytes) evidence.report = report;
  evidence.sizes = shrunk != nullptr ? "smaller than the task's own" : "cpu";
  if (shrunk != nullptr) {
    evidence.shrunk = *shrunk;
    evaluation->AddLabel(Label::kSmallerSizes);
  }
  if (trial.session && trial.session->fitted.contains("bytes"))
    evidence.bytes = (shrunk != nullptr ? *shrunk : trial.session->fitted)["bytes"];
  evidence.not_checked = {"time",
                          "the task's cuda sizes",
                          "races and memory ordering between the threads of a program",
                          "the order in which a device adds",
                          "the work of C++ and CUDA C++",
                          "streams, graphs and the driver"};
  for (const char* key : {"import_ms"}) evaluation->times.erase(key);
  evaluation->candidate_time.reset();
  evaluation->baseline_time.reset();
  evaluation->speedup.reset();
  evaluation->AddLabel(Label::kCompileOnly);

  const auto built = report.get<from_runner::CompiledOnly>();
  const bool only_pytorch =
      !trial.compile_only.blocked && evaluation->correct == true && built.interpreted == 0;
  if (only_pytorch)
    trial.compile_only.blocked = {LabelText(Label::kNoOwnKernel),
                                  "its forward ran PyTorch on CPU tensors, and nothing of its own"};
  evidence.blocked = trial.compile_only.blocked;
  if (evidence.blocked && !trial.report.failure) evaluation->correct.reset();

  std::vector<std::string> checks = {"parsed"};
  if (trial.candidate.loaded && !trial.candidate.loaded->failure) checks.emplace_back("imported");
  if (trial.candidate.timed.built_variant >= 0) checks.emplace_back("constructed");
  if (built.compiled > 0)
    checks.push_back(fmt::format("{} native module(s) compiled", built.compiled));
  if (built.triton > 0)
    checks.push_back(fmt::format("{} Triton kernel variant(s) compiled to cubin, {} interpreted",
                                 built.triton, built.interpreted));
  if (evaluation->correct)
    checks.emplace_back(*evaluation->correct ? "outputs correct on CPU tensors"
                                             : "outputs compared");
  evidence.ran = checks;
  evaluation->evidence["compile_only"] = ToJson(evidence);
  if (trial.report.failure && built.tf32 && IsWrongAnswer(trial.report.failure->outcome))
    evaluation->message +=
        "; tl.dot of fp32 blocks is TF32, input_precision=\"ieee\" or \"tf32x3\" is more precise";
  if (trial.report.failure) return;

  evaluation->outcome = Outcome::kCompileOnly;
  const char* what = built.interpreted > 0               ? "compiled and interpreted, never timed"
                     : built.triton + built.compiled > 0 ? "compiled, never run or timed"
                     : only_pytorch                      ? "run on CPU tensors, never timed"
                                                         : "loaded, never run or timed";
  evaluation->message = fmt::format("compile only: {} ({})", what, fmt::join(checks, ", "));
  if (shrunk != nullptr)
    evaluation->message +=
        fmt::format("; at smaller sizes than the task's own: {}", ShrunkSizesText(*shrunk));
  if (evidence.blocked)
    evaluation->message += fmt::format("; correctness not decided: {}: {}",
                                       evidence.blocked->reason, evidence.blocked->detail);
}

}  // namespace davinci::judge
