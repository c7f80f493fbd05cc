// What a strategy knows of the attempts made so far at one task.
#pragma once

#include <string>
#include <vector>

#include "davinci/data/rollout.h"
#include "davinci/search/turn_window.h"

namespace davinci::search {

// One turn that was generated and judged.
struct Attempt {
  TurnId id;
  bool correct = false;
  double speedup = 0;   // median; 0 when incorrect or not timed
  TurnScore score;      // for windows
  std::string code;     // its source, when the strategy asked for it; "": none
  std::string insight;  // what its author expected or learned, one sentence; may be empty
};

struct RolloutHistory {
  RolloutId id;
  std::vector<Attempt> turns;
};

// Rollouts that are over, in the order in which they were planned.
using History = std::vector<RolloutHistory>;

}  // namespace davinci::search
