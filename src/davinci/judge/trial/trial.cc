#include "davinci/judge/trial/trial.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "davinci/judge/request/baselines.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Memory of each process without a device: oracle, baseline, candidate.
constexpr int64_t kMemoryBytes = int64_t{4} << 30;

}  // namespace

Trial::Trial(const JudgeContext& lent, const Job& asked, const Protocol& rules, MemoryBudget memory)
    : context(lent), job(asked), task(*asked.task), protocol(rules), budget(memory) {
  candidate.timed.name = "candidate";
  candidate.timed.side = Side::kCandidate;
}

void BeginStage(Trial& trial, std::string_view name) {
  const double now = trial.clock.watch.Seconds();
  if (!trial.clock.stage.empty())
    trial.clock.stage_seconds[trial.clock.stage] = now - trial.clock.stage_began;
  trial.clock.stage = std::string(name);
  trial.clock.stage_began = now;
  if (trial.job.progress && !name.empty()) trial.job.progress(name);
}

DeviceMemoryEvidence& DeviceMemoryOf(Report* report) {
  return report->evidence.device_memory ? *report->evidence.device_memory
                                        : report->evidence.device_memory.emplace();
}

std::string DeviceKey(const Trial& trial) {
  return trial.job.target == Target::kCpu ? "cpu" : trial.context.device;
}

double CallTimeout(const Trial& trial) {
  // The first calls on cuda include Triton's compilation and tuning. With `staged` a group waits
  // for its slowest member, which may be judged once more in a process of its own.
  const bool is_patient =
      trial.job.target == Target::kCuda && (!trial.protocol.staged || trial.job.compile_only);
  const double least = trial.protocol.call_timeout_seconds * (is_patient ? 3 : 1);
  return std::max(least, trial.protocol.call_timeout_factor * trial.timing.baseline_seconds);
}

bool BaselineCompiles(const Job& job, const Session& session) {
  const auto& facts = session.facts[0];
  return IsCompiled(job.baseline) || (facts && facts->compiles);
}

int64_t MemoryBytes(const Job& job, const Protocol& protocol) {
  return job.compile_only ? std::min(protocol.memory_bytes, kMemoryBytes) : protocol.memory_bytes;
}

const json* ShrunkSizes(const Session* session) {
  if (!session) return nullptr;
  const auto found = session->fitted.find("shrunk");
  return found != session->fitted.end() && found->is_object() ? &*found : nullptr;
}

void UseLaunch(Trial& trial, size_t launch) {
  if (launch == trial.launches.current) return;
  trial.launches.parked[trial.launches.current] = {std::move(trial.candidate.home),
                                                   std::move(trial.session->baseline),
                                                   std::move(trial.candidate.timed)};
  trial.launches.current = launch;
  trial.session->baseline = std::move(trial.launches.parked[launch].baseline);
  trial.candidate.timed = std::move(trial.launches.parked[launch].candidate);
  trial.candidate.home = std::move(trial.launches.parked[launch].home);
}

std::vector<Timed*> TimedOf(Trial& trial, Side side) {
  std::vector<Timed*> all = {side == Side::kBaseline ? &trial.session->baseline
                                                     : &trial.candidate.timed};
  for (Launch& parked : trial.launches.parked) {
    Timed& timed = side == Side::kBaseline ? parked.baseline : parked.candidate;
    if (timed.runner) all.push_back(&timed);
  }
  return all;
}

bool HasTimingCores(const JudgeContext& context, Target target) {
  return context.timing_cores->exist() && context.RunnerThreads(target) == 1;
}

bool IsAlone(const Trial& trial) { return trial.budget == MemoryBudget::kAll; }

}  // namespace davinci::judge
