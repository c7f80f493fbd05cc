// How often the paired experiment admits useless, helpful and harmful skills: the table of
// docs/results/skills.md. Deterministic; takes seconds.
//
//   admission_error_rates [experiments per row, default 100000]

#include <fmt/format.h>

#include <cstdlib>

#include "davinci/agent/testing/trial_simulation.h"

int main(int argc, char** argv) {
  using davinci::agent::testing::Simulate;
  using davinci::agent::testing::SimulatedSkill;
  const int experiments = argc > 1 ? std::atoi(argv[1]) : 100'000;
  struct Row {
    const char* kind;
    double uplift;
    double change;  // of correctness, in points
  };
  constexpr Row kRows[] = {{"useless", 1.0, 0},
                           {"helpful: 1.3x", 1.3, 0},
                           {"helpful: 1.5x", 1.5, 0},
                           {"helpful: 2x", 2.0, 0},
                           {"helpful: +20 points", 1, 0.2},
                           {"helpful: +40 points", 1.0, 0.4},
                           {"harmful: 0.8x", 0.8, 0},
                           {"harmful: -20 points", 1.0, -0.2},
                           {"harmful: 2x, -20 points", 2.0, -0.2},
                           {"harmful: 2x, -40 points", 2.0, -0.4}};
  fmt::print(
      "| skill | correct without | correct with | admitted | by speed | by correctness | "
      "refused for correctness | pairs |\n|---|---|---|---|---|---|---|---|\n");
  for (const bool heavy_tails : {false, true}) {
    for (const Row& row : kRows) {
      for (const double correct : {0.3, 0.5, 0.8}) {
        const double with = correct + row.change;
        if (with < 0.05 || with > 1.0) continue;
        if (heavy_tails && row.uplift == 1.0 && row.change != 0) continue;
        const auto outcome = Simulate({row.uplift, correct, with}, experiments, 0.25, heavy_tails);
        fmt::print(
            "| {}{} | {:.0f} % | {:.0f} % | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % | "
            "{:.1f} |\n",
            row.kind, heavy_tails ? " (heavy tails)" : "", 100 * correct, 100 * with,
            100 * outcome.admitted, 100 * outcome.by_speed, 100 * outcome.by_correctness,
            100 * outcome.refused_for_correctness, outcome.mean_pairs);
      }
    }
  }
  return 0;
}
