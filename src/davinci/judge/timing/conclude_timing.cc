#include "davinci/judge/timing/conclude_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "davinci/data/shown_interval.h"
#include "davinci/judge/timing/host_load.h"
#include "davinci/judge/timing/window_times.h"
#include "davinci/stats/charges.h"
#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/stopping_criterion.h"
#include "davinci/stats/summary.h"
#include "davinci/stats/window_time.h"

namespace davinci::judge {
namespace {

// Unwritten pages of an output below which no label is set.
constexpr int64_t kFewPages = 16;
// Latency of one program in two processes differs by this much.
constexpr double kBetweenProcessSecondsOfLatency = 3e-6;

TimeSummary Summarise(const std::vector<double>& seconds) {
  if (seconds.empty()) return {};
  return {1e3 * stats::Median(seconds), 1e3 * *std::min_element(seconds.begin(), seconds.end()),
          1e3 * *std::max_element(seconds.begin(), seconds.end()),
          static_cast<int>(seconds.size())};
}

ClockTimes SummariseClock(const std::string& baseline,
                          const std::vector<stats::PairedSample>& samples,
                          const stats::PairedRatio& ratio) {
  std::vector<double> seconds[2];
  for (const stats::PairedSample& sample : samples) {
    seconds[0].push_back(sample.candidate_seconds);
    seconds[1].push_back(sample.baseline_seconds);
  }
  return {Summarise(seconds[0]), Summarise(seconds[1]),
          Speedup{ratio.median, ratio.low, ratio.high, ratio.significant, baseline,
                  ratio.decided_low, ratio.decided_high}};
}

// Which clock is the time of record.
void RecordClocks(Trial& trial, const std::vector<stats::PairedSample>& samples,
                  const stats::PairedRatio& ratio, const stats::PairedRatioOptions& options) {
  ClockTimes record = SummariseClock(trial.job.baseline, samples, ratio);
  if (trial.job.target == Target::kCuda) {
    trial.report.evaluation.device = record;
    std::vector<stats::PairedSample> latencies =
        WindowSamples(trial.pairs, trial.windows, trial.pairs.latency, trial.windows.from_idle);
    stats::Charge(trial.charges.latency, &latencies);
    stats::PairedRatioOptions of_latency = options;
    of_latency.between_process_seconds = kBetweenProcessSecondsOfLatency;
    if (const auto latency = stats::ComputePairedRatio(latencies, of_latency); latency.ok())
      trial.report.evaluation.latency = SummariseClock(trial.job.baseline, latencies, *latency);
    if (trial.protocol.latency_is_record && trial.report.evaluation.latency)
      record = *trial.report.evaluation.latency;
  }
  trial.report.evaluation.candidate_time = record.candidate;
  trial.report.evaluation.baseline_time = record.baseline;
  trial.report.evaluation.speedup = record.speedup;
}

}  // namespace

void ConcludeTiming(Trial& trial, const stats::StoppingOptions& options, const TimingPhase& phase,
                    const std::optional<Average>& uneven) {
  trial.report.evidence.stopped_because = stats::StopReasonName(phase.decision.reason);
  stats::PairedRatio ratio = phase.decision.ratio.value();
  if (ratio.launches.size() > 1) trial.report.evidence.launches = ratio.launches;
  const double median_seconds = [&] {
    std::vector<double> seconds;
    for (const stats::PairedSample& sample : phase.samples)
      seconds.push_back(sample.candidate_seconds);
    return stats::Median(seconds);
  }();
  if (uneven) {
    // Twice in a row: not a neighbour's doing. Callers pay the average.
    trial.report.evaluation.AddLabel(Label::kUnevenCalls, {fmt::format("{:.3g}", ratio.median),
                                                           fmt::format("{:.3g}", uneven->ratio)});
    ratio = stats::AtAverage(ratio, uneven->ratio, options.ratio.band);
  }
  if (trial.job.target == Target::kCpu) ratio = WithinLoad(trial, ratio, options.ratio);
  if (trial.protocol.staged && trial.report.evidence.windows) {
    const WindowEvidence& windows = *trial.report.evidence.windows;
    const auto medians = [&](size_t side) {
      return stats::CallMedians{windows.full_queue_ms[side].value_or(0),
                                windows.alone_ms[side].value_or(0)};
    };
    ratio =
        stats::WithError(ratio, stats::HostErrorLogSd(medians(0), medians(1)), options.ratio.band);
  }
  const stats::Charges& charges = trial.charges.record;
  ratio = stats::WithDoubtOf(charges, ratio, median_seconds, options.ratio.band);
  if (charges.arming > 0)
    trial.report.evaluation.AddLabel(Label::kWorkBetweenCalls,
                                     {fmt::format("{:.3f}", 1e3 * charges.arming)});
  if (charges.windows > 0)
    trial.report.evaluation.AddLabel(Label::kChargedWindows,
                                     {fmt::format("{:.3f}", 1e3 * charges.windows)});
  RecordClocks(trial, phase.samples, ratio, options.ratio);
  if (const int64_t pages = trial.pairs.record.back().candidate.unwritten_pages; pages > kFewPages)
    trial.report.evaluation.AddLabel(Label::kUnwrittenPages, {std::to_string(pages)});
  if (!ratio.significant && !IsNarrow({ratio.decided_low, ratio.decided_high, ""}))
    trial.report.evaluation.AddLabel(
        Label::kInconclusive,
        {fmt::format("{:.3g}", ratio.decided_low), fmt::format("{:.3g}", ratio.decided_high)});
  if (ratio.unsteadiness > stats::kSteady)
    trial.report.evaluation.AddLabel(Label::kUnsteadyTiming,
                                     {fmt::format("{:.1f}", ratio.unsteadiness)});
}

}  // namespace davinci::judge
