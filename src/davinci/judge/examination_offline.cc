// An examination of a CUDA candidate on a machine without a GPU: compiled for the target
// architecture, interpreted on CPU tensors where that is possible, compared by the same oracle as
// ever, never timed. The CPU is the target underneath, so the task's cpu sizes apply; its declared
// shape variants come first, because they are small.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "davinci/base/json_text.h"
#include "davinci/judge/examination.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kReportTimeoutSeconds = 10;
constexpr size_t kMaxReportBytes = 64 << 10;
constexpr const char* kDistributions[] = {"own", "signed", "magnitudes"};

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

}  // namespace

json Examination::OfflineOptions() const {
  return {{"arch", job_.offline_arch}, {"seconds", protocol_.interpreter_budget_seconds}};
}

// {"kernels", "builds", "blocked", "device_redirected"}; the last known one when the process is
// gone.
json Examination::OfflineReport() {
  if (candidate_.runner && !candidate_.runner->process().WaitForDeath()) {
    Answer answer = candidate_.runner->frozen()
                        ? candidate_.runner->AskFrozen({{"op", "offline"}}, kReportTimeoutSeconds)
                        : candidate_.runner->Ask({{"op", "offline"}}, kReportTimeoutSeconds,
                                                 Outcome::kRuntimeError);
    if (!answer.failure && answer.ok.is_object()) offline_report_ = answer.ok;
  }
  return offline_report_;
}

// True when the failure only means that the check cannot go further here; notes why.
bool Examination::StoppedForWantOfDevice(const Failure& failure) {
  if (IsWrongAnswer(failure.outcome)) return false;
  if (failure.outcome == Outcome::kTimeout) {
    // Nothing is known about how long it would take on a device.
    offline_blocked_ = {{"reason", "too slow to interpret"}, {"detail", failure.message}};
    return true;
  }
  const json report = OfflineReport();
  const auto blocked = report.find("blocked");
  if (blocked == report.end() || !blocked->is_object()) return false;
  offline_blocked_ = {{"reason", ElideMiddle(Text(*blocked, "reason"), 100)},
                      {"detail", ElideMiddle(Text(*blocked, "detail"), 1000)}};
  return true;
}

Result<bool> Examination::CheckWithoutDevice() {
  json& compared = evaluation_.evidence["without_device"]["compared"] = json::array();
  const int num_variants = static_cast<int>(task_.config.variants.size());
  // The declared variants, then the task's own size for the cpu target.
  for (int i = 1; i <= num_variants + 1; ++i) {
    const int variant = i <= num_variants ? i : 0;
    if (candidate_.built_variant != variant) {
      DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&candidate_, variant));
      if (failure && !StoppedForWantOfDevice(*failure)) return Verdict(*failure);
      if (failure) return true;
    }
    for (const char* distribution : kDistributions) {
      // One distribution is enough for the own size when the variants have seen all of them.
      if (variant == 0 && num_variants > 0 && distribution != kDistributions[0]) break;
      DAVINCI_ASSIGN_OR_RETURN(auto failure, CheckOne({distribution}, variant));
      if (!failure) {
        compared.push_back({{"variant", variant}, {"distribution", distribution}});
        continue;
      }
      if (IsWrongAnswer(failure->outcome)) evaluation_.correct = false;
      if (!StoppedForWantOfDevice(*failure)) return Verdict(*failure);
      const bool only_large =
          variant == 0 && num_variants > 0 && offline_blocked_["reason"] == "too slow to interpret";
      if (!only_large) return true;
      evaluation_.evidence["without_device"]["not_compared"] = {
          {"variant", 0}, {"because", offline_blocked_["detail"]}};
      offline_blocked_ = nullptr;
      break;
    }
  }
  evaluation_.correct = true;
  return true;
}

Result<Evaluation> Examination::RunWithoutDevice() {
  return Contained(&Examination::ExamineWithoutDevice);
}

Result<Evaluation> Examination::ExamineWithoutDevice() {
  Stage("starting");
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, StartRoles());
  if (go_on) {
    Stage("loading");
    DAVINCI_ASSIGN_OR_RETURN(go_on, LoadReference());
  }
  if (go_on) {
    Stage("building");
    DAVINCI_ASSIGN_OR_RETURN(go_on, LoadCandidate());
  }
  if (go_on) {
    Stage("interpreting");
    evaluation_.evidence["checks"] = json::array();
    if (auto failure = candidate_.runner->StartCalls())
      DAVINCI_RETURN_IF_ERROR(Verdict(*failure).status());
    if (!failure_) DAVINCI_RETURN_IF_ERROR(CheckWithoutDevice().status());
  }
  if (failure_ && StoppedForWantOfDevice(*failure_)) failure_.reset();
  Stage("concluding");
  json report = OfflineReport();
  last_args_.clear();  // nothing is profiled
  CollectEvidence();
  Stage("");
  Evaluation evaluation = Conclude();
  DescribeWithoutDevice(report, &evaluation);
  return evaluation;
}

// The sentence for people, and what was done as evidence. Whatever the report claims, it cannot
// make the verdict better.
void Examination::DescribeWithoutDevice(const json& report, Evaluation* evaluation) const {
  json& evidence = evaluation->evidence["without_device"];
  evidence["arch"] = fmt::format("sm_{}", job_.offline_arch);
  if (JsonText(report).size() <= kMaxReportBytes) evidence["report"] = report;
  evidence["sizes"] = "cpu";
  evidence["not_checked"] = {"time",
                             "the task's cuda sizes",
                             "races and memory ordering between threads",
                             "rounding of tensor cores (the interpreter multiplies in float32)",
                             "the work of CUDA C++ kernels",
                             "streams, graphs and the driver"};
  if (!offline_blocked_.is_null()) evidence["blocked"] = offline_blocked_;
  for (const char* key : {"import_ms"}) evaluation->times.erase(key);
  evaluation->candidate_time.reset();
  evaluation->baseline_time.reset();
  evaluation->speedup.reset();
  evaluation->AddLabel("checked without device");

  int64_t triton = 0;
  int64_t interpreted = 0;
  int64_t compiled = 0;
  if (const auto kernels = report.find("kernels"); kernels != report.end() && kernels->is_array())
    for (const json& kernel : *kernels) {
      if (!kernel.is_object()) continue;
      ++triton;
      if (Count(kernel, "interpreted") > 0) ++interpreted;
    }
  if (const auto builds = report.find("builds"); builds != report.end() && builds->is_array())
    for (const json& build : *builds)
      if (build.is_object() && build.value("ok", json()) == true) ++compiled;

  std::vector<std::string> checks = {"parsed"};
  if (candidate_.built_variant >= 0) checks.insert(checks.end(), {"imported", "constructed"});
  if (compiled > 0) checks.push_back(fmt::format("{} native module(s) compiled", compiled));
  if (triton > 0)
    checks.push_back(fmt::format("{} Triton kernel variant(s) compiled to cubin, {} interpreted",
                                 triton, interpreted));
  if (evaluation->correct)
    checks.emplace_back(*evaluation->correct ? "outputs correct on CPU tensors"
                                             : "outputs compared");
  evidence["ran"] = checks;
  if (failure_) return;

  evaluation->outcome = Outcome::kCheckedWithoutDevice;
  if (!offline_blocked_.is_null()) evaluation->correct.reset();
  const char* what = interpreted > 0         ? "compiled and interpreted, never timed"
                     : triton + compiled > 0 ? "compiled, never run or timed"
                     : evaluation->correct   ? "run on CPU tensors, never timed"
                                             : "loaded, never run or timed";
  evaluation->message =
      fmt::format("checked without device: {} ({})", what, fmt::join(checks, ", "));
  if (!offline_blocked_.is_null())
    evaluation->message +=
        fmt::format("; correctness not decided: {}: {}", Text(offline_blocked_, "reason"),
                    Text(offline_blocked_, "detail"));
}

}  // namespace davinci::judge
