// Dr. Kernel / KernelGYM (arXiv 2602.05885): rates averaged over 8 samples, turn 3 and best of
// history, thresholds 1, 1.2, 1.5, 2; decoys score nothing; ">=", by the metric code that
// daVinci-kernel has, too. The rewards are those of the paper and of the code, which differ in
// scale.
#include <fmt/format.h>

#include <algorithm>

#include "davinci/data/turn_facts.h"
#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

Attempt DrKernelRule(const Turn& turn, const std::string*) {
  Attempt attempt = JudgedAttempt(turn);
  if (IsDecoy(turn)) attempt.correct = false;
  if (!attempt.correct) attempt.speedup = attempt.speedup_low = 0;
  return attempt;
}

double CodeReward(const Attempt& a) {
  return PublishedReward(a.correct, a.speedup, a.coverage, kDrKernelSpeedupCap);
}

double PaperReward(const Attempt& a) {
  return DrKernelPaperReward(a.correct, a.speedup, a.coverage);
}

std::vector<Metric> DrKernelMetrics(const RunShape& shape) {
  std::vector<Reading> readings = {{"last turn", Last(), Pool::kAllSamples},
                                   {"best of history", BestUpTo(0), Pool::kAllSamples}};
  for (int turn = 1; turn <= shape.max_turns; ++turn)
    readings.push_back({fmt::format("turn {}", turn), AtTurn(turn), Pool::kAllSamples});
  std::vector<Metric> metrics;
  for (const Reading& reading : readings) {
    metrics.push_back(Correctness(reading));
    for (const double p : {1.0, 1.2, 1.5, 2.0})
      metrics.push_back(FastP(reading, p, Compare::kAtLeast));
  }
  for (const Reading& reading : {readings[0], readings[1]}) {
    metrics.push_back(MeanOf(reading, "reward_paper", "reward of the paper", PaperReward));
    metrics.push_back(MeanOf(reading, "reward_code", "reward of the code", CodeReward));
  }
  return metrics;
}

}  // namespace

Protocol DrKernelProtocol() {
  return {"drkernel",
          "Dr. Kernel",
          "Share of all (task, sample) pairs that are correct and reach p times the baseline (>=), "
          "for the last turn and for the best of the history. A candidate without a kernel of its "
          "own is a decoy and counts as wrong. Rewards: C (1 + min(speedup, 3) + coverage), and "
          "half of it in the code.",
          DrKernelRule,
          DrKernelMetrics,
          {"the environment compares with a tolerance of 1e-2; correctness here is the judge's",
           "without a device profile the coverage term is 0"}};
}

}  // namespace davinci::score
