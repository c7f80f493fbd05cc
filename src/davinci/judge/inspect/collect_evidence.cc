#include "davinci/judge/inspect/collect_evidence.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/check/calls.h"
#include "davinci/judge/check/second_opinion.h"
#include "davinci/judge/roles/baseline_profiles.h"
#include "davinci/judge/roles/runner_failure.h"
#include "davinci/judge/roles/runner_replies.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/task_admission.h"
#include "davinci/judge/trial/trial_session.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// A forward that spends more than this share in library operators is labelled; above the second its
// own kernels hardly matter.
constexpr double kLibraryLabelShare = 0.1;
constexpr double kLowCoverageShare = 0.7;
// Time for one recorded call, its warm-up and the tools: a base, and a number of its own calls.
constexpr double kProfileSeconds = 10;
constexpr double kProfileCalls = 100;
// Time of calls on one input, each side.
constexpr double kHotSeconds = 0.02;
// Bytes of what the candidate's process wrote last, in the evidence.
constexpr size_t kTailBytes = 2000;

// {"name", "stage", "key", "sha256"} of each artifact; the cache hands out nothing else under a
// key.
json Binaries(const std::vector<json>& built, Machine* machine) {
  json binaries = json::array();
  for (json binary : built) {
    const std::string path = binary.at("path").get<std::string>();
    binary.erase("path");
    binary["name"] = std::filesystem::path(path).filename().string();
    if (const auto sha256 = machine->FileSha256(path)) binary["sha256"] = *sha256;
    binaries.push_back(std::move(binary));
  }
  return binaries;
}

// It holds the device meanwhile, and knows that nothing is timed any more: who dawdles now must not
// keep others waiting for as long as a first call may take.
double ProfileTimeout(const Trial& trial) {
  if (trial.job.compile_only)
    return CallTimeout(trial);  // interpreted: no evaluation waits for a device
  const double call = trial.report.evaluation.candidate_time
                          ? 1e-3 * trial.report.evaluation.candidate_time->median_ms
                          : 0;
  return std::min(CallTimeout(trial), kProfileSeconds + kProfileCalls * call);
}

// cpu: what a loop over one input shows, where caches hold it. Reported by the runners about
// themselves; for comparison with what people measure first, never for a verdict.
void CollectHotTimes(Trial& trial) {
  if (trial.job.target != Target::kCpu || trial.job.compile_only ||
      !trial.protocol.second_opinion || !trial.report.evaluation.candidate_time ||
      trial.candidate.timed.built_variant != 0 || trial.inputs.last_args.empty())
    return;
  double ms[2];
  for (const Timed* timed : {&trial.candidate.timed, &trial.session->baseline}) {
    const Answer answer = CallHot(trial.inputs, *timed, kHotSeconds, ProfileTimeout(trial));
    if (answer.failure) return;
    ms[static_cast<int>(timed->side)] = answer.ok.get<from_runner::Hot>().ms;
  }
  const auto candidate = Plausible(&trial.report, ms[static_cast<int>(Side::kCandidate)],
                                   1e3 * LongestWait(ProfileTimeout(trial)), "times.hot_ms");
  const double baseline = ms[static_cast<int>(Side::kBaseline)];
  if (candidate && *candidate > 0 && baseline > 0)
    trial.report.evaluation.times["hot_ms"] = {{"candidate", *candidate}, {"baseline", baseline}};
}

// Reported by the runner about itself: good for labels, never for a verdict.
void CollectProfile(Trial& trial) {
  if (trial.candidate.timed.built_variant != 0 || trial.inputs.last_args.empty()) return;
  // A profiler slows a process's launches for ever after, and others are timed in it.
  if (trial.protocol.staged && trial.job.target == Target::kCuda) return;
  const auto request = [&](Side side) {
    return to_runner::Profile{trial.inputs.last_args, trial.inputs.shift[static_cast<int>(side)],
                              trial.protocol.profile_warmup_seconds};
  };
  Answer profile =
      trial.candidate.timed.runner->AskFrozen(request(Side::kCandidate), ProfileTimeout(trial));
  if (profile.failure) {
    trial.report.evidence.profile = {{"unavailable", profile.failure->message}};
    trial.report.evaluation.AddLabel(Label::kNotProfiled);
    return;
  }
  trial.report.evidence.profile = profile.ok;
  if (trial.job.target == Target::kCuda) {
    // Device time decides between kernels, end-to-end time for the user: both are reported.
    json known = trial.context.profiles->Of(SessionKey(trial));
    if (known.is_null() && trial.protocol.profile_baseline) {
      if (trial.job.baseline == "eager") {  // the oracle runs the same module
        auto asked = trial.session->oracle->Ask(
            to_oracle::Profile{trial.secret.Next() >> 1, trial.protocol.profile_warmup_seconds});
        if (asked.ok()) known = asked->ok;
      } else {
        Answer baseline =
            trial.session->baseline.runner->AskFrozen(request(Side::kBaseline), CallTimeout(trial));
        // What records a process's launches slows them for ever after: no yardstick any more.
        trial.session->spoilt = true;
        if (!baseline.failure) known = baseline.ok;
      }
      if (!known.is_null()) trial.context.profiles->Keep(SessionKey(trial), known);
    }
    const auto busy = [](const json& report) {
      const auto ms = report.get<from_runner::Profiled>().busy_ms;
      return ms ? json(*ms) : json();
    };
    trial.report.evaluation.times["device_ms"] = {{"candidate", busy(profile.ok)},
                                                  {"baseline", busy(known)}};
  }
  auto [_, share, top] = profile.ok.get<from_runner::Profiled>();
  if (top.empty() && trial.job.target == Target::kCuda) top = "library kernels";
  // Nothing was compiled for it: what is no operator is Python, or native code of unknown origin,
  // e.g. a library's function called by its address.
  if (trial.job.target == Target::kCpu && !trial.job.compile_only &&
      trial.report.evidence.candidate_libraries.value().empty()) {
    if (share < kLibraryLabelShare) trial.report.evaluation.AddLabel(Label::kNoOwnKernel);
    share = top.empty() ? 0 : 1;
  }
  if (share >= kLibraryLabelShare && !top.empty())
    trial.report.evaluation.AddLabel(Label::kVendorOperator, {top});
  if (share >= kLowCoverageShare) trial.report.evaluation.AddLabel(Label::kLowCoverage);
}

}  // namespace

void CollectEvidence(Trial& trial) {
  if (trial.candidate.timed.runner) {
    worker::Process& process = trial.candidate.timed.runner->process();
    trial.report.evidence.sandbox = trial.candidate.timed.runner->link().sandbox_report();
    const int64_t said = process.OutputBytes() - trial.candidate.said_before;
    trial.report.evidence.output_bytes = said;
    if (const std::string tail = process.OutputTail(); !tail.empty() && said > 0)
      trial.report.evidence.output_tail = ElideMiddle(tail, kTailBytes);
    if (!process.WaitForDeath() && trial.report.evaluation.correct == true) {
      trial.report.evidence.threads = process.NumThreads();
      std::vector<std::string>& libraries = trial.report.evidence.candidate_libraries.emplace();
      const std::string cache = CacheDir("build").ok() ? CacheDir("build")->string() : "";
      for (const std::string& path : process.MappedLibraries())
        if (path.starts_with(cache))
          libraries.push_back(std::filesystem::path(path).filename().string());
      const bool profiled =
          !trial.protocol.staged && trial.job.target == Target::kCuda && !trial.job.compile_only;
      if (profiled)  // others may be timed meanwhile
        (void)trial.candidate.timed.runner->AskFrozen(to_runner::WarmProfiler{},
                                                      ProfileTimeout(trial));
      if (!ShareDevice(trial).ok()) return;
      CollectHotTimes(trial);
      CollectProfile(trial);
      for (const std::string& name : trial.context.machine->VendorLibraries(process))
        trial.report.evaluation.AddLabel(Label::kVendorLibrary, {name});
      if (!ShareDevice(trial).ok()) return;
      ProbeNonfinite(trial);
    }
  }
  if (trial.candidate.timed.runner &&
      !trial.candidate.timed.runner->link().compiles().built().empty())
    trial.report.evaluation.provenance["binaries"] =
        Binaries(trial.candidate.timed.runner->link().compiles().built(), trial.context.machine);
  LearnTask(trial);
  trial.report.evidence.admission = trial.admission;
  for (const std::string& tag : TaskTags(trial.task, trial.admission))
    trial.report.evaluation.AddLabel(Label::kTaskTag, {tag});
  if (trial.protocol.published) trial.report.evaluation.AddLabel(Label::kPublishedProtocol);
  if (trial.session) trial.report.evaluation.provenance["init_seed"] = trial.session->init_seed;
  trial.report.evaluation.provenance["secret_seed"] = trial.secret_seed;
  trial.report.evaluation.provenance["python"] = trial.context.hello.value("python", "");
  trial.report.evaluation.provenance["torch"] = trial.context.hello.value("torch", "");
  trial.report.evaluation.provenance["triton"] = trial.context.hello.value("triton", json());
  trial.report.evaluation.provenance["threads"] = trial.context.RunnerThreads(trial.job.target);
}

Evaluation Conclude(Trial& trial) {
  Evaluation& evaluation = trial.report.evaluation;
  if (trial.report.failure) {
    evaluation.outcome = trial.report.failure->outcome;
    evaluation.message = trial.report.failure->message;
    trial.report.evidence.failure = trial.report.failure->evidence;
    evaluation.speedup.reset();
    if (trial.report.failure->outcome != Outcome::kInvalidTiming && evaluation.correct == true)
      evaluation.correct.reset();
  } else {
    evaluation.outcome = Outcome::kOk;
    if (evaluation.message.empty()) evaluation.message = "correct on every check";
    // What an export of the candidate may be called with (davinci_runtime/guard.py).
    if (trial.session && !trial.job.compile_only)
      for (size_t variant = 0; variant < trial.session->facts.size(); ++variant) {
        const auto& facts = trial.session->facts[variant];
        if (!facts) continue;
        json verified = facts->verified;
        const auto handover = trial.candidate.handovers.find(static_cast<int>(variant));
        verified["handover"] =
            handover == trial.candidate.handovers.end() ? json::array() : handover->second;
        trial.report.evidence.verified.push_back(std::move(verified));
      }
  }
  if (trial.session && trial.session->facts[0]) {
    const VariantFacts& facts = trial.session->facts[0].value();
    if (facts.stochastic)
      evaluation.AddLabel(facts.reseed_calls ? Label::kStochasticReference : Label::kEvalMode);
    if (trial.session->reference_hides_changes) evaluation.AddLabel(Label::kSideEffectsNotCompared);
    if (facts.compiles) evaluation.AddLabel(Label::kCompilesItself);
    if (facts.work) trial.report.evidence.work = *facts.work;
  }
  for (auto& [name, seconds] : trial.clock.stage_seconds.items())
    evaluation.times["stages_ms"][name] = 1e3 * seconds.get<double>();
  if (trial.session && trial.session->oracle)
    for (auto& [op, seconds] : trial.session->oracle->seconds().items())
      evaluation.times["oracle_ms"][op] = 1e3 * seconds.get<double>();
  evaluation.times["total_ms"] = 1e3 * trial.clock.watch.Seconds();
  evaluation.evidence = ToJson(trial.report.evidence);
  return std::move(trial.report.evaluation);
}

}  // namespace davinci::judge
