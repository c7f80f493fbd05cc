// Which turns of a judged trajectory are worth learning from. Pure.
//
// Rules of a turn, in this order; the first that holds names why it has weight 0:
//   judge_error    the judge failed: nothing is known about the turn
//   no_code        the reply holds no candidate
//   truncated      the reply was cut at the token limit
//   loop           the reply repeats itself (RepeatedShare above `max_repeated`)
//   repeated_code  the candidate is that of an earlier turn
//   not_chosen     TurnChoice leaves it out
// Rule of a trajectory: no_gain, its best correct turn is slower than `min_speedup`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/data/rollout.h"

namespace davinci::sftdata {

enum class TurnChoice {
  kCorrect,    // every correct turn
  kImproving,  // correct turns that are faster than every turn before
  kBest,       // the fastest correct turn alone
  kAll,        // wrong ones, too, as the published data has them
};
std::string_view TurnChoiceName(TurnChoice choice);
std::optional<TurnChoice> ParseTurnChoice(std::string_view name);

struct TrajectoryRules {
  TurnChoice turns = TurnChoice::kCorrect;
  double min_speedup = 0;  // of the best correct turn; 0: any
  double max_repeated =
      0.5;  // share of repeated runs of words, in replies of kMinLoopWords or more
};
inline constexpr size_t kLoopWords = 12;     // length of a run
inline constexpr size_t kMinLoopWords = 96;  // below it a reply cannot be said to loop

// Share of the text's runs of kLoopWords words that stood in it before; 0 for short texts. Kernels
// repeat lines, so single lines do not count.
double RepeatedShare(std::string_view text);

struct TurnVerdict {
  std::string rule;    // "": trained
  double speedup = 0;  // median; 0: not correct
};

struct TrajectoryVerdict {
  std::string rule;  // "no_gain": nothing of it is trained
  std::vector<TurnVerdict> turns;
  int best = 0;  // turn with the greatest speedup, from 1; 0: none is correct
};

TrajectoryVerdict AssessTrajectory(const Trajectory& trajectory, const TrajectoryRules& rules);

}  // namespace davinci::sftdata
