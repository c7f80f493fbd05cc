// Evidence and conclusion of an examination: what happened, from whom we know it, and the verdict.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "davinci/base/files.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/examination.h"
#include "davinci/judge/untrusted_json.h"

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

}  // namespace

void Examination::CollectEvidence() {
  if (trial_.candidate.timed.runner) {
    worker::Process& process = trial_.candidate.timed.runner->process();
    trial_.report.evidence.sandbox = trial_.candidate.timed.runner->sandbox_report();
    const int64_t said = process.OutputBytes() - trial_.candidate.said_before;
    trial_.report.evidence.output_bytes = said;
    if (const std::string tail = process.OutputTail(); !tail.empty() && said > 0)
      trial_.report.evidence.output_tail = ElideMiddle(tail, kTailBytes);
    if (!process.WaitForDeath() && trial_.report.evaluation.correct == true) {
      trial_.report.evidence.threads = process.NumThreads();
      std::vector<std::string>& libraries = trial_.report.evidence.candidate_libraries.emplace();
      const std::string cache = CacheDir("build").ok() ? CacheDir("build")->string() : "";
      for (const std::string& path : process.MappedLibraries())
        if (path.starts_with(cache))
          libraries.push_back(std::filesystem::path(path).filename().string());
      const bool profiled =
          !trial_.protocol.staged && trial_.job.target == Target::kCuda && !trial_.job.compile_only;
      if (profiled)  // others may be timed meanwhile
        (void)trial_.candidate.timed.runner->AskFrozen({{"op", "warm_profiler"}}, ProfileTimeout());
      if (!ShareDevice().ok()) return;
      CollectHotTimes();
      CollectProfile();
      for (const std::string& name : trial_.context.machine->VendorLibraries(process))
        trial_.report.evaluation.AddLabel(Label::kVendorLibrary, {name});
      if (!ShareDevice().ok()) return;
      ProbeNonfinite();
    }
  }
  if (trial_.candidate.timed.runner && !trial_.candidate.timed.runner->built().empty())
    trial_.report.evaluation.provenance["binaries"] =
        Binaries(trial_.candidate.timed.runner->built(), trial_.context.machine);
  LearnTask();
  trial_.report.evidence.admission = trial_.admission;
  for (const std::string& tag : TaskTags())
    trial_.report.evaluation.AddLabel(Label::kTaskTag, {tag});
  if (trial_.protocol.published) trial_.report.evaluation.AddLabel(Label::kPublishedProtocol);
  if (trial_.session) trial_.report.evaluation.provenance["init_seed"] = trial_.session->init_seed;
  trial_.report.evaluation.provenance["secret_seed"] = trial_.secret_seed;
  trial_.report.evaluation.provenance["python"] = trial_.context.hello.value("python", "");
  trial_.report.evaluation.provenance["torch"] = trial_.context.hello.value("torch", "");
  trial_.report.evaluation.provenance["triton"] = trial_.context.hello.value("triton", json());
  trial_.report.evaluation.provenance["threads"] = trial_.context.RunnerThreads(trial_.job.target);
}

// It holds the device meanwhile, and knows that nothing is timed any more: who dawdles now must not
// keep others waiting for as long as a first call may take.
double Examination::ProfileTimeout() const {
  if (trial_.job.compile_only)
    return CallTimeout();  // interpreted: no evaluation waits for a device
  const double call = trial_.report.evaluation.candidate_time
                          ? 1e-3 * trial_.report.evaluation.candidate_time->median_ms
                          : 0;
  return std::min(CallTimeout(), kProfileSeconds + kProfileCalls * call);
}

Answer Examination::CallHot(const Timed& timed, double seconds, double timeout_seconds) {
  return timed.runner->AskFrozen({{"op", "hot"},
                                  {"args", trial_.inputs.last_args},
                                  {"shift", trial_.inputs.shift[static_cast<int>(timed.side)]},
                                  {"seconds", seconds}},
                                 timeout_seconds);
}

std::optional<double> Examination::Plausible(double said, double most, const char* member) {
  if (said >= 0 && said <= most) return said;
  trial_.report.evaluation.AddLabel(Label::kImplausibleReport, {member});
  return std::nullopt;
}

// cpu: what a loop over one input shows, where caches hold it. Reported by the runners about
// themselves; for comparison with what people measure first, never for a verdict.
void Examination::CollectHotTimes() {
  if (trial_.job.target != Target::kCpu || trial_.job.compile_only ||
      !trial_.protocol.second_opinion || !trial_.report.evaluation.candidate_time ||
      trial_.candidate.timed.built_variant != 0 || trial_.inputs.last_args.empty())
    return;
  double ms[2];
  for (const Timed* timed : {&trial_.candidate.timed, &trial_.session->baseline}) {
    const Answer answer = CallHot(*timed, kHotSeconds, ProfileTimeout());
    if (answer.failure) return;
    ms[static_cast<int>(timed->side)] = NumberIn(answer.ok, "ms", 0);
  }
  const auto candidate = Plausible(ms[static_cast<int>(Side::kCandidate)],
                                   1e3 * Runner::LongestWait(ProfileTimeout()), "times.hot_ms");
  const double baseline = ms[static_cast<int>(Side::kBaseline)];
  if (candidate && *candidate > 0 && baseline > 0)
    trial_.report.evaluation.times["hot_ms"] = {{"candidate", *candidate}, {"baseline", baseline}};
}

// Reported by the runner about itself: good for labels, never for a verdict.
void Examination::CollectProfile() {
  if (trial_.candidate.timed.built_variant != 0 || trial_.inputs.last_args.empty()) return;
  // A profiler slows a process's launches for ever after, and others are timed in it.
  if (trial_.protocol.staged && trial_.job.target == Target::kCuda) return;
  const auto request = [&](Side side) {
    return json{{"op", "profile"},
                {"args", trial_.inputs.last_args},
                {"shift", trial_.inputs.shift[static_cast<int>(side)]},
                {"warmup_seconds", trial_.protocol.profile_warmup_seconds}};
  };
  Answer profile =
      trial_.candidate.timed.runner->AskFrozen(request(Side::kCandidate), ProfileTimeout());
  if (profile.failure) {
    trial_.report.evidence.profile = {{"unavailable", profile.failure->message}};
    trial_.report.evaluation.AddLabel(Label::kNotProfiled);
    return;
  }
  trial_.report.evidence.profile = profile.ok;
  if (trial_.job.target == Target::kCuda) {
    // Device time decides between kernels, end-to-end time for the user: both are reported.
    json known = trial_.context.sessions->BaselineProfile(SessionKey());
    if (known.is_null() && trial_.protocol.profile_baseline) {
      if (trial_.job.baseline == "eager") {  // the oracle runs the same module
        auto asked = trial_.session->oracle->Ask(
            {{"op", "profile"},
             {"seed", trial_.secret.Next() >> 1},
             {"warmup_seconds", trial_.protocol.profile_warmup_seconds}});
        if (asked.ok()) known = asked->ok;
      } else {
        Answer baseline =
            trial_.session->baseline.runner->AskFrozen(request(Side::kBaseline), CallTimeout());
        // What records a process's launches slows them for ever after: no yardstick any more.
        trial_.session->spoilt = true;
        if (!baseline.failure) known = baseline.ok;
      }
      if (!known.is_null()) trial_.context.sessions->KeepBaselineProfile(SessionKey(), known);
    }
    const auto busy = [](const json& report) -> json {
      const auto device = report.find("device");
      const double ms = device == report.end() ? -1 : NumberIn(*device, "busy_ms", -1);
      return ms < 0 ? json() : json(ms);
    };
    trial_.report.evaluation.times["device_ms"] = {{"candidate", busy(profile.ok)},
                                                   {"baseline", busy(known)}};
  }
  double share = 0;
  std::string top;
  if (const auto s = profile.ok.find("library_share"); s != profile.ok.end() && s->is_number())
    share = s->get<double>();
  if (const auto ops = profile.ok.find("operators"); ops != profile.ok.end() && ops->is_array())
    for (const json& op : *ops)
      if (FlagIn(op, "compute") && top.empty()) top = TextIn(op, "op");
  if (top.empty() && trial_.job.target == Target::kCuda) top = "library kernels";
  // Nothing was compiled for it: what is no operator is Python, or native code of unknown origin,
  // e.g. a library's function called by its address.
  if (trial_.job.target == Target::kCpu && !trial_.job.compile_only &&
      trial_.report.evidence.candidate_libraries.value().empty()) {
    if (share < kLibraryLabelShare) trial_.report.evaluation.AddLabel(Label::kNoOwnKernel);
    share = top.empty() ? 0 : 1;
  }
  if (share >= kLibraryLabelShare && !top.empty())
    trial_.report.evaluation.AddLabel(Label::kVendorOperator, {top});
  if (share >= kLowCoverageShare) trial_.report.evaluation.AddLabel(Label::kLowCoverage);
}

Evaluation Examination::Conclude() {
  Evaluation& evaluation = trial_.report.evaluation;
  if (trial_.report.failure) {
    evaluation.outcome = trial_.report.failure->outcome;
    evaluation.message = trial_.report.failure->message;
    trial_.report.evidence.failure = trial_.report.failure->evidence;
    evaluation.speedup.reset();
    if (trial_.report.failure->outcome != Outcome::kInvalidTiming && evaluation.correct == true)
      evaluation.correct.reset();
  } else {
    evaluation.outcome = Outcome::kOk;
    if (evaluation.message.empty()) evaluation.message = "correct on every check";
    // What an export of the candidate may be called with (davinci_runtime/guard.py).
    if (trial_.session && !trial_.job.compile_only)
      for (size_t variant = 0; variant < trial_.session->facts.size(); ++variant) {
        const auto& facts = trial_.session->facts[variant];
        if (!facts || !facts->raw.contains("verified")) continue;
        json verified = facts->raw["verified"];
        const auto handover = trial_.candidate.handovers.find(static_cast<int>(variant));
        verified["handover"] =
            handover == trial_.candidate.handovers.end() ? json::array() : handover->second;
        trial_.report.evidence.verified.push_back(std::move(verified));
      }
  }
  if (trial_.session && trial_.session->facts[0]) {
    const VariantFacts& facts = trial_.session->facts[0].value();
    if (facts.stochastic)
      evaluation.AddLabel(facts.reseed_calls ? Label::kStochasticReference : Label::kEvalMode);
    if (trial_.session->reference_hides_changes)
      evaluation.AddLabel(Label::kSideEffectsNotCompared);
    if (facts.raw.value("compiles", false)) evaluation.AddLabel(Label::kCompilesItself);
    trial_.report.evidence.work = facts.raw.value("work", json());
  }
  for (auto& [name, seconds] : trial_.clock.stage_seconds.items())
    evaluation.times["stages_ms"][name] = 1e3 * seconds.get<double>();
  if (trial_.session && trial_.session->oracle)
    for (auto& [op, seconds] : trial_.session->oracle->seconds().items())
      evaluation.times["oracle_ms"][op] = 1e3 * seconds.get<double>();
  evaluation.times["total_ms"] = 1e3 * trial_.clock.watch.Seconds();
  evaluation.evidence = ToJson(trial_.report.evidence);
  return std::move(trial_.report.evaluation);
}

}  // namespace davinci::judge
