// Our own summary: everything that the papers' rules are made of, on the judge's verdicts as they
// stand. Source: docs/bench.md.
#include <fmt/format.h>

#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

constexpr double kThresholds[] = {0, 0.5, 0.8, 1, 1.2, 1.5, 2, 3};

Attempt BenchRule(const Turn& turn, const std::string*) { return JudgedAttempt(turn); }

std::vector<Metric> BenchMetrics(const RunShape& shape) {
  const Reading best{"best turn", BestUpTo(0)};
  const Reading last{"last turn", Last()};
  std::vector<Metric> metrics = {Correctness(best), Correctness(last),    OwnKernel(best),
                                 OwnKernel(last),   GeomeanSpeedup(best), GeomeanSpeedup(last),
                                 MeanSpeedup(best), MeanSpeedup(last),    SurelyFaster(best),
                                 SurelyFaster(last)};
  for (const Reading& reading : {best, last}) {
    for (const Compare compare : {Compare::kGreater, Compare::kAtLeast})
      for (const double p : kThresholds) metrics.push_back(FastP(reading, p, compare));
  }
  for (int k = 1; k <= shape.most_samples; k *= 2) {
    metrics.push_back(PassAtK(best, k, "pass", "pass", [](const Attempt& a) { return a.correct; }));
    metrics.push_back(PassAtK(best, k, "pass_fast_1", "fast_1 pass",
                              [](const Attempt& a) { return a.correct && a.speedup > 1; }));
    metrics.push_back(BestSpeedupAtK(best, k));
  }
  for (int turn = 1; turn <= shape.max_turns; ++turn) {
    const Reading reading{fmt::format("best by turn {}", turn), BestUpTo(turn)};
    metrics.push_back(Correctness(reading));
    metrics.push_back(FastP(reading, 1, Compare::kGreater));
    metrics.push_back(GeomeanSpeedup(reading));
  }
  return metrics;
}

}  // namespace

Protocol BenchProtocol() {
  return {"bench",
          "davinci bench",
          "An answer is correct when the judge objected to nothing. Rates are means over a task's "
          "samples, then over tasks. Speedups are medians over the log's baseline.",
          BenchRule,
          BenchMetrics,
          {}};
}

}  // namespace davinci::score
