// Timed calls on a device: behind a gate that the oracle opens, with the device's time and latency
// as the times of record (docs/judge-internals.md, "The time of a call on cuda").

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "davinci/judge/examination.h"
#include "davinci/judge/stats/clock_agreement.h"
#include "davinci/judge/stats/summary.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Calls for each constant of the protocol.
constexpr int kConstantCalls = 9;
// A forward that takes longer than this is not called in advance for the host's code to be warm.
constexpr double kHeatSeconds = 3e-3;
constexpr int kHeatCalls = 2;
// For a runner to come to its gate, calls in advance included.
constexpr double kReadySeconds = 10;
// By how much the oracle may find the device busy for longer than the runner's own stream says, and
// longer than with the baseline: what a call may gain by lying about its end.
constexpr double kBelievedSeconds = 2e-6;
constexpr double kBelievedShare = 0.03;
// By how much later than the baseline a candidate may come to its gate, beyond what its forward is
// slower by: what it computes there, from weights alone, is charged.
constexpr double kFreeBeforeSeconds = 2.5e-4;
// By how much longer a candidate's turn on the device may take than the baseline's.
constexpr double kOwnTurn = 1e-5;
constexpr double kMostBetweenEvents = 4e-6;
// A process keeps the device for 2 ms where another one waits for it.
constexpr double kPartOfASlice = 1.2e-3;
// The reply of a call comes this much later than usual where outputs lie in new places.
constexpr double kReplySeconds = 1.5e-4;
// One look at the device may come this much late by accident.
constexpr double kOneLookSeconds = 2.5e-5;
// Of the constant of the first look: the device turns to a process and back, which takes half each.
constexpr double kTurned = 0.8;
constexpr double kFewTurns = 0.1;
// Latency of one program in two processes differs by this much.
constexpr double kBetweenProcessSecondsOfLatency = 3e-6;
// A latency pair after so many pairs, and so many at least.
constexpr size_t kLatencyEvery = 3;
constexpr size_t kLeastLatencyPairs = 6;

TimeSummary Summarise(const std::vector<double>& seconds) {
  if (seconds.empty()) return {};
  return {1e3 * Median(seconds), 1e3 * *std::min_element(seconds.begin(), seconds.end()),
          1e3 * *std::max_element(seconds.begin(), seconds.end()),
          static_cast<int>(seconds.size())};
}

double Seconds(int64_t ns) { return 1e-9 * static_cast<double>(ns); }

}  // namespace

Status Examination::BindGates() {
  Oracle& oracle = *session_->oracle;
  if (!session_->clock) {
    DAVINCI_ASSIGN_OR_RETURN(session_->clock, GatePage::Create());
    const int fds[] = {session_->clock->fd()};
    DAVINCI_RETURN_IF_ERROR(oracle.Ask({{"op", "gate"}, {"name", "clock"}}, fds).status());
  }
  for (Timed* timed : {&session_->baseline, &candidate_}) {
    if (timed->gate) continue;
    DAVINCI_ASSIGN_OR_RETURN(timed->gate, GatePage::Create());
    const int fds[] = {timed->gate->fd()};
    DAVINCI_RETURN_IF_ERROR(oracle.Ask({{"op", "gate"}, {"name", timed->name}}, fds).status());
    const Answer bound =
        timed->runner->AskFrozen({{"op", "gate"}}, protocol_.load_timeout_seconds, fds);
    if (bound.failure) return Internal("the gate of a runner: " + bound.failure->message);
  }
  return Status::Ok();
}

json Examination::GatedArm(Timed* timed, json arm, GatedCall kind) {
  const uint32_t number = session_->clock->NextNumber();
  timed->gate->BeginCall(number);
  const bool heat = kind.constant.empty() && baseline_seconds_ < kHeatSeconds;
  arm["gated"] = {{"number", number},
                  {"from_idle", kind.from_idle},
                  {"heat", heat ? kHeatCalls : 0},
                  {"constant", kind.constant}};
  timed->gated_number = number;
  return arm;
}

Result<CallResult> Examination::CallGated(Timed* timed, int64_t* publish_ns) {
  json release = PublishRequest(*timed, *session_->facts[0]);
  release["op"] = "release";
  release["number"] = timed->gated_number;
  release["ready_seconds"] = std::min(kReadySeconds, CallTimeout());
  CallOptions options;
  options.timeout_seconds = CallTimeout();
  options.spin_seconds = kSpinSeconds;
  if (session_->facts[0]->reseed_calls) options.seed = call_seed_;
  Oracle& oracle = *session_->oracle;
  worker::Process& process = timed->runner->process();
  Status posted;
  GatePage::Times times;
  int64_t thawed_ns = 0;
  options.on_thawed = [&] {
    thawed_ns = MonotonicNs();
    posted = oracle.Post(release);
    if (!posted.ok()) return;
    times = timed->gate->Watch(*session_->clock, CallTimeout(), [&] {
      return process.control().SpinUntilReadable(0) || process.WaitForDeath();
    });
  };
  CallResult call = timed->runner->Call(options);
  timed->gate->EndCall();
  DAVINCI_RETURN_IF_ERROR(posted);
  DAVINCI_ASSIGN_OR_RETURN(const auto released, oracle.Await("release"));
  *publish_ns = static_cast<int64_t>(1e9 * released.ok.at("publish_seconds").get<double>());
  timed->outside_cpu_ns.push_back(call.outside_cpu_ns);
  call.ready_ns = static_cast<int64_t>(1e9 * released.ok.at("ready_seconds").get<double>());
  if (call.failure) return call;
  const int64_t said_ns = thawed_ns + call.wall_ns;       // that it was done, over the socket
  if (times.opened_ns == 0) times.opened_ns = thawed_ns;  // it spoke before it was let in
  if (times.done_ns == 0) times.done_ns = said_ns;
  call.gate_ns = std::max<int64_t>(1, times.done_ns - times.opened_ns);
  call.wall_ns = std::max<int64_t>(1, said_ns - times.opened_ns);
  return call;
}

// A process's turn on the device takes 150 to 162 us, always as long for one process: so each side
// has constants of its own. What a candidate could say by dawdling in them is bounded by the
// baseline's.
Result<bool> Examination::MeasureConstants() {
  Timed& baseline = session_->baseline;
  const bool both = !baseline.constants.known || protocol_.fresh_constants;
  json events;
  if (both) {
    DAVINCI_ASSIGN_OR_RETURN(const auto calibrated, session_->oracle->Ask({{"op", "calibrate"}}));
    events = calibrated.ok;
  }
  DAVINCI_ASSIGN_OR_RETURN(const json drawn, Prepare("own", 0, false));
  const std::string args = drawn.at("args").get<std::string>();
  const std::array<GatedCall, 3> kinds = {
      GatedCall{false, "empty"}, {false, "one"}, {true, "empty"}};
  struct Readings {
    std::array<std::vector<double>, 3> gate;
    std::vector<double> knock;
    std::vector<double> said;
  } readings[2];
  Timed* const sides[] = {&candidate_, &baseline};
  for (int i = -1; i < kConstantCalls; ++i)  // the first of its kind does not count
    for (const size_t side : {0, 1})
      for (size_t k = 0; k < kinds.size(); ++k) {
        if (side == 1 && !both) continue;
        Timed* timed = sides[side];
        const json arm = GatedArm(timed, ArmMessage(timed, *session_->facts[0], args), kinds[k]);
        int64_t publish_ns = 0;
        CallResult call;
        call.failure = timed->runner->AskFrozen(arm, CallTimeout()).failure;
        if (!call.failure) {
          DAVINCI_ASSIGN_OR_RETURN(call, CallGated(timed, &publish_ns));
        }
        if (call.failure) return FailInPair(*timed, *call.failure);
        DAVINCI_ASSIGN_OR_RETURN(
            const auto settled,
            session_->oracle->Ask({{"op", "settle"}, {"outputs", json::array()}, {"gated", true}}));
        if (i < 0) continue;
        Readings& reading = readings[side];
        reading.gate[k].push_back(Seconds(call.gate_ns));
        if (k != 0) continue;
        reading.knock.push_back(Seconds(settled.ok.at("knocked_ns").get<int64_t>()));
        reading.said.push_back(Seconds(call.wall_ns));
      }
  const auto constants = [](const Readings& r) {
    GateConstants c;
    c.known = true;
    c.gate_seconds = Median(r.gate[0]);
    c.noise_seconds = ScaledMad(r.gate[0]);
    c.knock_seconds = Median(r.knock);
    c.said_seconds = Median(r.said);
    c.from_idle_seconds = Median(r.gate[2]);
    return c;
  };
  if (both) {
    baseline.constants = constants(readings[1]);
    // What events say of a kernel that does nothing, beyond what the same adds to a gated call.
    baseline.constants.between_events_seconds =
        std::clamp(events.at("empty_seconds").get<double>() -
                       (Median(readings[1].gate[1]) - Median(readings[1].gate[0])),
                   0.0, kMostBetweenEvents);
    baseline.constants.ahead_seconds = events.at("ahead_seconds").get<double>();
  }
  const GateConstants& known = baseline.constants;
  GateConstants& own = candidate_.constants = constants(readings[0]);
  own.gate_seconds = std::min(own.gate_seconds, known.gate_seconds + kOwnTurn);
  own.from_idle_seconds = std::min(own.from_idle_seconds, known.from_idle_seconds + kOwnTurn);
  own.knock_seconds = std::min(own.knock_seconds, known.knock_seconds + kOwnTurn);
  own.said_seconds = std::min(own.said_seconds, known.said_seconds + kOwnTurn);
  own.between_events_seconds = known.between_events_seconds;
  own.ahead_seconds = known.ahead_seconds;
  return true;
}

const GateConstants& Examination::Constants(Side side) const {
  return side == Side::kBaseline ? session_->baseline.constants : candidate_.constants;
}

double Examination::GatedSeconds(const CallResult& call, Side side, bool from_idle) const {
  const GateConstants& c = Constants(side);
  const double constant = from_idle ? c.from_idle_seconds : c.gate_seconds;
  return std::max(1e-9, Seconds(call.gate_ns) - constant + c.between_events_seconds);
}

// The same from what a runner can only delay: the oracle's look at the device, and where that may
// have been given its turn after a time slice, the reply.
double Examination::LookedAtSeconds(const CallResult& call) const {
  const GateConstants& c = candidate_.constants;
  const double looked =
      Seconds(call.knock_ns) - c.knock_seconds + c.between_events_seconds - look_bias_seconds_;
  const double said = Seconds(call.wall_ns) - c.said_seconds - kReplySeconds;
  return std::max(looked - kOneLookSeconds, looked > kPartOfASlice ? said : 0.0);
}

// How much longer the oracle found the device busy than the call's own stream said, in the middle.
double Examination::BusyAfterItsWord(Side side) const {
  const GateConstants& c = Constants(side);
  std::vector<double> excess;
  for (const Pair& pair : pairs_) {
    const CallResult& call = side == Side::kBaseline ? pair.baseline : pair.candidate;
    excess.push_back(Seconds(call.knock_ns - call.gate_ns) - (c.knock_seconds - c.gate_seconds));
  }
  return excess.empty() ? 0 : Median(excess);
}

// Time of record of the device on both sides, and what the candidate is charged beyond what its
// stream said. A host that is slower than the device sets the pace, less what it runs ahead by.
void Examination::SettleDeviceTime() {
  const GateConstants& c = session_->baseline.constants;
  const auto middle = [&](const std::vector<Pair>& pairs, Side side, bool from_idle) {
    std::vector<double> seconds;
    for (const Pair& pair : pairs)
      seconds.push_back(
          GatedSeconds(side == Side::kBaseline ? pair.baseline : pair.candidate, side, from_idle));
    return seconds.empty() ? 0.0 : Median(seconds);
  };
  const double idle[2] = {middle(latency_pairs_, Side::kCandidate, true),
                          middle(latency_pairs_, Side::kBaseline, true)};
  for (const int side : {0, 1})
    host_pace_seconds_[side] = latency_pairs_.empty() ? 0 : idle[side] - c.ahead_seconds;
  look_bias_seconds_ = BusyAfterItsWord(Side::kBaseline);
  const double excess = BusyAfterItsWord(Side::kCandidate) - look_bias_seconds_;
  const double call = middle(pairs_, Side::kCandidate, false);
  device_charge_ = excess > std::max(kBelievedSeconds, kBelievedShare * call) ? excess : 0;
  std::vector<double> later;
  for (const Pair& pair : pairs_)
    later.push_back(Seconds(pair.candidate.ready_ns - pair.baseline.ready_ns));
  const double before = later.empty() ? 0 : Median(later);
  // A slower forward is called in advance more slowly.
  const double heat = kHeatCalls * std::max(0.0, idle[0] - idle[1]);
  const double free =
      kFreeBeforeSeconds + 3 * (later.empty() ? 0 : MedianStandardError(later)) + 2 * heat;
  if (before > free) device_charge_ += before - heat;
  evaluation_.evidence["gate"] = {
      {"constant_ms", {1e3 * candidate_.constants.gate_seconds, 1e3 * c.gate_seconds}},
      {"constant_noise_ms", 1e3 * c.noise_seconds},
      {"constant_of_first_look_ms", 1e3 * c.knock_seconds},
      {"constant_from_idle_ms", 1e3 * c.from_idle_seconds},
      {"between_events_ms", 1e3 * c.between_events_seconds},
      {"host_ahead_ms", 1e3 * c.ahead_seconds},
      {"busy_after_its_word_ms", 1e3 * excess},
      {"later_at_the_gate_ms", 1e3 * before},
      {"charged_ms", 1e3 * device_charge_},
      {"host_pace_ms", {1e3 * host_pace_seconds_[0], 1e3 * host_pace_seconds_[1]}}};
}

double Examination::DeviceSeconds(const CallResult& call, Side side) const {
  if (side == Side::kBaseline)
    return std::max(GatedSeconds(call, side, false), host_pace_seconds_[1]);
  return std::max({GatedSeconds(call, side, false) + device_charge_, LookedAtSeconds(call),
                   host_pace_seconds_[0]});
}

// A stream that says it is done before the device has turned to the process leaves the device to
// the oracle at once: its work comes later.
std::optional<Failure> Examination::CheckTurns() const {
  const double turned = kTurned * candidate_.constants.knock_seconds;
  const auto early = std::count_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
    return Seconds(pair.candidate.knock_ns) < turned;
  });
  if (static_cast<double>(early) <= kFewTurns * static_cast<double>(pairs_.size()))
    return std::nullopt;
  Failure failure{Outcome::kInvalidTiming,
                  fmt::format("in {} of {} calls the candidate's stream was said to be done before "
                              "the device had begun with it",
                              early, pairs_.size()),
                  {}};
  failure.evidence["rule"] = "done_before_begun";
  return failure;
}

std::vector<PairedSample> Examination::LatencySamples() const {
  // The device's part of it is known better.
  double least[2];
  for (const Side side : {Side::kCandidate, Side::kBaseline}) {
    std::vector<double> device;
    for (const Pair& pair : pairs_)
      device.push_back(
          DeviceSeconds(side == Side::kCandidate ? pair.candidate : pair.baseline, side));
    least[side == Side::kCandidate ? 0 : 1] = device.empty() ? 0 : Median(device);
  }
  std::vector<PairedSample> samples;
  for (const Pair& pair : latency_pairs_)
    samples.push_back({std::max(GatedSeconds(pair.baseline, Side::kBaseline, true), least[1]),
                       std::max(GatedSeconds(pair.candidate, Side::kCandidate, true), least[0])});
  return samples;
}

bool Examination::LatencyIsDue() const {
  return job_.target == Target::kCuda && latency_pairs_.size() < pairs_.size() / kLatencyEvery + 1;
}

bool Examination::LatencyIsKnown() const {
  return job_.target != Target::kCuda || latency_pairs_.size() >= kLeastLatencyPairs;
}

ClockTimes Examination::Reading(const std::vector<PairedSample>& samples,
                                const PairedRatio& ratio) const {
  std::vector<double> seconds[2];
  for (const PairedSample& sample : samples) {
    seconds[0].push_back(sample.candidate_seconds);
    seconds[1].push_back(sample.baseline_seconds);
  }
  return {Summarise(seconds[0]), Summarise(seconds[1]),
          Speedup{ratio.median, ratio.low, ratio.high, ratio.significant, job_.baseline}};
}

void Examination::RecordClocks(const std::vector<PairedSample>& samples, const PairedRatio& ratio,
                               const PairedRatioOptions& options) {
  ClockTimes record = Reading(samples, ratio);
  if (job_.target == Target::kCuda) {
    evaluation_.device = record;
    const std::vector<PairedSample> latencies = LatencySamples();
    PairedRatioOptions of_latency = options;
    of_latency.between_process_seconds = kBetweenProcessSecondsOfLatency;
    if (const auto latency = ComputePairedRatio(latencies, of_latency); latency.ok())
      evaluation_.latency = Reading(latencies, *latency);
    if (protocol_.latency_is_record && evaluation_.latency) record = *evaluation_.latency;
  }
  evaluation_.candidate_time = record.candidate;
  evaluation_.baseline_time = record.baseline;
  evaluation_.speedup = record.speedup;
}

}  // namespace davinci::judge
