#include "davinci/judge/timing/window_plan.h"

#include <algorithm>

#include "davinci/judge/trial/device_share.h"
#include "davinci/stats/window_time.h"

namespace davinci::judge {
namespace {

// Calls in a window at most.
constexpr int kMostCalls = 12;
// Time for which the oracle keeps the device after a process was let go, so that its host is awake
// and its first work waits; longer where the host is not to show at all.
constexpr double kHoldSeconds = 2.5e-4;
constexpr double kHoldAloneSeconds = 6e-4;
// Inputs drawn before the device is exclusive: of so many windows at most, in so many bytes, and of
// so many for each pair that is timed at least, beside the one that warms up.
constexpr int kWindowsAhead = 14;
constexpr int kWindowsOfPair = 2;
constexpr int64_t kBytesAhead = int64_t{2} << 30;

Status BindBuffers(Trial& trial) {
  if (trial.session->buffers.is_null()) {
    DAVINCI_ASSIGN_OR_RETURN(auto made, trial.session->oracle->Ask(to_oracle::MakeBuffers{
                                            trial.session->window_calls.value_or(kMostCalls)}));
    trial.session->buffers = made.ok;
  }
  const to_runner::Request bind = to_runner::MapBuffers{trial.session->buffers};
  for (Timed* timed : {&trial.session->baseline, &trial.candidate.timed}) {
    if (timed->has_buffers) continue;
    const Answer bound = timed->runner->AskFrozen(bind, trial.protocol.load_timeout_seconds);
    if (bound.failure) return Internal("the buffers of a runner: " + bound.failure->message);
    timed->has_buffers = true;
  }
  return Status::Ok();
}

// Small inputs of most windows are drawn while others share the device.
Status DrawAhead(Trial& trial) {
  trial.windows.ahead.clear();
  const VariantFacts& facts = trial.session->facts[0].value();
  const int most = std::min(kWindowsAhead, kWindowsOfPair * trial.protocol.min_pairs + 1) *
                   std::min(trial.protocol.window_calls, facts.num_slots);
  const int64_t room = kBytesAhead / std::max<int64_t>(facts.slot_bytes, 1);
  const int count = static_cast<int>(std::min<int64_t>(most, room));
  if (count < trial.protocol.window_calls) return Status::Ok();
  for (int i = 0; i < count; ++i) trial.windows.ahead.push_back(trial.secret.Next() >> 1);
  return trial.session->oracle->Ask(to_oracle::DrawAhead{trial.windows.ahead}).status();
}

}  // namespace

Status PrepareWindows(Trial& trial) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_RETURN_IF_ERROR(BindBuffers(trial));
  return DrawAhead(trial);
}

bool KeepsState(const Session& session) { return !session.facts[0].value().kept.empty(); }

void PlanWindows(Trial& trial) {
  const VariantFacts& facts = trial.session->facts[0].value();
  // What a call leaves in buffers is part of its answer, and of what the next begins with; and one
  // seed comes with GO.
  const bool one = facts.reseed_calls || KeepsState(*trial.session);
  const int most = std::min({trial.protocol.window_calls, facts.num_slots,
                             trial.session->buffers.at("count").get<int>()});
  trial.windows.full_queue.calls =
      one ? 1 : stats::CallsPerWindow(trial.timing.baseline_seconds, most);
  trial.windows.full_queue.flush = true;
  trial.windows.full_queue.hold_seconds = kHoldSeconds;
  trial.windows.from_idle = trial.windows.full_queue;
  trial.windows.from_idle.idle = true;
  trial.windows.alone = {1, false, false, kHoldAloneSeconds};
}

uint64_t NextSeed(WindowPlan* plan, SecretStream* secret) {
  if (plan->ahead.empty()) return secret->Next() >> 1;
  const uint64_t seed = plan->ahead.back();
  plan->ahead.pop_back();
  return seed;
}

}  // namespace davinci::judge
