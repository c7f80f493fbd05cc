// The metrics that the rules are made of. docs/bench.md defines them for readers.
//
// A Metric turns one task's samples into its contribution (estimate.h). An `Answer` says which
// attempt stands for a sample; nothing means the sample has none and does not count.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "davinci/score/attempt.h"
#include "davinci/score/estimate.h"

namespace davinci::score {

struct Metric {
  std::string key;    // "fast_1/best", stable, for machines
  std::string title;  // for people
  Scale scale = Scale::kRate;
  std::function<Contribution(const TaskSamples&)> of;
};

using Answer = std::function<std::optional<Attempt>(const Sample&)>;
Answer Last();
Answer BestUpTo(int turn, Order order = Order::kMedian);  // 0: all turns
Answer AtTurn(int turn);                                  // that turn alone
Answer IfFirstIsWrong();  // the best of all turns; nothing where the first is correct

enum class Pool {
  kTaskMean,     // mean over samples within a task, then over tasks
  kAllSamples,   // every (task, sample) pair weighs the same
  kFirstSample,  // one sample per task
  kBestSample,   // the best answer of a task's samples
};

// `name` of the answer and the pool goes into keys: "last", "best", "turn_2".
struct Reading {
  std::string name;
  Answer answer;
  Pool pool = Pool::kTaskMean;
  Order order = Order::kMedian;  // of kBestSample
};

enum class Compare { kGreater, kAtLeast };

Metric Correctness(const Reading& reading);
// Correct, with a kernel of its own.
Metric OwnKernel(const Reading& reading);
// Correct and speedup > p (or >= p). Without a speedup only p < 0 would be passed under kGreater,
// p <= 0 under kAtLeast; so fast_0 with ">" leaves out what is correct but was not timed.
Metric FastP(const Reading& reading, double p, Compare compare);
// Correct, significantly faster than the baseline, and speedup > p (>= 1). Its key is that of FastP
// under kGreater.
Metric FasterP(const Reading& reading, double p);
// Geometric mean of the speedups of correct, timed answers; with `above` only of those faster.
Metric GeomeanSpeedup(const Reading& reading, double above = 0);
// Arithmetic mean of speedups; wrong or untimed answers count 0.
Metric MeanSpeedup(const Reading& reading);
// Any function of the answer, averaged.
Metric MeanOf(const Reading& reading, const std::string& key, const std::string& title,
              std::function<double(const Attempt&)> value);
// 1 - C(n - c, k) / C(n, k) with c of n samples passing (Chen et al. 2021, unbiased); tasks with
// fewer than k samples are left out.
Metric PassAtK(const Reading& reading, int k, std::string key, std::string title,
               std::function<bool(const Attempt&)> passes);
// Expected best speedup among k samples drawn without replacement (0 when none is correct).
Metric BestSpeedupAtK(const Reading& reading, int k);

// The pure parts, for tests. n >= k >= 1, 0 <= c <= n.
double PassAtKEstimate(int n, int c, int k);
// Values in any order; k <= values.size().
double ExpectedBestOf(std::vector<double> values, int k);

}  // namespace davinci::score
