// Our own summary: everything that the papers' rules are made of, on the judge's verdicts as they
// stand. Source: docs/bench.md.
#include <fmt/format.h>

#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

constexpr double kBenchThresholds[] = {0, 0.5, 0.8, 1, 1.2, 1.5, 2, 3};

Attempt BenchRule(const Turn& turn, const std::string*) { return JudgedAttempt(turn); }

std::vector<Metric> BenchMetrics(const RunShape& shape) {
  const Reading best{"best turn", BestUpTo(0)};
  const Reading last{"last turn", Last()};
  std::vector<Metric> metrics = {Correctness(best), Correctness(last),    OwnKernel(best),
                                 OwnKernel(last),   GeomeanSpeedup(best), GeomeanSpeedup(last),
                                 MeanSpeedup(best), MeanSpeedup(last)};
  // The kernel of a trajectory that is surely the best.
  const Reading sure{"best turn", BestUpTo(0, Order::kSure)};
  for (const Reading& reading : {best, last}) {
    const Reading& of_faster = reading.name == sure.name ? sure : reading;
    for (const double p : kBenchThresholds)
      metrics.push_back(p < 1 ? FastP(reading, p, Compare::kGreater) : FasterP(of_faster, p));
    for (const double p : kBenchThresholds) metrics.push_back(FastP(reading, p, Compare::kAtLeast));
  }
  for (int k = 1; k <= shape.most_samples; k *= 2) {
    metrics.push_back(PassAtK(best, k, "pass", "pass", [](const Attempt& a) { return a.correct; }));
    metrics.push_back(PassAtK(sure, k, "pass_fast_1", "fast_1 pass",
                              [](const Attempt& a) { return a.correct && a.faster; }));
    metrics.push_back(BestSpeedupAtK(best, k));
  }
  if (shape.max_turns > 1) metrics.push_back(Correctness({"first answer wrong", IfFirstIsWrong()}));
  for (int turn = 1; turn <= shape.max_turns; ++turn) {
    const Reading reading{fmt::format("best by turn {}", turn), BestUpTo(turn)};
    metrics.push_back(Correctness(reading));
    metrics.push_back(FasterP({reading.name, BestUpTo(turn, Order::kSure)}, 1));
    metrics.push_back(GeomeanSpeedup(reading));
  }
  return metrics;
}

}  // namespace

Protocol BenchProtocol() {
  return {"bench",
          "davinci bench",
          "An answer is correct when the judge objected to nothing. Rates are means over a task's "
          "samples, then over tasks. Speedups are medians over the log's baseline; fast_p (>) from "
          "p = 1 "
          "on counts what is significantly faster than it.",
          BenchRule,
          BenchMetrics,
          {}};
}

}  // namespace davinci::score
