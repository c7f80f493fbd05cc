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
  for (const TimedPair& pair : trial_.pairs.latency) readings.push_back(ReadingOf(pair.baseline));
  if (readings.empty() || trial_.pairs.first_call.empty()) return 0;
  return stats::FirstCallSeconds(readings, trial_.windows.from_idle.calls, trial_.pairs.first_call,
                                 trial_.windows.from_idle.calls > 1 ? 1 : 2);
}

std::vector<double> Examination::WindowSeconds(const std::vector<TimedPair>& pairs,
                                               const WindowKind& kind, Side side) const {
  std::vector<stats::WindowReading> readings[2];
  for (const TimedPair& pair : pairs) {
    readings[0].push_back(ReadingOf(pair.candidate));
    readings[1].push_back(ReadingOf(pair.baseline));
  }
  // A call from an idle queue takes no less than the same call in a full one.
  const std::vector<double> full =
      kind.idle ? WindowSeconds(trial_.pairs.record, trial_.windows.full_queue, side)
                : std::vector<double>();
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

std::vector<stats::PairedSample> Examination::WindowSamples(const std::vector<TimedPair>& pairs,
                                                            const WindowKind& kind,
                                                            double to_candidate,
                                                            double to_baseline) const {
  const std::vector<double> candidate = WindowSeconds(pairs, kind, Side::kCandidate);
  const std::vector<double> baseline = WindowSeconds(pairs, kind, Side::kBaseline);
  // From an idle queue events show what the host does between them, too.
  const double events = kind.idle ? 0 : trial_.session->between_events_seconds;
  std::vector<stats::PairedSample> samples;
  for (size_t i = 0; i < candidate.size(); ++i)
    samples.push_back({baseline[i] + events + to_baseline, candidate[i] + events + to_candidate});
  return samples;
}

std::vector<stats::PairedSample> Examination::SamplesOfRecord() const {
  return WindowSamples(trial_.pairs.record, trial_.windows.full_queue,
                       trial_.charges.record + trial_.charges.host_pace.candidate_seconds,
                       trial_.charges.host_pace.baseline_seconds);
}

// How much longer than after the baseline's windows the oracle found the device busy, for each
// call.
double Examination::AfterDone(const std::vector<TimedPair>& pairs, const WindowKind& kind) const {
  std::vector<double> settle[2];
  for (const TimedPair& pair : pairs) {
    settle[0].push_back(Seconds(pair.candidate.settle_ns));
    settle[1].push_back(Seconds(pair.baseline.settle_ns));
  }
  if (pairs.empty()) return 0;
  const double call = stats::Median(WindowSeconds(pairs, kind, Side::kCandidate));
  return stats::AfterDoneSeconds(settle[0], settle[1], kind.calls, call);
}

void Examination::ChargeWindows() {
  stats::CallBounds bounds;
  bounds.alone = WindowSeconds(trial_.pairs.alone, trial_.windows.alone, Side::kCandidate);
  bounds.latency = WindowSeconds(trial_.pairs.latency, trial_.windows.from_idle, Side::kCandidate);
  bounds.usual_latency =
      WindowSeconds(trial_.pairs.latency, trial_.windows.from_idle, Side::kBaseline);
  bounds.one_call = trial_.windows.full_queue.calls == 1;
  bounds.usual_alone = WindowSeconds(trial_.pairs.alone, trial_.windows.alone, Side::kBaseline);
  const std::vector<double> usual =
      WindowSeconds(trial_.pairs.record, trial_.windows.full_queue, Side::kBaseline);
  bounds.usual_seconds = usual.empty() ? 0 : stats::Median(usual);
  const auto empty = [](const std::vector<TimedPair>& pairs) {
    std::vector<stats::WindowReading> readings;
    for (const TimedPair& pair : pairs) readings.push_back(ReadingOf(pair.baseline));
    return stats::EmptySeconds(readings);
  };
  bounds.flush_seconds =
      (empty(trial_.pairs.record) - empty(trial_.pairs.alone)) / trial_.windows.full_queue.calls;
  const std::vector<double> own =
      WindowSeconds(trial_.pairs.record, trial_.windows.full_queue, Side::kCandidate);
  trial_.charges.host_pace =
      own.empty() ? stats::HostPace() : stats::HostPaceSeconds(stats::Median(own), bounds);
  const double first = FirstCallSeconds();
  for (auto* latency : {&bounds.latency, &bounds.usual_latency})  // they are bounds here
    for (double& seconds : *latency) seconds += first / trial_.windows.from_idle.calls;
  trial_.charges.record = own.empty() ? 0 : stats::ChargedSeconds(stats::Median(own), bounds);
  trial_.charges.in_doubt = !own.empty() && stats::ChargeIsInDoubt(stats::Median(own), bounds);
  const double after = AfterDone(trial_.pairs.record, trial_.windows.full_queue);
  trial_.charges.record = std::max(trial_.charges.record, after);
  trial_.charges.latency = AfterDone(trial_.pairs.latency, trial_.windows.from_idle);
  const auto middles = [](const std::vector<double>& candidate,
                          const std::vector<double>& baseline) {
    WindowEvidence::Medians medians;
    if (!candidate.empty()) medians[0] = 1e3 * stats::Median(candidate);
    if (!baseline.empty()) medians[1] = 1e3 * stats::Median(baseline);
    return medians;
  };
  WindowEvidence& windows = trial_.report.evidence.windows.emplace();
  windows.calls = trial_.windows.full_queue.calls;
  windows.one_memory = trial_.windows.one_memory;
  windows.empty_ms = 1e3 * empty(trial_.pairs.record);
  windows.turn_ms = 1e3 * empty(trial_.pairs.alone);
  windows.flush_ms = 1e3 * bounds.flush_seconds;
  windows.first_call_ms = 1e3 * first;
  windows.between_events_ms = 1e3 * trial_.session->between_events_seconds;
  windows.full_queue_ms = middles(own, usual);
  windows.alone_ms = middles(bounds.alone, bounds.usual_alone);
  windows.after_done_ms = {1e3 * after, 1e3 * trial_.charges.latency};
  windows.charged_ms = 1e3 * trial_.charges.record;
  windows.host_ms = {1e3 * trial_.charges.host_pace.candidate_seconds,
                     1e3 * trial_.charges.host_pace.baseline_seconds};
  windows.not_held = trial_.pairs.record.size() - own.size();
  windows.own_cores = HasTimingCores();
  windows.pairs = trial_.windows.num_pairs;
}

ClockTimes Examination::Reading(const std::vector<stats::PairedSample>& samples,
                                const stats::PairedRatio& ratio) const {
  std::vector<double> seconds[2];
  for (const stats::PairedSample& sample : samples) {
    seconds[0].push_back(sample.candidate_seconds);
    seconds[1].push_back(sample.baseline_seconds);
  }
  return {Summarise(seconds[0]), Summarise(seconds[1]),
          Speedup{ratio.median, ratio.low, ratio.high, ratio.significant, trial_.job.baseline,
                  ratio.decided_low, ratio.decided_high}};
}

void Examination::RecordClocks(const std::vector<stats::PairedSample>& samples,
                               const stats::PairedRatio& ratio,
                               const stats::PairedRatioOptions& options) {
  ClockTimes record = Reading(samples, ratio);
  if (trial_.job.target == Target::kCuda) {
    trial_.report.evaluation.device = record;
    const std::vector<stats::PairedSample> latencies =
        WindowSamples(trial_.pairs.latency, trial_.windows.from_idle, trial_.charges.latency);
    stats::PairedRatioOptions of_latency = options;
    of_latency.between_process_seconds = kBetweenProcessSecondsOfLatency;
    if (const auto latency = stats::ComputePairedRatio(latencies, of_latency); latency.ok())
      trial_.report.evaluation.latency = Reading(latencies, *latency);
    if (trial_.protocol.latency_is_record && trial_.report.evaluation.latency)
      record = *trial_.report.evaluation.latency;
  }
  trial_.report.evaluation.candidate_time = record.candidate;
  trial_.report.evaluation.baseline_time = record.baseline;
  trial_.report.evaluation.speedup = record.speedup;
}

}  // namespace davinci::judge
