// Strategy: how a task's budget of generations is spent. From history to the next requests; pure.
// The front header of this module.
//
//   davinci     skill sets chosen by the Selection agent, rollouts under each, windows of turns
//   kevin       parallel trajectories; later turns see kernels and summaries in the place of
//               reasoning
//   best_of_n   independent single turns
//   evolve      a population of kernels, crossover and mutation, insights (EvoEngineer)
//
// A strategy decides which rollouts there are and what each turn's prompt shows. It does no I/O and
// draws no unseeded random number, and it is asked for rollouts only while none is in flight: what
// it answers is a function of results, not of who was first. So a run that was killed asks the same
// questions again, and finds their answers in its journal. Execution, journal, prompts' wording,
// budgets and rules for stopping early are rollout/'s.
//
// Thread-safe: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/rollout.h"
#include "davinci/search/history.h"
#include "davinci/search/population.h"
#include "davinci/search/turn_window.h"

namespace davinci::search {

// The information layers of a prompt of `evolve`, each switched by itself.
struct Layers {
  bool task = true;        // I1: the best kernel so far and its measurement, with the task
  bool solutions = true;   // I2: the parents that the operator works on
  bool insights = true;    // I3: what earlier attempts expected and what came of it
  bool knowledge = false;  // I4: skills of the library
};

struct EvolveSettings {
  int trials = 45;     // generations in all; failed ones count
  int population = 5;  // kernels that parents are drawn from, and first trials
  int offspring = 4;   // trials of one generation
  int insights = 3;    // shown in a prompt
  PopulationPolicy policy = PopulationPolicy::kElite;
  Layers layers;
};

struct StrategySettings {
  std::string name = "davinci";
  int rollouts = 4;
  int turns = 3;
  int iterations = 1;
  int carried_turns = 0;
  WindowRule window_rule = WindowRule::kBest;
  WindowMetric window_metric = WindowMetric::kPerformance;
  EvolveSettings evolve;
};

struct PlannedRollout {
  RolloutId id;
  std::vector<std::string> skills;
};

// What a strategy knows of the task before the first rollout.
struct TaskContext {
  std::string task;
  int step = 1;
  int64_t seed = 0;
  std::vector<PlannedRollout> selected;  // Needs::selection: rollouts under the chosen schemes
  std::vector<std::string> knowledge;    // Needs::knowledge: names of skills
};

enum class PromptForm {
  kDialogue,   // the conversation of the turns shown
  kDigest,     // kernels, their authors' summaries and verdicts
  kEvolution,  // an operator on kernels shown, with insights
};
enum class Operator { kInit, kMutation, kCrossover };
std::string_view OperatorName(Operator op);  // "init", "mutation", "crossover"

struct TurnPlan {
  PromptForm form = PromptForm::kDialogue;
  std::vector<TurnId> shown;      // earlier attempts in the prompt, in this order
  int keep = -1;                  // kDialogue: index into `shown` of what is dropped last
  Operator op = Operator::kInit;  // kEvolution
  std::optional<TurnId> best;     // kEvolution: layer I1
  std::vector<TurnId> insights;   // kEvolution: layer I3
};

struct Needs {
  bool selection = false;  // Selection calls and the null scheme
  bool knowledge = false;  // skills found for the task
  bool code = false;       // Attempt::code
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  virtual std::string_view name() const = 0;
  virtual Needs needs() const { return {}; }
  // Turns of a rollout that is not ended early.
  virtual int num_turns() const = 0;

  // The rollouts that can start now; `history` holds all that were planned before, each of them
  // over. None: the search is over.
  virtual std::vector<PlannedRollout> NextRollouts(const TaskContext& context,
                                                   const History& history) const = 0;
  // What the prompt of the next turn of `own` shows; `earlier` are the rollouts of former rounds.
  // Nothing: `own` has all its turns.
  virtual std::optional<TurnPlan> NextTurn(const TaskContext& context, const RolloutHistory& own,
                                           const History& earlier) const = 0;
};

const std::vector<std::string>& StrategyNames();
// InvalidArgument for a name that no strategy has and for settings that leave it nothing to do.
Result<std::unique_ptr<Strategy>> MakeStrategy(const StrategySettings& settings);

// The constructors behind MakeStrategy(), one file each.
std::unique_ptr<Strategy> MakeDavinci(const StrategySettings& settings, int num_turns);
std::unique_ptr<Strategy> MakeKevin(const StrategySettings& settings);
std::unique_ptr<Strategy> MakeBestOfN(const StrategySettings& settings);
std::unique_ptr<Strategy> MakeEvolve(const StrategySettings& settings);

// `count` rollouts under the null scheme, from number `first` on.
std::vector<PlannedRollout> NumberedRollouts(const TaskContext& context, int first, int count);

}  // namespace davinci::search
