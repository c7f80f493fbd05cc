#include "davinci/score/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace davinci::score {
namespace {

// The answers that count for a task.
std::vector<Attempt> AnswersOf(const Reading& reading, const TaskSamples& task) {
  std::vector<Attempt> answers;
  for (const Sample& sample : task.samples) {
    if (auto answer = reading.answer(sample)) answers.push_back(*std::move(answer));
    if (reading.pool == Pool::kFirstSample) break;
  }
  if (reading.pool == Pool::kBestSample && !answers.empty()) {
    const auto best = std::max_element(
        answers.begin(), answers.end(),
        [&](const Attempt& a, const Attempt& b) { return IsBetter(b, a, reading.order); });
    answers = {*best};
  }
  return answers;
}

// Sums `value` over the answers that `counts`.
template <typename Counts, typename Value>
Contribution Sum(const Reading& reading, const TaskSamples& task, const Counts& counts,
                 const Value& value) {
  Contribution total;
  for (const Attempt& answer : AnswersOf(reading, task)) {
    if (!counts(answer)) continue;
    total.sum += value(answer);
    total.weight += 1;
  }
  if (reading.pool != Pool::kAllSamples && total.weight > 0) total = {total.sum / total.weight, 1};
  return total;
}

bool Always(const Attempt&) { return true; }

Metric Share(const Reading& reading, std::string key, std::string title,
             std::function<bool(const Attempt&)> passes) {
  return {std::move(key), std::move(title), Scale::kRate,
          [reading, passes = std::move(passes)](const TaskSamples& task) {
            return Sum(reading, task, Always,
                       [&](const Attempt& a) { return passes(a) ? 1.0 : 0.0; });
          }};
}

std::string KeyOf(std::string_view metric, const Reading& reading) {
  return fmt::format("{}/{}", metric, reading.name);
}

std::string TitleOf(std::string_view metric, const Reading& reading) {
  return fmt::format("{}, {}", metric, reading.name);
}

}  // namespace

Answer Last() {
  return [](const Sample& sample) { return std::optional<Attempt>(LastAttempt(sample)); };
}

Answer BestUpTo(int turn, Order order) {
  return [turn, order](const Sample& sample) { return BestAttempt(sample, turn, order); };
}

Answer AtTurn(int turn) {
  return [turn](const Sample& sample) {
    for (const Attempt& attempt : sample.attempts)
      if (attempt.turn == turn) return std::optional<Attempt>(attempt);
    return std::optional<Attempt>();
  };
}

Answer IfFirstIsWrong() {
  return [](const Sample& sample) {
    for (const Attempt& attempt : sample.attempts)
      if (attempt.turn == 1 && !attempt.correct) return BestAttempt(sample, 0);
    return std::optional<Attempt>();
  };
}

Metric Correctness(const Reading& reading) {
  return Share(reading, KeyOf("correct", reading), TitleOf("correct", reading),
               [](const Attempt& a) { return a.correct; });
}

Metric OwnKernel(const Reading& reading) {
  return Share(reading, KeyOf("own_kernel", reading),
               TitleOf("correct, with a kernel of its own", reading),
               [](const Attempt& a) { return a.correct && !a.only_pytorch; });
}

Metric FastP(const Reading& reading, double p, Compare compare) {
  const bool strict = compare == Compare::kGreater;
  return Share(reading, KeyOf(fmt::format("fast_{:g}{}", p, strict ? "" : "_ge"), reading),
               TitleOf(fmt::format("fast_{:g} ({})", p, strict ? ">" : "≥"), reading),
               [p, strict](const Attempt& a) {
                 return a.correct && (strict ? a.speedup > p : a.speedup >= p);
               });
}

Metric FasterP(const Reading& reading, double p) {
  return Share(reading, KeyOf(fmt::format("fast_{:g}", p), reading),
               TitleOf(fmt::format("fast_{:g} (>)", p), reading),
               [p](const Attempt& a) { return a.correct && a.faster && a.speedup > p; });
}

Metric GeomeanSpeedup(const Reading& reading, double above) {
  const std::string name =
      above > 0 ? fmt::format("geomean_above_{:g}", above) : std::string("geomean");
  const std::string title = above > 0 ? fmt::format("geomean speedup of those > {:g}", above)
                                      : std::string("geomean speedup of correct");
  return {KeyOf(name, reading), TitleOf(title, reading), Scale::kGeometric,
          [reading, above](const TaskSamples& task) {
            return Sum(
                reading, task, [above](const Attempt& a) { return a.correct && a.speedup > above; },
                [](const Attempt& a) { return std::log(a.speedup); });
          }};
}

Metric MeanOf(const Reading& reading, const std::string& key, const std::string& title,
              std::function<double(const Attempt&)> value) {
  return {KeyOf(key, reading), TitleOf(title, reading), Scale::kMean,
          [reading, value = std::move(value)](const TaskSamples& task) {
            return Sum(reading, task, Always, value);
          }};
}

Metric MeanSpeedup(const Reading& reading) {
  return MeanOf(reading, "mean_speedup", "mean speedup, 0 if wrong",
                [](const Attempt& a) { return a.correct ? a.speedup : 0.0; });
}

double PassAtKEstimate(int n, int c, int k) {
  // All k drawn from the n - c that fail.
  double all_fail = 1;
  for (int i = 0; i < k; ++i) all_fail *= std::max(0.0, static_cast<double>(n - c - i)) / (n - i);
  return 1 - all_fail;
}

double ExpectedBestOf(std::vector<double> values, int k) {
  std::sort(values.begin(), values.end());
  const int n = static_cast<int>(values.size());
  // Chance that the i-th smallest (from 1) is the best of k: C(i-1, k-1) / C(n, k).
  double chance = static_cast<double>(k) / n;
  double expected = 0;
  for (int i = n; i >= k; --i) {
    expected += chance * values[static_cast<size_t>(i) - 1];
    if (i > 1) chance *= static_cast<double>(i - k) / (i - 1);
  }
  return expected;
}

Metric PassAtK(const Reading& reading, int k, std::string key, std::string title,
               std::function<bool(const Attempt&)> passes) {
  return {
      KeyOf(fmt::format("{}@{}", key, k), reading),
      TitleOf(fmt::format("{}@{}", title, k), reading), Scale::kRate,
      [reading, k, passes = std::move(passes)](const TaskSamples& task) -> Contribution {
        const std::vector<Attempt> answers = AnswersOf(reading, task);
        if (std::ssize(answers) < k) return {};
        const auto passed = std::count_if(answers.begin(), answers.end(), passes);
        return {PassAtKEstimate(static_cast<int>(answers.size()), static_cast<int>(passed), k), 1};
      }};
}

Metric BestSpeedupAtK(const Reading& reading, int k) {
  return {KeyOf(fmt::format("best_speedup@{}", k), reading),
          TitleOf(fmt::format("expected best speedup@{}", k), reading), Scale::kMean,
          [reading, k](const TaskSamples& task) -> Contribution {
            std::vector<double> values;
            for (const Attempt& answer : AnswersOf(reading, task))
              values.push_back(answer.correct ? answer.speedup : 0);
            if (std::ssize(values) < k) return {};
            return {ExpectedBestOf(std::move(values), k), 1};
          }};
}

}  // namespace davinci::score
