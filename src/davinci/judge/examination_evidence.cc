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
  if (candidate_.runner) {
    worker::Process& process = candidate_.runner->process();
    evidence_.sandbox = candidate_.runner->sandbox_report();
    const int64_t said = process.OutputBytes() - said_before_;
    evidence_.output_bytes = said;
    if (const std::string tail = process.OutputTail(); !tail.empty() && said > 0)
      evidence_.output_tail = ElideMiddle(tail, kTailBytes);
    if (!process.WaitForDeath() && evaluation_.correct == true) {
      evidence_.threads = process.NumThreads();
      std::vector<std::string>& libraries = evidence_.candidate_libraries.emplace();
      const std::string cache = CacheDir("build").ok() ? CacheDir("build")->string() : "";
      for (const std::string& path : process.MappedLibraries())
        if (path.starts_with(cache))
          libraries.push_back(std::filesystem::path(path).filename().string());
      const bool profiled = !protocol_.staged && job_.target == Target::kCuda && !job_.compile_only;
      if (profiled)  // others may be timed meanwhile
        (void)candidate_.runner->AskFrozen({{"op", "warm_profiler"}}, ProfileTimeout());
      if (!ShareDevice().ok()) return;
      CollectHotTimes();
      CollectProfile();
      for (const std::string& name : context_.machine->VendorLibraries(process))
        evaluation_.AddLabel(Label::kVendorLibrary, {name});
      if (!ShareDevice().ok()) return;
      ProbeNonfinite();
    }
  }
  if (candidate_.runner && !candidate_.runner->built().empty())
    evaluation_.provenance["binaries"] = Binaries(candidate_.runner->built(), context_.machine);
  LearnTask();
  evidence_.admission = admission_;
  for (const std::string& tag : TaskTags()) evaluation_.AddLabel(Label::kTaskTag, {tag});
  if (protocol_.published) evaluation_.AddLabel(Label::kPublishedProtocol);
  if (session_) evaluation_.provenance["init_seed"] = session_->init_seed;
  evaluation_.provenance["secret_seed"] = secret_seed_;
  evaluation_.provenance["python"] = context_.hello.value("python", "");
  evaluation_.provenance["torch"] = context_.hello.value("torch", "");
  evaluation_.provenance["triton"] = context_.hello.value("triton", json());
  evaluation_.provenance["threads"] = context_.RunnerThreads(job_.target);
}

// It holds the device meanwhile, and knows that nothing is timed any more: who dawdles now must not
// keep others waiting for as long as a first call may take.
double Examination::ProfileTimeout() const {
  if (job_.compile_only) return CallTimeout();  // interpreted: no evaluation waits for a device
  const double call = evaluation_.candidate_time ? 1e-3 * evaluation_.candidate_time->median_ms : 0;
  return std::min(CallTimeout(), kProfileSeconds + kProfileCalls * call);
}

Answer Examination::CallHot(const Timed& timed, double seconds, double timeout_seconds) {
  return timed.runner->AskFrozen({{"op", "hot"},
                                  {"args", last_args_},
                                  {"shift", current_shift_[static_cast<int>(timed.side)]},
                                  {"seconds", seconds}},
                                 timeout_seconds);
}

std::optional<double> Examination::Plausible(double said, double most, const char* member) {
  if (said >= 0 && said <= most) return said;
  evaluation_.AddLabel(Label::kImplausibleReport, {member});
  return std::nullopt;
}

// cpu: what a loop over one input shows, where caches hold it. Reported by the runners about
// themselves; for comparison with what people measure first, never for a verdict.
void Examination::CollectHotTimes() {
  if (job_.target != Target::kCpu || job_.compile_only || !protocol_.second_opinion ||
      !evaluation_.candidate_time || candidate_.built_variant != 0 || last_args_.empty())
    return;
  double ms[2];
  for (const Timed* timed : {&candidate_, &session_->baseline}) {
    const Answer answer = CallHot(*timed, kHotSeconds, ProfileTimeout());
    if (answer.failure) return;
    ms[static_cast<int>(timed->side)] = NumberIn(answer.ok, "ms", 0);
  }
  const auto candidate = Plausible(ms[static_cast<int>(Side::kCandidate)],
                                   1e3 * Runner::LongestWait(ProfileTimeout()), "times.hot_ms");
  const double baseline = ms[static_cast<int>(Side::kBaseline)];
  if (candidate && *candidate > 0 && baseline > 0)
    evaluation_.times["hot_ms"] = {{"candidate", *candidate}, {"baseline", baseline}};
}

// Reported by the runner about itself: good for labels, never for a verdict.
void Examination::CollectProfile() {
  if (candidate_.built_variant != 0 || last_args_.empty()) return;
  // A profiler slows a process's launches for ever after, and others are timed in it.
  if (protocol_.staged && job_.target == Target::kCuda) return;
  const auto request = [&](Side side) {
    return json{{"op", "profile"},
                {"args", last_args_},
                {"shift", current_shift_[static_cast<int>(side)]},
                {"warmup_seconds", protocol_.profile_warmup_seconds}};
  };
  Answer profile = candidate_.runner->AskFrozen(request(Side::kCandidate), ProfileTimeout());
  if (profile.failure) {
    evidence_.profile = {{"unavailable", profile.failure->message}};
    evaluation_.AddLabel(Label::kNotProfiled);
    return;
  }
  evidence_.profile = profile.ok;
  if (job_.target == Target::kCuda) {
    // Device time decides between kernels, end-to-end time for the user: both are reported.
    json known = context_.sessions->BaselineProfile(SessionKey());
    if (known.is_null() && protocol_.profile_baseline) {
      if (job_.baseline == "eager") {  // the oracle runs the same module
        auto asked = session_->oracle->Ask({{"op", "profile"},
                                            {"seed", secret_.Next() >> 1},
                                            {"warmup_seconds", protocol_.profile_warmup_seconds}});
        if (asked.ok()) known = asked->ok;
      } else {
        Answer baseline =
            session_->baseline.runner->AskFrozen(request(Side::kBaseline), CallTimeout());
        // What records a process's launches slows them for ever after: no yardstick any more.
        session_->spoilt = true;
        if (!baseline.failure) known = baseline.ok;
      }
      if (!known.is_null()) context_.sessions->KeepBaselineProfile(SessionKey(), known);
    }
    const auto busy = [](const json& report) -> json {
      const auto device = report.find("device");
      const double ms = device == report.end() ? -1 : NumberIn(*device, "busy_ms", -1);
      return ms < 0 ? json() : json(ms);
    };
    evaluation_.times["device_ms"] = {{"candidate", busy(profile.ok)}, {"baseline", busy(known)}};
  }
  double share = 0;
  std::string top;
  if (const auto s = profile.ok.find("library_share"); s != profile.ok.end() && s->is_number())
    share = s->get<double>();
  if (const auto ops = profile.ok.find("operators"); ops != profile.ok.end() && ops->is_array())
    for (const json& op : *ops)
      if (FlagIn(op, "compute") && top.empty()) top = TextIn(op, "op");
  if (top.empty() && job_.target == Target::kCuda) top = "library kernels";
  // Nothing was compiled for it: what is no operator is Python, or native code of unknown origin,
  // e.g. a library's function called by its address.
  if (job_.target == Target::kCpu && !job_.compile_only &&
      evidence_.candidate_libraries.value().empty()) {
    if (share < kLibraryLabelShare) evaluation_.AddLabel(Label::kNoOwnKernel);
    share = top.empty() ? 0 : 1;
  }
  if (share >= kLibraryLabelShare && !top.empty())
    evaluation_.AddLabel(Label::kVendorOperator, {top});
  if (share >= kLowCoverageShare) evaluation_.AddLabel(Label::kLowCoverage);
}

Evaluation Examination::Conclude() {
  Evaluation& evaluation = evaluation_;
  if (failure_) {
    evaluation.outcome = failure_->outcome;
    evaluation.message = failure_->message;
    evidence_.failure = failure_->evidence;
    evaluation.speedup.reset();
    if (failure_->outcome != Outcome::kInvalidTiming && evaluation.correct == true)
      evaluation.correct.reset();
  } else {
    evaluation.outcome = Outcome::kOk;
    if (evaluation.message.empty()) evaluation.message = "correct on every check";
    // What an export of the candidate may be called with (davinci_runtime/guard.py).
    if (session_ && !job_.compile_only)
      for (size_t variant = 0; variant < session_->facts.size(); ++variant) {
        const auto& facts = session_->facts[variant];
        if (!facts || !facts->raw.contains("verified")) continue;
        json verified = facts->raw["verified"];
        const auto handover = handovers_.find(static_cast<int>(variant));
        verified["handover"] = handover == handovers_.end() ? json::array() : handover->second;
        evidence_.verified.push_back(std::move(verified));
      }
  }
  if (session_ && session_->facts[0]) {
    const VariantFacts& facts = session_->facts[0].value();
    if (facts.stochastic)
      evaluation.AddLabel(facts.reseed_calls ? Label::kStochasticReference : Label::kEvalMode);
    if (session_->reference_hides_changes) evaluation.AddLabel(Label::kSideEffectsNotCompared);
    if (facts.raw.value("compiles", false)) evaluation.AddLabel(Label::kCompilesItself);
    evidence_.work = facts.raw.value("work", json());
  }
  for (auto& [name, seconds] : stage_seconds_.items())
    evaluation.times["stages_ms"][name] = 1e3 * seconds.get<double>();
  if (session_ && session_->oracle)
    for (auto& [op, seconds] : session_->oracle->seconds().items())
      evaluation.times["oracle_ms"][op] = 1e3 * seconds.get<double>();
  evaluation.times["total_ms"] = 1e3 * watch_.Seconds();
  evaluation.evidence = ToJson(evidence_);
  return std::move(evaluation_);
}

}  // namespace davinci::judge
