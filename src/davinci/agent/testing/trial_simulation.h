// How sequential experiments end when the truth is known. For tests and for
// bench/admission_error_rates.cc.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "davinci/agent/sequential_rule.h"

namespace davinci::agent::testing {

struct SimulatedSkill {
  double uplift = 1;           // true ratio of speeds
  double correct_without = 1;  // probabilities
  double correct_with = 1;
};

struct SimulatedOutcome {
  double admitted = 0;  // shares of experiments
  double by_speed = 0;
  double by_correctness = 0;
  double refused_for_correctness = 0;
  double mean_pairs = 0;
};

// Generations differ by `generation_sd` on the log scale (0.25 is what sampling the same prompt
// twice does); the two arms are independent. `heavy_tails`: Student's t with 4 degrees of freedom,
// scaled to the same deviation.
inline SimulatedOutcome Simulate(const SimulatedSkill& skill, int num_experiments,
                                 double generation_sd = 0.25, bool heavy_tails = false,
                                 double min_uplift = 1.05, bool two_tasks = false,
                                 uint64_t seed = 20240607) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(0, generation_sd);
  std::student_t_distribution<double> student(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto noise = [&] {
    return heavy_tails ? student(random) * generation_sd / std::sqrt(2.0) : normal(random);
  };
  SimulatedOutcome total;
  for (int i = 0; i < num_experiments; ++i) {
    std::vector<SpeedSample> speeds;
    PairedData data;
    TrialVerdict verdict;
    while (verdict.state == TrialState::kDrawMore) {
      const bool with = uniform(random) < skill.correct_with;
      const bool without = uniform(random) < skill.correct_without;
      data.gained += with && !without;
      data.lost += !with && without;
      // Every other pair on a second task, whose kernels are all faster.
      const int task = two_tasks ? data.num_pairs % 2 : 0;
      if (with) speeds.push_back({task, true, 0.7 * task + std::log(skill.uplift) + noise()});
      if (without) speeds.push_back({task, false, 0.7 * task + noise()});
      data.speeds = speeds;
      ++data.num_pairs;
      verdict = LookAt(data, std::log(min_uplift));
    }
    total.admitted += verdict.state == TrialState::kAdmit;
    total.by_speed += verdict.reason == TrialReason::kFaster;
    total.by_correctness += verdict.reason == TrialReason::kMoreOftenCorrect;
    total.refused_for_correctness += verdict.reason == TrialReason::kLowersCorrectness ||
                                     verdict.reason == TrialReason::kMayLowerCorrectness;
    total.mean_pairs += data.num_pairs;
  }
  for (double* share : {&total.admitted, &total.by_speed, &total.by_correctness,
                        &total.refused_for_correctness, &total.mean_pairs})
    *share /= num_experiments;
  return total;
}

}  // namespace davinci::agent::testing
