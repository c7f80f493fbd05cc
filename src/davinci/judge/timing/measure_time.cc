#include "davinci/judge/timing/measure_time.h"

#include <fmt/format.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "davinci/judge/check/calls.h"
#include "davinci/judge/check/reweigh.h"
#include "davinci/judge/machine/awake_cores.h"
#include "davinci/judge/machine/slow_calls.h"
#include "davinci/judge/timing/clock_checks.h"
#include "davinci/judge/timing/conclude_timing.h"
#include "davinci/judge/timing/samples.h"
#include "davinci/judge/timing/timed_calls.h"
#include "davinci/judge/timing/timed_windows.h"
#include "davinci/judge/timing/timing_phase.h"
#include "davinci/judge/timing/waking.h"
#include "davinci/judge/timing/window_plan.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

// The device is busy when a small kernel's turn takes so many times the usual; a call that keeps it
// busy for so long is ended, and a measurement waits no longer than that for the device to be
// quiet.
constexpr double kBusyTurns = 4;
constexpr double kLongestBusySeconds = 5;
constexpr double kLongestWaitForQuiet = 20;

// Seconds of a small kernel's turn on the device, in the middle of several.
Result<double> DeviceTurn(Oracle& oracle) {
  DAVINCI_ASSIGN_OR_RETURN(const auto taken, oracle.Ask(to_oracle::Turn{}));
  return taken.ok.get<from_oracle::Turn>().turn_seconds;
}

// Ends calls of other candidates that compute on the device without a share of it.
Status AwaitQuietDevice(Trial& trial) {
  if (trial.job.target != Target::kCuda) return Status::Ok();
  const Stopwatch waited;
  DAVINCI_ASSIGN_OR_RETURN(double turn, DeviceTurn(*trial.session->oracle));
  if (!trial.context.slow_calls->LongestSeconds(DeviceKey(trial))) {
    trial.context.slow_calls->UsualTurn(DeviceKey(trial), turn);
    return Status::Ok();
  }
  while (turn > kBusyTurns * trial.context.slow_calls->UsualTurn(DeviceKey(trial), turn) &&
         waited.Seconds() < kLongestWaitForQuiet) {
    trial.context.slow_calls->EndThoseOf(DeviceKey(trial), kLongestBusySeconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    DAVINCI_ASSIGN_OR_RETURN(turn, DeviceTurn(*trial.session->oracle));
  }
  if (waited.Seconds() > 0.05)
    trial.report.evaluation.times["waited_for_quiet_ms"] = 1e3 * waited.Seconds();
  return Status::Ok();
}

// Who is timed, with the device held for it, gets cores of its own; those to be kept awake.
std::vector<int> TakeTimingCores(Trial& trial, std::span<worker::Process* const> roles) {
  if (!HasTimingCores(trial.context, trial.job.target)) return CoresOf(roles);
  const TimingCores& cores = *trial.context.timing_cores;
  trial.timing.cores.emplace(cores, roles.first(2), roles[2]);
  return {cores.place().runner.front(), cores.place().oracle};
}

// However few pairs a busy machine left room for: what was kept from weights is wrong now. Of no
// record, so on cuda others may share the device.
Result<bool> CheckOtherWeights(Trial& trial) {
  UseLaunch(trial, 0);
  const int before = trial.weights.count;
  DAVINCI_ASSIGN_OR_RETURN(const auto failure, Reweigh(trial));
  if (failure) return Verdict(trial, *failure);
  if (trial.weights.count == before) return true;
  const std::string distribution = std::exchange(trial.inputs.next_distribution, "task");
  if (distribution == "task" && trial.job.target == Target::kCuda)
    return MeasureWindows(trial, trial.windows.full_queue, true, false, nullptr);
  return MeasurePair(trial, true, distribution, distribution != "task", nullptr);
}

// `lease`: of the device, exclusive; given back as soon as nothing is timed any more.
Result<bool> MeasurePairs(Trial& trial, gpu::DeviceLease lease) {
  const Stopwatch held;
  if (trial.job.target == Target::kCpu) DAVINCI_RETURN_IF_ERROR(MeasureWaking(trial));
  DAVINCI_ASSIGN_OR_RETURN(const auto timing, PlanTiming(trial));
  if (!timing) return false;
  // A candidate under suspicion is measured a second time: a neighbour on the machine may have
  // come between. The pairs of a phase under suspicion are never used.
  for (const bool again : {false, true}) {
    DAVINCI_ASSIGN_OR_RETURN(const auto phase, MeasurePhase(trial, *timing));
    if (!phase) return false;
    const auto failure = CheckClocks(trial);
    if (again && failure) return Verdict(trial, *failure);
    const Average average = OnAverage(trial);
    const double median = phase->decision.ratio.value().median;
    const bool uneven = IsUneven(average, phase->decision.ratio.value().low);
    if (!again && (failure || uneven)) {
      trial.report.evidence.timed_again =
          failure ? failure->message
                  : fmt::format("{:.3g} times as fast on average, {:.3g} in the middle",
                                average.ratio, median);
      continue;
    }
    if (trial.job.target == Target::kCuda) {
      trial.timing.cores.reset();
      lease.Release();
      trial.report.evaluation.times["held_device_ms"] = 1e3 * held.Seconds();
      DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
    }
    DAVINCI_ASSIGN_OR_RETURN(const bool right_to_the_end, CheckOtherWeights(trial));
    if (!right_to_the_end) return false;
    lease.Release();
    trial.device.share.Release();
    ConcludeTiming(trial, timing->options, *phase, uneven ? std::optional(average) : std::nullopt);
    break;
  }
  return true;
}

}  // namespace

Result<bool> MeasureTime(Trial& trial) {
  if (trial.job.target == Target::kCuda) DAVINCI_RETURN_IF_ERROR(PrepareWindows(trial));
  trial.device.share.Release();
  std::vector<worker::Process*> roles;
  if (trial.job.target == Target::kCuda) {
    roles = {&trial.candidate.timed.runner->process(), &trial.session->baseline.runner->process(),
             &trial.session->oracle->process()};
    const auto awake =
        trial.context.machine->KeepAwake(CoresOf(roles));  // as while pairs are timed
    DAVINCI_RETURN_IF_ERROR(MeasureWaking(trial));         // of the host alone: it needs no device
  }
  DeviceStateEvidence& state =
      trial.report.evidence.device_state.emplace();  // read while others may be timed
  state.before = trial.context.machine->State(trial.job.target);
  DAVINCI_ASSIGN_OR_RETURN(
      gpu::DeviceLease lease,
      trial.context.leases->Acquire(DeviceKey(trial),
                                    DeviceRequest(trial, gpu::LeaseMode::kExclusive, "timing")));
  trial.report.evaluation.times["waited_for_device_ms"] = lease.waited_ms();
  DAVINCI_RETURN_IF_ERROR(AwaitQuietDevice(trial));

  std::unique_ptr<AwakeCores> awake;
  if (trial.job.target == Target::kCuda)
    awake = trial.context.machine->KeepAwake(TakeTimingCores(trial, roles));
  for (worker::Process* role : roles) role->set_spin(kSpinSeconds);
  const Stopwatch held;
  const auto result = MeasurePairs(trial, std::move(lease));
  trial.report.evaluation.times.emplace("held_device_ms",
                                        1e3 * held.Seconds());  // unless it ended before
  for (const auto& [what, seconds] : trial.timing.by_purpose)
    trial.report.evaluation.times["spent_ms"][what] = 1e3 * seconds;
  trial.timing.cores.reset();
  for (worker::Process* role : roles) role->set_spin(0);
  state.after = trial.context.machine->State(trial.job.target);
  if (const std::string slowed = state.after.value("slowed_by", ""); !slowed.empty())
    trial.report.evaluation.AddLabel(Label::kDeviceSlowed, {slowed});
  return result;
}

}  // namespace davinci::judge
