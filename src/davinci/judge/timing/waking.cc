#include "davinci/judge/timing/waking.h"

#include <algorithm>
#include <vector>

#include "davinci/stats/summary.h"

namespace davinci::judge {
namespace {

// Requests that do nothing, with and without the threads; and standard errors that are added, since
// what is measured here excuses.
constexpr int kRequests = 12;
constexpr double kNoise = 3;
// A candidate may have more than these; what they cost is then charged as work is.
constexpr int kMostThreads = 512;

}  // namespace

Status MeasureWaking(Trial& trial) {
  trial.waking = {};
  Runner& baseline = *trial.session->baseline.runner;
  const int more = std::min(
      trial.candidate.timed.runner->process().NumThreads() - baseline.process().NumThreads(),
      kMostThreads);
  if (more <= 0) return Status::Ok();
  std::vector<double> cpu[2];
  std::vector<double> main_cpu[2];
  std::vector<double> wall[2];
  for (const bool with : {false, true}) {
    for (int i = 0; i <= kRequests; ++i) {
      const Answer answer = baseline.AskFrozen(to_runner::Sleepers{with ? more : 0},
                                               trial.protocol.load_timeout_seconds);
      if (answer.failure) return Internal(answer.failure->message);
      if (i == 0) continue;  // starts or ends them
      cpu[with].push_back(1e-9 * static_cast<double>(answer.cpu_ns));
      main_cpu[with].push_back(1e-9 * static_cast<double>(answer.main_cpu_ns));
      wall[with].push_back(1e-9 * static_cast<double>(answer.stopped_ns - answer.others_ns));
    }
  }
  const Answer ended =
      baseline.AskFrozen(to_runner::Sleepers{0}, trial.protocol.load_timeout_seconds);
  if (ended.failure) return Internal(ended.failure->message);
  const auto cost = [](const std::vector<double>(&seconds)[2]) {
    return std::max(0.0, stats::Percentile(seconds[1], 0.25) - stats::Percentile(seconds[0], 0.25) +
                             kNoise * stats::MedianStandardError(seconds[1]));
  };
  trial.waking = {cost(cpu), cost(main_cpu), cost(wall)};
  trial.report.evidence.waking = {more, 1e3 * trial.waking.cpu_seconds,
                                  1e3 * trial.waking.wall_seconds};
  return Status::Ok();
}

}  // namespace davinci::judge
