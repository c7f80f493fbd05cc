// What windows say (examination_windows.cc measures them): seconds of a call, what is charged, and
// the clock of record (docs/judge-internals.md, "Time of record on cuda").

#include <algorithm>
#include <utility>

#include "davinci/judge/examination.h"
#include "davinci/stats/summary.h"
#include "davinci/stats/window_time.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Latency of one program in two processes differs by this much.
constexpr double kBetweenProcessSecondsOfLatency = 3e-6;

double Seconds(int64_t ns) { return 1e-9 * static_cast<double>(ns); }

stats::WindowReading ReadingOf(const CallResult& call) {
  stats::WindowReading reading{Seconds(call.window_ns), std::nullopt};
  if (call.empty_ns) reading.empty_seconds = Seconds(*call.empty_ns);
  return reading;
}

TimeSummary Summarise(const std::vector<double>& seconds) {
  if (seconds.empty()) return {};
  return {1e3 * stats::Median(seconds), 1e3 * *std::min_element(seconds.begin(), seconds.end()),
          1e3 * *std::max_element(seconds.begin(), seconds.end()),
          static_cast<int>(seconds.size())};
}

}  // namespace

double Examination::FirstCallSeconds() const {
  std::vector<stats::WindowReading> readings;
  for (const Pair& pair : latency_pairs_) readings.push_back(ReadingOf(pair.baseline));
  if (readings.empty() || first_call_windows_.empty()) return 0;
  return stats::FirstCallSeconds(readings, from_idle_.calls, first_call_windows_,
                                 from_idle_.calls > 1 ? 1 : 2);
}

std::vector<double> Examination::WindowSeconds(const std::vector<Pair>& pairs,
                                               const WindowKind& kind, Side side) const {
  std::vector<stats::WindowReading> readings[2];
  for (const Pair& pair : pairs) {
    readings[0].push_back(ReadingOf(pair.candidate));
    readings[1].push_back(ReadingOf(pair.baseline));
  }
  // A call from an idle queue takes no less than the same call in a full one.
  const std::vector<double> full =
      kind.idle ? WindowSeconds(pairs_, full_queue_, side) : std::vector<double>();
  const double least = full.empty() ? stats::kShortestSeconds : stats::Median(full);
  const double usual = stats::EmptySeconds(readings[1]);
  const double own = stats::EmptySeconds(readings[0], &usual);
  const double first = kind.idle ? FirstCallSeconds() : 0;
  const std::vector<double> seconds =
      side == Side::kBaseline ? stats::CallSeconds(readings[1], kind.calls, usual + first, least)
                              : stats::CallSeconds(readings[0], kind.calls, own + first, least);
  std::vector<double> kept;
  for (const size_t i : stats::PairsThatWereHeld(readings[0], readings[1], kind.calls, own, usual))
    kept.push_back(seconds[i]);
  return kept;
}

std::vector<stats::PairedSample> Examination::WindowSamples(const std::vector<Pair>& pairs,
                                                            const WindowKind& kind,
                                                            double to_candidate,
                                                            double to_baseline) const {
  const std::vector<double> candidate = WindowSeconds(pairs, kind, Side::kCandidate);
  const std::vector<double> baseline = WindowSeconds(pairs, kind, Side::kBaseline);
  // From an idle queue events show what the host does between them, too.
  const double events = kind.idle ? 0 : session_->between_events_seconds;
  std::vector<stats::PairedSample> samples;
  for (size_t i = 0; i < candidate.size(); ++i)
    samples.push_back({baseline[i] + events + to_baseline, candidate[i] + events + to_candidate});
  return samples;
}

std::vector<stats::PairedSample> Examination::SamplesOfRecord() const {
  return WindowSamples(pairs_, full_queue_, window_charge_ + host_pace_.candidate_seconds,
                       host_pace_.baseline_seconds);
}

// How much longer than after the baseline's windows the oracle found the device busy, for each
// call.
double Examination::AfterDone(const std::vector<Pair>& pairs, const WindowKind& kind) const {
  std::vector<double> settle[2];
  for (const Pair& pair : pairs) {
    settle[0].push_back(Seconds(pair.candidate.settle_ns));
    settle[1].push_back(Seconds(pair.baseline.settle_ns));
  }
  if (pairs.empty()) return 0;
  const double call = stats::Median(WindowSeconds(pairs, kind, Side::kCandidate));
  return stats::AfterDoneSeconds(settle[0], settle[1], kind.calls, call);
}

void Examination::ChargeWindows() {
  stats::CallBounds bounds;
  bounds.alone = WindowSeconds(alone_pairs_, alone_, Side::kCandidate);
  bounds.latency = WindowSeconds(latency_pairs_, from_idle_, Side::kCandidate);
  bounds.usual_latency = WindowSeconds(latency_pairs_, from_idle_, Side::kBaseline);
  bounds.one_call = full_queue_.calls == 1;
  bounds.usual_alone = WindowSeconds(alone_pairs_, alone_, Side::kBaseline);
  const std::vector<double> usual = WindowSeconds(pairs_, full_queue_, Side::kBaseline);
  bounds.usual_seconds = usual.empty() ? 0 : stats::Median(usual);
  const auto empty = [](const std::vector<Pair>& pairs) {
    std::vector<stats::WindowReading> readings;
    for (const Pair& pair : pairs) readings.push_back(ReadingOf(pair.baseline));
    return stats::EmptySeconds(readings);
  };
  bounds.flush_seconds = (empty(pairs_) - empty(alone_pairs_)) / full_queue_.calls;
  const std::vector<double> own = WindowSeconds(pairs_, full_queue_, Side::kCandidate);
  host_pace_ = own.empty() ? stats::HostPace() : stats::HostPaceSeconds(stats::Median(own), bounds);
  const double first = FirstCallSeconds();
  for (auto* latency : {&bounds.latency, &bounds.usual_latency})  // they are bounds here
    for (double& seconds : *latency) seconds += first / from_idle_.calls;
  window_charge_ = own.empty() ? 0 : stats::ChargedSeconds(stats::Median(own), bounds);
  charge_in_doubt_ = !own.empty() && stats::ChargeIsInDoubt(stats::Median(own), bounds);
  const double after = AfterDone(pairs_, full_queue_);
  window_charge_ = std::max(window_charge_, after);
  latency_charge_ = AfterDone(latency_pairs_, from_idle_);
  const auto middles = [](const std::vector<double>& candidate,
                          const std::vector<double>& baseline) {
    WindowEvidence::Medians medians;
    if (!candidate.empty()) medians[0] = 1e3 * stats::Median(candidate);
    if (!baseline.empty()) medians[1] = 1e3 * stats::Median(baseline);
    return medians;
  };
  WindowEvidence& windows = evidence_.windows.emplace();
  windows.calls = full_queue_.calls;
  windows.one_memory = one_memory_;
  windows.empty_ms = 1e3 * empty(pairs_);
  windows.turn_ms = 1e3 * empty(alone_pairs_);
  windows.flush_ms = 1e3 * bounds.flush_seconds;
  windows.first_call_ms = 1e3 * first;
  windows.between_events_ms = 1e3 * session_->between_events_seconds;
  windows.full_queue_ms = middles(own, usual);
  windows.alone_ms = middles(bounds.alone, bounds.usual_alone);
  windows.after_done_ms = {1e3 * after, 1e3 * latency_charge_};
  windows.charged_ms = 1e3 * window_charge_;
  windows.host_ms = {1e3 * host_pace_.candidate_seconds, 1e3 * host_pace_.baseline_seconds};
  windows.not_held = pairs_.size() - own.size();
  windows.own_cores = HasTimingCores();
  windows.pairs = window_pairs_;
}

ClockTimes Examination::Reading(const std::vector<stats::PairedSample>& samples,
                                const stats::PairedRatio& ratio) const {
  std::vector<double> seconds[2];
  for (const stats::PairedSample& sample : samples) {
    seconds[0].push_back(sample.candidate_seconds);
    seconds[1].push_back(sample.baseline_seconds);
  }
  return {Summarise(seconds[0]), Summarise(seconds[1]),
          Speedup{ratio.median, ratio.low, ratio.high, ratio.significant, job_.baseline,
                  ratio.decided_low, ratio.decided_high}};
}

void Examination::RecordClocks(const std::vector<stats::PairedSample>& samples,
                               const stats::PairedRatio& ratio,
                               const stats::PairedRatioOptions& options) {
  ClockTimes record = Reading(samples, ratio);
  if (job_.target == Target::kCuda) {
    evaluation_.device = record;
    const std::vector<stats::PairedSample> latencies =
        WindowSamples(latency_pairs_, from_idle_, latency_charge_);
    stats::PairedRatioOptions of_latency = options;
    of_latency.between_process_seconds = kBetweenProcessSecondsOfLatency;
    if (const auto latency = stats::ComputePairedRatio(latencies, of_latency); latency.ok())
      evaluation_.latency = Reading(latencies, *latency);
    if (protocol_.latency_is_record && evaluation_.latency) record = *evaluation_.latency;
  }
  evaluation_.candidate_time = record.candidate;
  evaluation_.baseline_time = record.baseline;
  evaluation_.speedup = record.speedup;
}

}  // namespace davinci::judge
