#include "davinci/judge/trial/reference_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/roles/session_pool.h"
#include "davinci/judge/trial/candidate_process.h"
#include "davinci/judge/trial/device_share.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Raise it when the parts of device_memory.h or the oracle's estimate become others.
constexpr int kFootprintVersion = 3;

std::string FootprintKey(const Trial& trial) {
  const std::string windows =
      trial.session->window_calls ? fmt::format("/{}", *trial.session->window_calls) : "";
  return fmt::format("{}/{}/{}/{}{}", trial.task.hash, DeviceKey(trial),
                     trial.context.hello.value("torch", ""), kFootprintVersion, windows);
}

Status HoldMemoryParts(Trial& trial, int parts) {
  if (IsAlone(trial)) {  // until the processes of the session are gone
    if (trial.device.users.held()) trial.session->memory.push_back(std::move(trial.device.users));
    trial.session->spoilt = true;
    return Status::Ok();
  }
  std::vector<gpu::DeviceLease>& held = trial.session->memory;
  if (std::ssize(held) >= parts) {
    held.resize(static_cast<size_t>(parts));
    return Status::Ok();
  }
  if (!held.empty())  // what describing the task left behind
    DAVINCI_RETURN_IF_ERROR(trial.session->oracle->Ask(to_oracle::Rest{}).status());
  held.clear();
  // Not while holding the device: the holder of the memory may be waiting to be timed.
  trial.device.share.Release();
  const std::string purpose = "memory for " + trial.job.candidate_path;
  auto memory = AcquireMemory(trial.context.leases, DeviceKey(trial), parts, purpose, false);
  const Stopwatch waiting;
  if (memory.status().code() == StatusCode::kDeadlineExceeded) {
    // No memory is held while the candidate is compiled, or for one that does not compile.
    if (AwaitCandidate(&trial.candidate, trial.protocol).failure)
      return Cancelled("the candidate did not load");
    const double begun = trial.context.sessions->BeginMemoryWait();
    memory = AcquireMemory(trial.context.leases, DeviceKey(trial), parts, purpose);
    trial.context.sessions->EndMemoryWait(begun);
  }
  DAVINCI_RETURN_IF_ERROR(memory.status());
  held = std::move(*memory);
  json& waited = trial.report.evaluation.times["waited_for_memory_ms"];
  waited = (waited.is_number() ? waited.get<double>() : 0.0) + 1e3 * waiting.Seconds();
  return ShareDevice(trial);
}

}  // namespace

Status ReserveDeviceMemory(Trial& trial) {
  int parts = trial.context.expected_parts != nullptr ? trial.context.expected_parts->Expected()
                                                      : kUnknownParts;
  if (trial.context.facts != nullptr)
    if (const auto known = trial.context.facts->Get("footprint", FootprintKey(trial));
        known.ok() && *known)
      parts = (*known)->value("parts", parts);
  return HoldMemoryParts(trial, parts);
}

Status FitDeviceMemory(Trial& trial, const VariantFacts& facts) {
  const int64_t footprint = facts.footprint_bytes;
  DeviceMemoryOf(&trial.report).estimated_bytes = footprint;
  bool more = trial.budget == MemoryBudget::kHalfMore;
  if (trial.context.facts != nullptr && !more)
    if (const auto known = trial.context.facts->Get("footprint", FootprintKey(trial));
        known.ok() && *known)
      more = (*known)->value("half_more", false);
  const int parts = PartsFor(footprint, facts.device_bytes,
                             more ? MemoryBudget::kHalfMore : MemoryBudget::kEstimated);
  if (trial.context.expected_parts != nullptr) trial.context.expected_parts->Described(parts);
  if (trial.context.facts != nullptr)
    (void)trial.context.facts->Put("footprint", FootprintKey(trial),
                                   {{"parts", parts}, {"half_more", more}});
  trial.context.sessions->Limit(trial.session->key, kMemoryParts / std::max(parts, 1));
  return HoldMemoryParts(trial, parts);
}

}  // namespace davinci::judge
