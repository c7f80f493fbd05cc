// daVinci-kernel as published: kernel_multi_turn_metrics.py (metrics: unit is a (sample, turn);
// ">="; over correct samples and "in all", where wrong counts as 0; best_by_turn_t; final;
// improvement) and reward_client.py (reward 0.5 C + 0.5 min(speedup, UB) + 0.5 coverage, UB = 6 in
// the flagship run, 0 for decoys).
#include <fmt/format.h>

#include <algorithm>

#include "davinci/data/turn_facts.h"
#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

constexpr double kThresholds[] = {1, 1.2, 1.5, 2, 3};

Attempt DavinciRule(const Turn& turn, const std::string*) {
  Attempt attempt = JudgedAttempt(turn);
  if (IsDecoy(turn)) attempt.correct = false;
  if (!attempt.correct) attempt.speedup = attempt.speedup_low = 0;
  return attempt;
}

double Reward(const Attempt& a) { return PublishedReward(a.correct, a.speedup, a.coverage); }

// The same answer, but only if it is correct.
Reading OnlyCorrect(const Reading& reading) {
  return {reading.name + " of correct",
          [answer = reading.answer](const Sample& sample) {
            std::optional<Attempt> attempt = answer(sample);
            if (attempt && !attempt->correct) attempt.reset();
            return attempt;
          },
          reading.pool};
}

// Share of samples whose first and last attempt are `first_correct` and `last_correct`.
Metric Change(std::string key, std::string title, bool first_correct, bool last_correct) {
  return {std::move(key), std::move(title), Scale::kRate,
          [first_correct, last_correct](const TaskSamples& task) {
            Contribution total;
            for (const Sample& sample : task.samples) {
              total.weight += 1;
              if (sample.attempts.front().correct == first_correct &&
                  LastAttempt(sample).correct == last_correct)
                total.sum += 1;
            }
            return total;
          }};
}

void AddReading(const Reading& reading, std::vector<Metric>* metrics) {
  const Reading correct = OnlyCorrect(reading);
  metrics->push_back(Correctness(reading));
  metrics->push_back(MeanSpeedup(reading));
  metrics->push_back(MeanSpeedup(correct));
  for (const double p : kThresholds) metrics->push_back(FastP(reading, p, Compare::kAtLeast));
  for (const double p : kThresholds) metrics->push_back(FastP(correct, p, Compare::kAtLeast));
}

std::vector<Metric> DavinciMetrics(const RunShape& shape) {
  const Reading final_turn{"final", Last(), Pool::kAllSamples};
  std::vector<Metric> metrics;
  AddReading(final_turn, &metrics);
  metrics.push_back(MeanOf(final_turn, "reward", "reward", Reward));
  for (int turn = 1; turn <= shape.max_turns; ++turn) {
    const Reading reading{fmt::format("turn {}", turn), AtTurn(turn), Pool::kAllSamples};
    AddReading(reading, &metrics);
    metrics.push_back(MeanOf(reading, "compilation_rate", "compiled",
                             [](const Attempt& a) { return a.compiled ? 1.0 : 0.0; }));
  }
  for (int turn = 1; turn <= shape.max_turns; ++turn)
    AddReading({fmt::format("best by turn {}", turn), BestUpTo(turn), Pool::kAllSamples}, &metrics);
  metrics.push_back(Change("improved", "wrong at first, correct at last", false, true));
  metrics.push_back(Change("regressed", "correct at first, wrong at last", true, false));
  return metrics;
}

}  // namespace

Protocol DavinciProtocol() {
  return {
      "davinci",
      "daVinci-kernel as published",
      "Share of all (task, sample) pairs that are correct and reach p times the baseline (>=), "
      "per turn, best by turn and for the last turn; also among correct samples only. Fast_1 of "
      "the paper is fast_1 of the last turn over all samples.",
      DavinciRule,
      DavinciMetrics,
      {"the published quartile means and minima and maxima are left out",
       "without a device profile the coverage term of the reward is 0"}};
}

}  // namespace davinci::score
