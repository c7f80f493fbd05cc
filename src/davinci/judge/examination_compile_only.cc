// An examination of a CUDA candidate on a machine without a GPU: compiled for the target
// architecture, interpreted on CPU tensors where that is possible, compared by the same oracle as
// ever, never timed. The CPU is the target underneath, so the task's cpu sizes apply; its declared
// shape variants come first, because they are small. Where the task's own size is too large, the
// oracle sets its module globals to smaller values (smaller.py), and an answer that is wrong there
// decides nothing: a candidate may be written for one size.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "davinci/base/json_text.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/examination.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kReportTimeoutSeconds = 10;
constexpr size_t kMaxReportBytes = 64 << 10;
constexpr const char* kDistributions[] = {"task", "heavy_tailed", "log_uniform"};
constexpr const char* kTooSlow = "too slow to interpret";
constexpr const char* kNoReference = "the reference does not run here";
// Memory of each process: oracle, baseline, candidate.
constexpr int64_t kMemoryBytes = int64_t{4} << 30;
// Bytes of inputs, weights and outputs: the most that is drawn (the oracle holds some tens of times
// as much, in float64), and the sizes that a larger one is shrunk to, by try.
constexpr int64_t kMostBytes = int64_t{128} << 20;
constexpr int64_t kShrinkTo[] = {1 << 20, 1 << 20, 32 << 10};
// Truth takes the reference some tens of times, in float64.
constexpr double kForwardSeconds = 5;

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

bool WantsSmallerSizes(const Evaluation& evaluation, int attempt) {
  const auto next = static_cast<size_t>(attempt) + 1;
  const json& found = evaluation.evidence.at("compile_only");
  if (next >= std::size(kShrinkTo) || Count(found, "bytes") <= kShrinkTo[next]) return false;
  const std::string reason = Text(found.value("blocked", json::object()), "reason");
  return reason == kTooSlow || reason == kNoReference ||
         evaluation.outcome == Outcome::kOutOfMemory;
}

}  // namespace

Result<Evaluation> EvaluateCompileOnly(const JudgeContext& context, Job job,
                                       const Protocol& protocol) {
  auto evaluation = Examination(context, job, protocol).RunCompileOnly();
  while (evaluation.ok() && WantsSmallerSizes(*evaluation, job.compile_only_try)) {
    ++job.compile_only_try;
    auto smaller = Examination(context, job, protocol).RunCompileOnly();
    // What is known at a larger size is more than nothing.
    if (!smaller.ok()) break;
    const json& found = smaller->evidence.at("compile_only");
    if (Text(found.value("blocked", json::object()), "reason") == kNoReference) break;
    evaluation = std::move(smaller);
  }
  return evaluation;
}

int64_t Examination::MemoryBytes() const {
  return trial_.job.compile_only ? std::min(trial_.protocol.memory_bytes, kMemoryBytes)
                                 : trial_.protocol.memory_bytes;
}

void Examination::CompileOnlySpec(json* load) const {
  (*load)["call_seconds"] = std::min(kForwardSeconds, CallTimeout());
  (*load)["compile_only"] = {{"memory", MemoryBytes()},
                             {"own", trial_.job.compile_only_try == 0},
                             {"most", kMostBytes},
                             {"to", kShrinkTo[trial_.job.compile_only_try]}};
}

// {"set", "own", "bytes"} where the task's own size is not what is looked at; else null.
const json* Examination::Shrunk() const {
  if (!trial_.session) return nullptr;
  const auto found = trial_.session->fitted.find("shrunk");
  return found != trial_.session->fitted.end() && found->is_object() ? &*found : nullptr;
}

std::string Examination::ShrunkText() const {
  std::vector<std::string> sizes;
  for (const auto& [name, value] : Shrunk()->at("set").items())
    sizes.push_back(fmt::format("{} = {} instead of {}", name, JsonText(value),
                                JsonText(Shrunk()->at("own").at(name))));
  return fmt::format("{}", fmt::join(sizes, ", "));
}

json Examination::CompileOnlyOptions() const {
  return {{"arch", trial_.job.compile_only_arch},
          {"seconds", trial_.protocol.interpreter_budget_seconds}};
}

// {"kernels", "builds", "blocked", "device_redirected"}; the last known one when the process is
// gone.
json Examination::CompileOnlyReport() {
  if (trial_.candidate.timed.runner && !trial_.candidate.timed.runner->process().WaitForDeath()) {
    Answer answer =
        trial_.candidate.timed.runner->frozen()
            ? trial_.candidate.timed.runner->AskFrozen({{"op", "compile_only"}},
                                                       kReportTimeoutSeconds)
            : trial_.candidate.timed.runner->Ask({{"op", "compile_only"}}, kReportTimeoutSeconds,
                                                 Outcome::kRuntimeError);
    if (!answer.failure && answer.ok.is_object()) trial_.compile_only.report = answer.ok;
  }
  return trial_.compile_only.report;
}

// True when the failure only means that the check cannot go further here; notes why.
bool Examination::StoppedForWantOfDevice(const Failure& failure, int variant) {
  const bool own_size = variant > 0 || Shrunk() == nullptr;
  if (own_size && IsWrongAnswer(failure.outcome)) return false;
  if (failure.outcome == Outcome::kTimeout) {
    // Nothing is known about how long it would take on a device.
    trial_.compile_only.blocked = {kTooSlow, failure.message};
    return true;
  }
  const json report = CompileOnlyReport();
  const auto blocked = report.find("blocked");
  const bool loaded = trial_.candidate.loaded && !trial_.candidate.loaded->failure;
  if (blocked == report.end() || !blocked->is_object()) {
    if (own_size || !loaded || !MayBeDueToSize(failure.outcome) ||
        report.value("any_size", json()) == true)
      return false;
    trial_.compile_only.blocked = {
        "it fails at sizes that are not the task's own",
        fmt::format("{}: {}", OutcomeName(failure.outcome), ElideMiddle(failure.message, 1000))};
    return true;
  }
  trial_.compile_only.blocked = {ElideMiddle(Text(*blocked, "reason"), 100),
                                 ElideMiddle(Text(*blocked, "detail"), 1000)};
  return true;
}

// True when the oracle went no further because the task is too large here (it may have been killed
// for that), or does not take the sizes that we have set; notes why.
bool Examination::StoppedBySize(const Status& status) {
  if (!trial_.session || !trial_.session->oracle) return false;
  const bool not_its_own = Shrunk() != nullptr && status.code() == StatusCode::kInvalidArgument;
  if (status.code() != StatusCode::kResourceExhausted && !not_its_own &&
      !trial_.session->oracle->process().WaitForDeath())
    return false;
  trial_.session->spoilt = true;
  trial_.compile_only.blocked = {kNoReference, ElideMiddle(status.message(), 1000)};
  return true;
}

// The candidate is compiled and imported all the same.
Result<bool> Examination::UnlessTooLarge(Result<bool> step) {
  if (step.ok() || !StoppedBySize(step.status())) return step;
  if (const Answer& loaded = Loaded(); loaded.failure) return Verdict(*loaded.failure);
  return false;
}

Result<bool> Examination::CheckCompileOnly() {
  CompileOnlyEvidence& found = trial_.report.evidence.compile_only.emplace();
  found.compared.emplace();
  const int num_variants = static_cast<int>(trial_.task.config.variants.size());
  // The declared variants, then the task's own size for the cpu target.
  for (int i = 1; i <= num_variants + 1; ++i) {
    const int variant = i <= num_variants ? i : 0;
    if (trial_.candidate.timed.built_variant != variant) {
      DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&trial_.candidate.timed, variant));
      if (failure && !StoppedForWantOfDevice(*failure, variant)) return Verdict(*failure);
      if (failure) return true;
    }
    for (const char* distribution : kDistributions) {
      // One distribution is enough for the own size when the variants have seen all of them.
      if (variant == 0 && num_variants > 0 && distribution != kDistributions[0]) break;
      const auto checked = CheckOne({distribution}, variant);
      if (!checked.ok() && !StoppedBySize(checked.status())) return checked.status();
      if (checked.ok() && !*checked) {
        found.compared->push_back({variant, distribution});
        continue;
      }
      if (checked.ok() && !StoppedForWantOfDevice(checked->value(), variant))
        return Verdict(checked->value());
      const std::string& reason = trial_.compile_only.blocked.value().reason;
      const bool only_large =
          variant == 0 && num_variants > 0 && (reason == kTooSlow || reason == kNoReference);
      if (!only_large) return true;
      found.not_compared = {0, trial_.compile_only.blocked.value().detail};
      trial_.compile_only.blocked.reset();
      break;
    }
  }
  trial_.report.evaluation.correct = true;
  return true;
}

Result<Evaluation> Examination::RunCompileOnly() {
  return Contained(&Examination::ExamineCompileOnly);
}

Result<Evaluation> Examination::ExamineCompileOnly() {
  Stage("starting");
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, StartRoles());
  if (go_on) {
    Stage("loading");
    DAVINCI_ASSIGN_OR_RETURN(go_on, UnlessTooLarge(LoadReference()));
  }
  if (go_on) {
    Stage(kBuildingStage);
    DAVINCI_ASSIGN_OR_RETURN(go_on, UnlessTooLarge(LoadCandidate()));
  }
  if (trial_.report.failure && StoppedForWantOfDevice(*trial_.report.failure, 0))
    trial_.report.failure.reset();
  if (go_on) {
    Stage("interpreting");
    trial_.report.evidence.checks.emplace();
    if (auto failure = trial_.candidate.timed.runner->StartCalls())
      DAVINCI_RETURN_IF_ERROR(Verdict(*failure).status());
    if (!trial_.report.failure)
      DAVINCI_RETURN_IF_ERROR(UnlessTooLarge(CheckCompileOnly()).status());
  }
  Stage("concluding");
  json report = CompileOnlyReport();
  trial_.inputs.last_args.clear();  // nothing is profiled
  CollectEvidence();
  Stage("");
  Evaluation evaluation = Conclude();
  DescribeCompileOnly(report, &evaluation);
  return evaluation;
}

// The sentence for people, and what was done as evidence. Whatever the report claims, it cannot
// make the verdict better.
void Examination::DescribeCompileOnly(const json& report, Evaluation* evaluation) {
  if (!trial_.report.evidence.compile_only) trial_.report.evidence.compile_only.emplace();
  CompileOnlyEvidence& evidence = *trial_.report.evidence.compile_only;
  evidence.arch = fmt::format("sm_{}", trial_.job.compile_only_arch);
  if (JsonText(report).size() <= kMaxReportBytes) evidence.report = report;
  evidence.sizes = Shrunk() != nullptr ? "smaller than the task's own" : "cpu";
  if (Shrunk() != nullptr) {
    evidence.shrunk = *Shrunk();
    evaluation->AddLabel(Label::kSmallerSizes);
  }
  if (trial_.session && trial_.session->fitted.contains("bytes"))
    evidence.bytes = (Shrunk() != nullptr ? *Shrunk() : trial_.session->fitted)["bytes"];
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
      !trial_.compile_only.blocked && evaluation->correct == true && interpreted == 0;
  if (only_pytorch)
    trial_.compile_only.blocked = {
        LabelText(Label::kNoOwnKernel),
        "its forward ran PyTorch on CPU tensors, and nothing of its own"};
  evidence.blocked = trial_.compile_only.blocked;
  if (evidence.blocked && !trial_.report.failure) evaluation->correct.reset();

  std::vector<std::string> checks = {"parsed"};
  if (trial_.candidate.loaded && !trial_.candidate.loaded->failure) checks.emplace_back("imported");
  if (trial_.candidate.timed.built_variant >= 0) checks.emplace_back("constructed");
  if (compiled > 0) checks.push_back(fmt::format("{} native module(s) compiled", compiled));
  if (triton > 0)
    checks.push_back(fmt::format("{} Triton kernel variant(s) compiled to cubin, {} interpreted",
                                 triton, interpreted));
  if (evaluation->correct)
    checks.emplace_back(*evaluation->correct ? "outputs correct on CPU tensors"
                                             : "outputs compared");
  evidence.ran = checks;
  evaluation->evidence["compile_only"] = ToJson(evidence);
  if (trial_.report.failure && tf32 && IsWrongAnswer(trial_.report.failure->outcome))
    evaluation->message +=
        "; tl.dot of fp32 blocks is TF32, input_precision=\"ieee\" or \"tf32x3\" is more precise";
  if (trial_.report.failure) return;

  evaluation->outcome = Outcome::kCompileOnly;
  const char* what = interpreted > 0         ? "compiled and interpreted, never timed"
                     : triton + compiled > 0 ? "compiled, never run or timed"
                     : only_pytorch          ? "run on CPU tensors, never timed"
                                             : "loaded, never run or timed";
  evaluation->message = fmt::format("compile only: {} ({})", what, fmt::join(checks, ", "));
  if (Shrunk() != nullptr)
    evaluation->message += fmt::format("; at smaller sizes than the task's own: {}", ShrunkText());
  if (evidence.blocked)
    evaluation->message += fmt::format("; correctness not decided: {}: {}",
                                       evidence.blocked->reason, evidence.blocked->detail);
}

}  // namespace davinci::judge
