// What a scoring rule sees: attempts, grouped into samples and tasks.
//
// An attempt is one turn under one rule: correct or not, and how fast. A sample is one trajectory's
// attempts; a task has several samples. Rules differ in what makes an attempt correct (decoys,
// forbidden calls, their own tolerance) and in which attempt answers for a sample, never in the
// measurement: all start from the stored verdicts.
//
// What is ours is not theirs: a turn that the judge could not judge (judge_error) is no attempt. A
// sample without any attempt is left out and counted in CollectedRun::num_unjudged.
//
// Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "davinci/data/rollout.h"

namespace davinci::score {

struct Attempt {
  int turn = 0;           // from 1
  bool compiled = false;  // got as far as being called
  bool correct = false;
  double speedup = 0;              // median; 0 unless correct and timed
  double speedup_low = 0;          // lower end of its interval
  bool faster = false;             // significantly (IsFaster)
  std::optional<double> coverage;  // data/turn_facts.h
  std::string baseline;            // "eager", …; "" without a speedup
  // Medians over eager and over torch.compile, where the verdict carries them: its speedup of
  // record and evidence.speedups, a list of {"baseline", "median", "low", "high"} from a judge that
  // compared with several.
  std::optional<double> over_eager;
  std::optional<double> over_compile;
  bool only_pytorch = false;  // no kernel of its own (IsDecoy)
  bool wide = false;          // a speedup whose interval carries no number (data/shown_interval.h)
  std::string protocol;       // of the judge: "davinci", "screening"; "" when it is not recorded
  std::string code_hash;      // Turn::code_hash; "" when the reply had no code
};

struct Sample {
  RolloutId id;
  std::vector<Attempt> attempts;  // in order of turns; never empty
};

struct TaskSamples {
  std::string task;
  std::optional<int> level;
  std::vector<Sample> samples;  // by scheme, then rollout; may be empty
};

// Text of a candidate by Turn::code_hash, for rules that look at it; null when it is not at hand.
using SourceLookup = std::function<const std::string*(const std::string& code_hash)>;
using AttemptRule = Attempt (*)(const Turn& turn, const std::string* source);

struct CollectedRun {
  std::vector<TaskSamples> tasks;  // by id
  int max_turns = 0;
  size_t most_samples = 0;  // of a task
  int num_unjudged = 0;     // samples without any attempt
  int num_unfinished = 0;   // samples that money, time, the user or a failure of ours ended early
};

// `levels` gives every task of the run, also those without a trajectory (they count as unsolved
// only if they have samples).
CollectedRun Collect(const std::vector<Trajectory>& trajectories,
                     const std::map<std::string, std::optional<int>>& levels, AttemptRule rule,
                     const SourceLookup& sources);

// The judge's verdict as it stands: correct only when nothing was objected to (IsAccepted). What
// most rules begin with.
Attempt JudgedAttempt(const Turn& turn);

// The candidate has no kernel of its own ("decoy"); data/turn_facts.h.
bool IsDecoy(const Turn& turn);

// Which attempt answers for a sample.
const Attempt& LastAttempt(const Sample& sample);
// Which of two correct attempts is better.
enum class Order {
  kMedian,  // the higher speedup
  kSure,    // what is significantly faster first, then the higher speedup
};
bool IsBetter(const Attempt& a, const Attempt& b, Order order);
// Best of the turns up to `turn` (0: all): the best correct one, else one that is wrong. Nothing
// when the sample has no attempt that early.
std::optional<Attempt> BestAttempt(const Sample& sample, int turn = 0,
                                   Order order = Order::kMedian);

}  // namespace davinci::score
