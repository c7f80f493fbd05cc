// KernelBench (arXiv 2502.10517), as its repository counts at commit 423217d: fast_p
// with strict ">", one answer per problem (sample 0), geometric means over correct and over
// correct-and-faster answers, unbiased pass@k over all samples.
#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

// The published comparison (allclose with the published tolerance) was asked beside ours where the
// log has evidence.kernelbench (docs/labels.md). Where it is stricter or laxer than ours it decides
// about correctness; an answer that only the published rule accepts was never timed.
Attempt KernelBenchRule(const Turn& turn, const std::string*) {
  Attempt attempt = JudgedAttempt(turn);
  const Outcome outcome = turn.evaluation.outcome;
  if (outcome != Outcome::kOk && outcome != Outcome::kMismatch) return attempt;
  const auto opinion = turn.evaluation.evidence.find("kernelbench");
  if (opinion == turn.evaluation.evidence.end() || !opinion->is_object()) return attempt;
  const auto correct = opinion->find("correct");
  if (correct == opinion->end() || !correct->is_boolean()) return attempt;
  attempt.correct = correct->get<bool>();
  if (!attempt.correct) attempt.speedup = attempt.speedup_low = 0;
  return attempt;
}

std::vector<Metric> KernelBenchMetrics(const RunShape& shape) {
  const Reading first{"sample 0", Last(), Pool::kFirstSample};
  const Reading all{"all samples", Last()};
  std::vector<Metric> metrics = {Correctness(first)};
  for (const double p : {0.0, 0.5, 0.8, 1.0, 1.5, 2.0})
    metrics.push_back(FastP(first, p, Compare::kGreater));
  metrics.push_back(GeomeanSpeedup(first));
  metrics.push_back(GeomeanSpeedup(first, 1));
  for (int k = 1; k <= shape.most_samples; k *= 2)
    metrics.push_back(PassAtK(all, k, "pass", "pass", [](const Attempt& a) { return a.correct; }));
  return metrics;
}

}  // namespace

Protocol KernelBenchProtocol() {
  return {"kernelbench",
          "KernelBench",
          "fast_p = share of problems whose answer is correct and faster than p times the baseline "
          "(strictly). One answer per problem: the last turn of the first sample. A correct answer "
          "without a time is missing from fast_0.",
          KernelBenchRule,
          KernelBenchMetrics,
          {"the harness knows single answers; of a trajectory the last turn is taken",
           "speedups are the judge's medians on randomised weights, the harness divides mean times",
           "where the log holds the published comparison, it decides instead of ours"}};
}

}  // namespace davinci::score
