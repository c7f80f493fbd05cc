#include "davinci/judge/check/calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "davinci/judge/machine/slow_calls.h"
#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/device_share.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

std::optional<Failure> KeepsDeviceBusy(const SlowCall& call) {
  if (!call.must_end()) return std::nullopt;
  return Failure{Outcome::kTimeout,
                 fmt::format("forward was still running on the device after {:.2g} s, while others "
                             "waited to be timed, and was stopped; does a kernel never end?",
                             call.seconds()),
                 {}};
}

}  // namespace

int64_t Nanoseconds(const json& answer) {
  return static_cast<int64_t>(1e9 * answer.at("seconds").get<double>());
}

Result<from_oracle::Prepared> PrepareInputs(Trial& trial, const to_oracle::Prepare& asked) {
  DAVINCI_ASSIGN_OR_RETURN(const auto reply, trial.session->oracle->Ask(asked));
  auto prepared = reply.ok.get<from_oracle::Prepared>();
  if (prepared.peak_bytes) DeviceMemoryOf(&trial.report).oracle_peak_bytes = *prepared.peak_bytes;
  trial.inputs.call_seed = prepared.call_seed;
  return prepared;
}

to_runner::Arm ArmMessage(DrawnInputs* inputs, SecretStream* secret, const Timed& timed,
                          const VariantFacts& facts, const std::string& args) {
  // Pointers rotate unpredictably: a slot says nothing about contents.
  const auto slot = static_cast<int64_t>(secret->Below(static_cast<uint64_t>(facts.num_slots)));
  inputs->shift[static_cast<int>(timed.side)] = slot * facts.slot_bytes;
  if (timed.side == Side::kCandidate) inputs->last_args = args;
  return {.args = args, .shift = slot * facts.slot_bytes, .seeded = facts.reseed_calls};
}

to_oracle::Publish PublishRequest(const DrawnInputs& inputs, const Timed& timed,
                                  const VariantFacts& facts) {
  return {.name = timed.name,
          .shift = inputs.shift[static_cast<int>(timed.side)],
          .slot_bytes = facts.slot_bytes};
}

Result<CallResult> CallPublished(Trial& trial, Timed* timed, bool gated) {
  CallOptions options;
  options.timeout_seconds = CallTimeout(trial);
  if (timed->side == Side::kBaseline &&
      BaselineCompiles(trial.job, *trial.session))  // at the first call of a shape
    options.timeout_seconds =
        std::max(options.timeout_seconds, trial.protocol.baseline_compile_timeout_seconds);
  options.spin_seconds = trial.job.target == Target::kCuda ? kSpinSeconds : 0.0;
  options.bind_to_last_core = trial.job.target == Target::kCpu;
  if (trial.session->facts[0] && trial.session->facts[0].value().reseed_calls)
    options.seed = trial.inputs.call_seed;
  Status shared = Status::Ok();
  std::shared_ptr<const SlowCall> slow;
  if (trial.device.share.held()) {
    // A candidate that compiles for long must not keep the device from those who wait to be timed.
    options.on_slow = [&] {
      trial.device.share.Release();
      if (trial.job.target == Target::kCuda) slow = trial.context.slow_calls->Add(DeviceKey(trial));
    };
    options.while_slow = [&] { return slow ? KeepsDeviceBusy(*slow) : std::nullopt; };
    if (gated) {
      options.on_compile = [&] { trial.device.share.Release(); };
      options.on_gate = [&] { shared = ShareDevice(trial); };
      options.spin_seconds = 0;
    }
  }
  // Threads of the oracle's parallel loops look for more work for some milliseconds, on cores that
  // the call needs.
  worker::Process& oracle = trial.session->oracle->process();
  const bool hush = trial.job.target == Target::kCpu;
  if (hush) DAVINCI_RETURN_IF_ERROR(oracle.Freeze());
  CallResult call = timed->runner->Call(options);
  if (hush) DAVINCI_RETURN_IF_ERROR(oracle.Thaw());
  DAVINCI_RETURN_IF_ERROR(shared);
  timed->outside_cpu_ns.push_back(call.outside_cpu_ns);
  return call;
}

Result<CallResult> ArmAndCall(Trial& trial, Timed* timed, int variant, const std::string& args) {
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, FactsOf(trial, variant));
  to_runner::Arm arm = ArmMessage(&trial.inputs, &trial.secret, *timed, *facts, args);
  // Triton compiles at the first call of a shape: while it does, others may be timed.
  const bool gated = timed->side == Side::kCandidate && trial.candidate.gate_variant != variant &&
                     trial.candidate.uses_triton && trial.job.target == Target::kCuda;
  if (gated) {
    arm.gate = true;
    trial.candidate.gate_variant = variant;
  }
  CallResult call;
  call.failure = timed->runner->AskFrozen(arm, CallTimeout(trial)).failure;
  if (call.failure) return call;
  DAVINCI_RETURN_IF_ERROR(
      trial.session->oracle->Ask(PublishRequest(trial.inputs, *timed, *facts)).status());
  return CallPublished(trial, timed, gated);
}

Answer CallHot(const DrawnInputs& inputs, const Timed& timed, double seconds,
               double timeout_seconds) {
  return timed.runner->AskFrozen(
      to_runner::Hot{inputs.last_args, inputs.shift[static_cast<int>(timed.side)], seconds},
      timeout_seconds);
}

}  // namespace davinci::judge
