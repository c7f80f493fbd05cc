// TrainingView: what a report shows of a training run (davinci sft, davinci train), as plain
// values. The owner of a run fills it from the run's log (training/training_log.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace davinci::report {

// One line of the log: its numbers by path, "reward/policy".
struct TrainingPoint {
  int64_t step = 0;
  std::map<std::string, double> values;
};

struct TrainingView {
  std::string title;
  std::string folder;
  bool reinforcement = false;         // train: steps with rewards; sft: updates
  bool finished = false;              // as many points as the recipe asks for
  std::vector<TrainingPoint> points;  // ascending steps
  std::vector<std::pair<std::string, std::string>> settings;  // name and value, as resolved
};

}  // namespace davinci::report
