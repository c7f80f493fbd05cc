#include "davinci/judge/compile_only/compile_only.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "davinci/base/json_text.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/check/checks.h"
#include "davinci/judge/inspect/collect_evidence.h"
#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/candidate_process.h"
#include "davinci/judge/trial/contained.h"
#include "davinci/judge/trial/reference.h"
#include "davinci/judge/trial/start_roles.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kReportTimeoutSeconds = 10;
constexpr size_t kMaxReportBytes = 64 << 10;
constexpr const char* kDistributions[] = {"task", "heavy_tailed", "log_uniform"};
constexpr const char* kTooSlow = "too slow to interpret";
constexpr const char* kNoReference = "the reference does not run here";

// What the candidate's process says may come in any shape.
std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t Count(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

bool IsWrongAnswer(Outcome outcome) {
  return outcome == Outcome::kMismatch || outcome == Outcome::kNondeterministic ||
         outcome == Outcome::kWrongShape || outcome == Outcome::kWrongDtype;
}

// Failures that another size of the inputs might not lead to.
bool MayBeDueToSize(Outcome outcome) {
  return IsWrongAnswer(outcome) || outcome == Outcome::kRuntimeError ||
         outcome == Outcome::kLaunchError || outcome == Outcome::kLoadError ||
         outcome == Outcome::kCompileError;
}

std::string ShrunkSizesText(const Session& session) {
  std::vector<std::string> sizes;
  for (const auto& [name, value] : ShrunkSizes(&session)->at("set").items())
    sizes.push_back(fmt::format("{} = {} instead of {}", name, JsonText(value),
                                JsonText(ShrunkSizes(&session)->at("own").at(name))));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

// {"kernels", "builds", "blocked", "device_redirected"}; the last known one when the process is
// gone.
json CompileOnlyReport(Trial& trial) {
  if (trial.candidate.timed.runner && !trial.candidate.timed.runner->process().WaitForDeath()) {
    Answer answer =
        trial.candidate.timed.runner->frozen()
            ? trial.candidate.timed.runner->AskFrozen({{"op", "compile_only"}},
                                                      kReportTimeoutSeconds)
            : trial.candidate.timed.runner->Ask({{"op", "compile_only"}}, kReportTimeoutSeconds,
                                                Outcome::kRuntimeError);
    if (!answer.failure && answer.ok.is_object()) trial.compile_only.report = answer.ok;
  }
  return trial.compile_only.report;
}

// True when the failure only means that the check cannot go further here; notes why.
bool StoppedForWantOfDevice(Trial& trial, const Failure& failure, int variant) {
  const bool own_size = variant > 0 || ShrunkSizes(trial.session.get()) == nullptr;
  if (own_size && IsWrongAnswer(failure.outcome)) return false;
  if (failure.outcome == Outcome::kTimeout) {
    // Nothing is known about how long it would take on a device.
    trial.compile_only.blocked = {kTooSlow, failure.message};
    return true;
  }
  const json report = CompileOnlyReport(trial);
  const auto blocked = report.find("blocked");
  const bool loaded = trial.candidate.loaded && !trial.candidate.loaded->failure;
  if (blocked == report.end() || !blocked->is_object()) {
    if (own_size || !loaded || !MayBeDueToSize(failure.outcome) ||
        report.value("any_size", json()) == true)
      return false;
    trial.compile_only.blocked = {
        "it fails at sizes that are not the task's own",
        fmt::format("{}: {}", OutcomeName(failure.outcome), ElideMiddle(failure.message, 1000))};
    return true;
  }
  trial.compile_only.blocked = {ElideMiddle(Text(*blocked, "reason"), 100),
                                ElideMiddle(Text(*blocked, "detail"), 1000)};
  return true;
}

// True when the oracle went no further because the task is too large here (it may have been killed
// for that), or does not take the sizes that we have set; notes why.
bool StoppedBySize(Trial& trial, const Status& status) {
  if (!trial.session || !trial.session->oracle) return false;
  const bool not_its_own =
      ShrunkSizes(trial.session.get()) != nullptr && status.code() == StatusCode::kInvalidArgument;
  if (status.code() != StatusCode::kResourceExhausted && !not_its_own &&
      !trial.session->oracle->process().WaitForDeath())
    return false;
  trial.session->spoilt = true;
  trial.compile_only.blocked = {kNoReference, ElideMiddle(status.message(), 1000)};
  return true;
}

// The candidate is compiled and imported all the same.
Result<bool> UnlessTooLarge(Trial& trial, Result<bool> step) {
  if (step.ok() || !StoppedBySize(trial, step.status())) return step;
  if (const Answer& loaded = AwaitCandidate(trial); loaded.failure)
    return Verdict(trial, *loaded.failure);
  return false;
}

Result<bool> CheckCompileOnly(Trial& trial) {
  CompileOnlyEvidence& found = trial.report.evidence.compile_only.emplace();
  found.compared.emplace();
  const int num_variants = static_cast<int>(trial.task.config.variants.size());
  // The declared variants, then the task's own size for the cpu target.
  for (int i = 1; i <= num_variants + 1; ++i) {
    const int variant = i <= num_variants ? i : 0;
    if (trial.candidate.timed.built_variant != variant) {
      DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(trial, &trial.candidate.timed, variant));
      if (failure && !StoppedForWantOfDevice(trial, *failure, variant))
        return Verdict(trial, *failure);
      if (failure) return true;
    }
    for (const char* distribution : kDistributions) {
      // One distribution is enough for the own size when the variants have seen all of them.
      if (variant == 0 && num_variants > 0 && distribution != kDistributions[0]) break;
      const auto checked = CheckOne(trial, {distribution}, variant);
      if (!checked.ok() && !StoppedBySize(trial, checked.status())) return checked.status();
      if (checked.ok() && !*checked) {
        found.compared->push_back({variant, distribution});
        continue;
      }
      if (checked.ok() && !StoppedForWantOfDevice(trial, checked->value(), variant))
        return Verdict(trial, checked->value());
      const std::string& reason = trial.compile_only.blocked.value().reason;
      const bool only_large =
          variant == 0 && num_variants > 0 && (reason == kTooSlow || reason == kNoReference);
      if (!only_large) return true;
      found.not_compared = {0, trial.compile_only.blocked.value().detail};
      trial.compile_only.blocked.reset();
      break;
    }
  }
  trial.report.evaluation.correct = true;
  return true;
}

// The sentence for people, and what was done as evidence. Whatever the report claims, it cannot
// make the verdict better.
void DescribeCompileOnly(Trial& trial, const json& report, Evaluation* evaluation) {
  if (!trial.report.evidence.compile_only) trial.report.evidence.compile_only.emplace();
  CompileOnlyEvidence& evidence = *trial.report.evidence.compile_only;
  evidence.arch = fmt::format("sm_{}", trial.job.compile_only_arch);
  if (JsonText(report).size() <= kMaxReportBytes) evidence.report = report;
  evidence.sizes =
      ShrunkSizes(trial.session.get()) != nullptr ? "smaller than the task's own" : "cpu";
  if (ShrunkSizes(trial.session.get()) != nullptr) {
    evidence.shrunk = *ShrunkSizes(trial.session.get());
    evaluation->AddLabel(Label::kSmallerSizes);
  }
  if (trial.session && trial.session->fitted.contains("bytes"))
    evidence.bytes =
        (ShrunkSizes(trial.session.get()) != nullptr ? *ShrunkSizes(trial.session.get())
                                                     : trial.session->fitted)["bytes"];
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

  bool tf32 = false;
  int64_t triton = 0;
  int64_t interpreted = 0;
  int64_t compiled = 0;
  if (const auto kernels = report.find("kernels"); kernels != report.end() && kernels->is_array())
    for (const json& kernel : *kernels) {
      if (!kernel.is_object()) continue;
      ++triton;
      if (Count(kernel, "interpreted") > 0) ++interpreted;
      tf32 = tf32 || Text(kernel, "fp32_products") == "TF32";
    }
  if (const auto builds = report.find("builds"); builds != report.end() && builds->is_array())
    for (const json& build : *builds)
      if (build.is_object() && build.value("ok", json()) == true) ++compiled;

  const bool only_pytorch =
      !trial.compile_only.blocked && evaluation->correct == true && interpreted == 0;
  if (only_pytorch)
    trial.compile_only.blocked = {LabelText(Label::kNoOwnKernel),
                                  "its forward ran PyTorch on CPU tensors, and nothing of its own"};
  evidence.blocked = trial.compile_only.blocked;
  if (evidence.blocked && !trial.report.failure) evaluation->correct.reset();

  std::vector<std::string> checks = {"parsed"};
  if (trial.candidate.loaded && !trial.candidate.loaded->failure) checks.emplace_back("imported");
  if (trial.candidate.timed.built_variant >= 0) checks.emplace_back("constructed");
  if (compiled > 0) checks.push_back(fmt::format("{} native module(s) compiled", compiled));
  if (triton > 0)
    checks.push_back(fmt::format("{} Triton kernel variant(s) compiled to cubin, {} interpreted",
                                 triton, interpreted));
  if (evaluation->correct)
    checks.emplace_back(*evaluation->correct ? "outputs correct on CPU tensors"
                                             : "outputs compared");
  evidence.ran = checks;
  evaluation->evidence["compile_only"] = ToJson(evidence);
  if (trial.report.failure && tf32 && IsWrongAnswer(trial.report.failure->outcome))
    evaluation->message +=
        "; tl.dot of fp32 blocks is TF32, input_precision=\"ieee\" or \"tf32x3\" is more precise";
  if (trial.report.failure) return;

  evaluation->outcome = Outcome::kCompileOnly;
  const char* what = interpreted > 0         ? "compiled and interpreted, never timed"
                     : triton + compiled > 0 ? "compiled, never run or timed"
                     : only_pytorch          ? "run on CPU tensors, never timed"
                                             : "loaded, never run or timed";
  evaluation->message = fmt::format("compile only: {} ({})", what, fmt::join(checks, ", "));
  if (ShrunkSizes(trial.session.get()) != nullptr)
    evaluation->message +=
        fmt::format("; at smaller sizes than the task's own: {}", ShrunkSizesText(*trial.session));
  if (evidence.blocked)
    evaluation->message += fmt::format("; correctness not decided: {}: {}",
                                       evidence.blocked->reason, evidence.blocked->detail);
}

Result<Evaluation> RunCompileOnlySteps(Trial& trial) {
  BeginStage(trial, "starting");
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, StartRoles(trial));
  if (go_on) {
    BeginStage(trial, "loading");
    DAVINCI_ASSIGN_OR_RETURN(go_on, UnlessTooLarge(trial, LoadReference(trial)));
  }
  if (go_on) {
    BeginStage(trial, kBuildingStage);
    DAVINCI_ASSIGN_OR_RETURN(go_on, UnlessTooLarge(trial, LoadCandidate(trial)));
  }
  if (trial.report.failure && StoppedForWantOfDevice(trial, *trial.report.failure, 0))
    trial.report.failure.reset();
  if (go_on) {
    BeginStage(trial, "interpreting");
    trial.report.evidence.checks.emplace();
    if (auto failure = trial.candidate.timed.runner->StartCalls())
      DAVINCI_RETURN_IF_ERROR(Verdict(trial, *failure).status());
    if (!trial.report.failure)
      DAVINCI_RETURN_IF_ERROR(UnlessTooLarge(trial, CheckCompileOnly(trial)).status());
  }
  BeginStage(trial, "concluding");
  json report = CompileOnlyReport(trial);
  trial.inputs.last_args.clear();  // nothing is profiled
  CollectEvidence(trial);
  BeginStage(trial, "");
  Evaluation evaluation = Conclude(trial);
  DescribeCompileOnly(trial, report, &evaluation);
  return evaluation;
}

bool WantsSmallerSizes(const Evaluation& evaluation, int attempt) {
  const auto next = static_cast<size_t>(attempt) + 1;
  const json& found = evaluation.evidence.at("compile_only");
  if (next >= std::size(kShrinkTo) || Count(found, "bytes") <= kShrinkTo[next]) return false;
  const std::string reason = Text(found.value("blocked", json::object()), "reason");
  return reason == kTooSlow || reason == kNoReference ||
         evaluation.outcome == Outcome::kOutOfMemory;
}

Result<Evaluation> RunOnce(const JudgeContext& context, const Job& job, const Protocol& protocol) {
  Trial trial(context, job, protocol);
  return Contained(trial, RunCompileOnlySteps);
}

}  // namespace

Result<Evaluation> EvaluateCompileOnly(const JudgeContext& context, Job job,
                                       const Protocol& protocol) {
  auto evaluation = RunOnce(context, job, protocol);
  while (evaluation.ok() && WantsSmallerSizes(*evaluation, job.compile_only_try)) {
    ++job.compile_only_try;
    auto smaller = RunOnce(context, job, protocol);
    // What is known at a larger size is more than nothing.
    if (!smaller.ok()) break;
    const json& found = smaller->evidence.at("compile_only");
    if (Text(found.value("blocked", json::object()), "reason") == kNoReference) break;
    evaluation = std::move(smaller);
  }
  return evaluation;
}

}  // namespace davinci::judge
