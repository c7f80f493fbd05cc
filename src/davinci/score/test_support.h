// Logs for the tests of this module, in one line each.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "davinci/score/protocol.h"

namespace davinci::score {

// A turn with outcome ok and this speedup; 0: correct, untimed; negative: wrong.
inline Turn MakeTurn(double speedup) {
  Turn turn;
  turn.language = Language::kCpp;
  turn.evaluation.outcome = speedup < 0 ? Outcome::kMismatch : Outcome::kOk;
  turn.evaluation.correct = speedup >= 0;
  if (speedup > 0)
    turn.evaluation.speedup = Speedup{speedup, 0.9 * speedup, 1.1 * speedup, true, "eager"};
  return turn;
}

inline void AddSample(ScoreInput* input, const std::string& task, std::vector<Turn> turns,
                      std::optional<int> level = std::nullopt) {
  Trajectory trajectory;
  int samples = 0;
  for (const Trajectory& other : input->trajectories) samples += other.id.task == task ? 1 : 0;
  trajectory.id = {task, 0, samples};
  int number = 0;
  for (Turn& turn : turns) turn.id = {trajectory.id, ++number};
  trajectory.turns = std::move(turns);
  input->trajectories.push_back(std::move(trajectory));
  input->levels[task] = level;
}

inline void AddSpeedups(ScoreInput* input, const std::string& task,
                        const std::vector<double>& speedups,
                        std::optional<int> level = std::nullopt) {
  std::vector<Turn> turns;
  for (const double speedup : speedups) turns.push_back(MakeTurn(speedup));
  AddSample(input, task, std::move(turns), level);
}

inline const MetricValue* FindMetric(const ScoreSection& section, std::string_view key) {
  for (const MetricValue& metric : section.metrics)
    if (metric.key == key) return &metric;
  return nullptr;
}

// NaN when the metric is not defined.
inline double ValueOf(const ScoreReport& report, std::string_view key, size_t section = 0) {
  const MetricValue* metric = FindMetric(report.sections.at(section), key);
  return metric ? metric->estimate.value : std::numeric_limits<double>::quiet_NaN();
}

inline ScoreReport ScoreAs(const ScoreInput& input, std::string_view protocol) {
  return Score(input, *ProtocolByName(protocol).value());
}

}  // namespace davinci::score
