#include "davinci/judge/timing/window_times.h"

#include <algorithm>
#include <vector>

#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/summary.h"
#include "davinci/stats/window_time.h"

namespace davinci::judge {
namespace {

double Seconds(int64_t ns) { return 1e-9 * static_cast<double>(ns); }

stats::WindowReading ReadingOf(const CallResult& call) {
  stats::WindowReading reading{Seconds(call.window_ns), std::nullopt};
  if (call.empty_ns) reading.empty_seconds = Seconds(*call.empty_ns);
  return reading;
}

// What the first call of a process that was stopped takes beyond the next; 0 where not measured.
double FirstCallSeconds(const TimedPairs& pairs, const WindowPlan& plan) {
  std::vector<stats::WindowReading> readings;
  for (const TimedPair& pair : pairs.latency) readings.push_back(ReadingOf(pair.baseline));
  if (readings.empty() || pairs.first_call.empty()) return 0;
  return stats::FirstCallSeconds(readings, plan.from_idle.calls, pairs.first_call,
                                 plan.from_idle.calls > 1 ? 1 : 2);
}

std::vector<double> WindowSeconds(const TimedPairs& pairs, const WindowPlan& plan,
                                  const std::vector<TimedPair>& of, const WindowKind& kind,
                                  Side side) {
  std::vector<stats::WindowReading> readings[2];
  for (const TimedPair& pair : of) {
    readings[0].push_back(ReadingOf(pair.candidate));
    readings[1].push_back(ReadingOf(pair.baseline));
  }
  // A call from an idle queue takes no less than the same call in a full one.
  const std::vector<double> full =
      kind.idle ? WindowSeconds(pairs, plan, pairs.record, plan.full_queue, side)
                : std::vector<double>();
  const double least = full.empty() ? stats::kShortestSeconds : stats::Median(full);
  const double usual = stats::EmptySeconds(readings[1]);
  const double own = stats::EmptySeconds(readings[0], &usual);
  const double first = kind.idle ? FirstCallSeconds(pairs, plan) : 0;
  const std::vector<double> seconds =
      side == Side::kBaseline ? stats::CallSeconds(readings[1], kind.calls, usual + first, least)
                              : stats::CallSeconds(readings[0], kind.calls, own + first, least);
  std::vector<double> kept;
  for (const size_t i : stats::PairsThatWereHeld(readings[0], readings[1], kind.calls, own, usual))
    kept.push_back(seconds[i]);
  return kept;
}

// How much longer than after the baseline's windows the oracle found the device busy, for each
// call.
double AfterDone(const TimedPairs& pairs, const WindowPlan& plan, const std::vector<TimedPair>& of,
                 const WindowKind& kind) {
  std::vector<double> settle[2];
  for (const TimedPair& pair : of) {
    settle[0].push_back(Seconds(pair.candidate.settle_ns));
    settle[1].push_back(Seconds(pair.baseline.settle_ns));
  }
  if (of.empty()) return 0;
  const double call = stats::Median(WindowSeconds(pairs, plan, of, kind, Side::kCandidate));
  return stats::AfterDoneSeconds(settle[0], settle[1], kind.calls, call);
}

}  // namespace

std::vector<stats::PairedSample> WindowSamples(const TimedPairs& pairs, const WindowPlan& plan,
                                               const std::vector<TimedPair>& of,
                                               const WindowKind& kind) {
  const std::vector<double> candidate = WindowSeconds(pairs, plan, of, kind, Side::kCandidate);
  const std::vector<double> baseline = WindowSeconds(pairs, plan, of, kind, Side::kBaseline);
  // From an idle queue events show what the host does between them, too.
  const double events = kind.idle ? 0 : plan.between_events_seconds;
  std::vector<stats::PairedSample> samples;
  for (size_t i = 0; i < candidate.size(); ++i)
    samples.push_back({baseline[i] + events, candidate[i] + events});
  return samples;
}

void ChargeWindows(Trial& trial) {
  stats::CallBounds bounds;
  bounds.alone = WindowSeconds(trial.pairs, trial.windows, trial.pairs.alone, trial.windows.alone,
                               Side::kCandidate);
  bounds.latency = WindowSeconds(trial.pairs, trial.windows, trial.pairs.latency,
                                 trial.windows.from_idle, Side::kCandidate);
  bounds.usual_latency = WindowSeconds(trial.pairs, trial.windows, trial.pairs.latency,
                                       trial.windows.from_idle, Side::kBaseline);
  bounds.one_call = trial.windows.full_queue.calls == 1;
  bounds.usual_alone = WindowSeconds(trial.pairs, trial.windows, trial.pairs.alone,
                                     trial.windows.alone, Side::kBaseline);
  const std::vector<double> usual = WindowSeconds(trial.pairs, trial.windows, trial.pairs.record,
                                                  trial.windows.full_queue, Side::kBaseline);
  bounds.usual_seconds = usual.empty() ? 0 : stats::Median(usual);
  const auto empty = [](const std::vector<TimedPair>& pairs) {
    std::vector<stats::WindowReading> readings;
    for (const TimedPair& pair : pairs) readings.push_back(ReadingOf(pair.baseline));
    return stats::EmptySeconds(readings);
  };
  bounds.flush_seconds =
      (empty(trial.pairs.record) - empty(trial.pairs.alone)) / trial.windows.full_queue.calls;
  const std::vector<double> own = WindowSeconds(trial.pairs, trial.windows, trial.pairs.record,
                                                trial.windows.full_queue, Side::kCandidate);
  trial.charges.record.host_pace =
      own.empty() ? stats::HostPace() : stats::HostPaceSeconds(stats::Median(own), bounds);
  const double first = FirstCallSeconds(trial.pairs, trial.windows);
  for (auto* latency : {&bounds.latency, &bounds.usual_latency})  // they are bounds here
    for (double& seconds : *latency) seconds += first / trial.windows.from_idle.calls;
  trial.charges.record.windows =
      own.empty() ? 0 : stats::ChargedSeconds(stats::Median(own), bounds);
  trial.charges.in_doubt = !own.empty() && stats::ChargeIsInDoubt(stats::Median(own), bounds);
  const double after =
      AfterDone(trial.pairs, trial.windows, trial.pairs.record, trial.windows.full_queue);
  trial.charges.record.windows = std::max(trial.charges.record.windows, after);
  trial.charges.latency.windows =
      AfterDone(trial.pairs, trial.windows, trial.pairs.latency, trial.windows.from_idle);
  const auto middles = [](const std::vector<double>& candidate,
                          const std::vector<double>& baseline) {
    WindowEvidence::Medians medians;
    if (!candidate.empty()) medians[0] = 1e3 * stats::Median(candidate);
    if (!baseline.empty()) medians[1] = 1e3 * stats::Median(baseline);
    return medians;
  };
  WindowEvidence& windows = trial.report.evidence.windows.emplace();
  windows.calls = trial.windows.full_queue.calls;
  windows.one_memory = trial.windows.one_memory;
  windows.empty_ms = 1e3 * empty(trial.pairs.record);
  windows.turn_ms = 1e3 * empty(trial.pairs.alone);
  windows.flush_ms = 1e3 * bounds.flush_seconds;
  windows.first_call_ms = 1e3 * first;
  windows.between_events_ms = 1e3 * trial.windows.between_events_seconds;
  windows.full_queue_ms = middles(own, usual);
  windows.alone_ms = middles(bounds.alone, bounds.usual_alone);
  windows.after_done_ms = {1e3 * after, 1e3 * trial.charges.latency.windows};
  windows.charged_ms = 1e3 * trial.charges.record.windows;
  windows.host_ms = {1e3 * trial.charges.record.host_pace.candidate_seconds,
                     1e3 * trial.charges.record.host_pace.baseline_seconds};
  windows.not_held = trial.pairs.record.size() - own.size();
  windows.own_cores = HasTimingCores(trial.context, trial.job.target);
  windows.pairs = trial.windows.num_pairs;
}

}  // namespace davinci::judge
