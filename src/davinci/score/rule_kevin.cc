// Kevin (arXiv 2507.11948). Score S = 0.3 correct + speedup (0 when wrong); zero for
// what its static rules object to (kevin_screen.h), and without a kernel at all. A trajectory
// counts with its best correct kernel; best@n takes the best of a task's trajectories, avg@n their
// mean, both averaged over tasks with 0 where nothing is correct.
#include <fmt/format.h>

#include "davinci/data/turn_facts.h"
#include "davinci/score/kevin_screen.h"
#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

Attempt KevinRule(const Turn& turn, const std::string* source) {
  Attempt attempt = JudgedAttempt(turn);
  if (IsDecoy(turn)) attempt.correct = false;
  if (source != nullptr && attempt.correct && KevinObjection(*source)) attempt.correct = false;
  if (!attempt.correct) attempt.speedup = attempt.speedup_low = 0;
  return attempt;
}

double KevinScore(const Attempt& a) { return KevinReward(a.correct, a.speedup); }

std::vector<Metric> KevinMetrics(const RunShape& shape) {
  const int n = shape.most_samples;
  const Reading best{fmt::format("best@{}", n), BestUpTo(0), Pool::kBestSample};
  const Reading average{fmt::format("avg@{}", n), BestUpTo(0), Pool::kTaskMean};
  std::vector<Metric> metrics;
  for (const Reading& reading : {best, average}) {
    metrics.push_back(Correctness(reading));
    metrics.push_back(MeanSpeedup(reading));
    metrics.push_back(FastP(reading, 1, Compare::kGreater));
    metrics.push_back(FastP(reading, 1.5, Compare::kGreater));
  }
  for (int k = 2; k < n; k *= 2) metrics.push_back(BestSpeedupAtK({"best turn", BestUpTo(0)}, k));
  for (int turn = 1; turn <= shape.max_turns; ++turn)
    metrics.push_back(MeanOf({fmt::format("turn {}", turn), AtTurn(turn)}, "score",
                             "score 0.3 C + speedup", KevinScore));
  return metrics;
}

}  // namespace

Protocol KevinProtocol() {
  return {
      "kevin",
      "Kevin",
      "Each trajectory counts with its best correct kernel, 0 when none is. best@n: the best of "
      "a task's n trajectories; avg@n: their mean; then the mean over tasks. Kernels whose forward "
      "has torch.nn or functional calls, kernels with try, except or pass anywhere, and those "
      "without a kernel of their own count as wrong.",
      KevinRule,
      KevinMetrics,
      {"the words are looked for in the stored sources, outside comments and strings; the "
       "paper's own screen is not published",
       "n is the largest number of samples of a task in this log"}};
}

}  // namespace davinci::score
