// EvoEngineer (arXiv 2510.03760): a population of kernels. First trials are made from the task
// alone; then generations of offspring by crossover of two parents and mutation of one. What a
// prompt shows is switched by layers, who survives by the population's policy.
//
//   paper's variant   policy        layers
//   Free              single_best   task
//   Insight           single_best   task, insights
//   Full              elite         task, solutions, insights

#include <algorithm>
#include <utility>

#include "davinci/base/hash.h"
#include "davinci/search/strategy.h"

namespace davinci::search {
namespace {

class Evolve : public Strategy {
 public:
  explicit Evolve(EvolveSettings settings) : settings_(settings) {}

  std::string_view name() const override { return "evolve"; }
  Needs needs() const override { return {.knowledge = settings_.layers.knowledge, .code = true}; }
  int num_turns() const override { return 1; }

  // A trial is a rollout of one turn; a generation is a round.
  std::vector<PlannedRollout> NextRollouts(const TaskContext& context,
                                           const History& history) const override {
    const int used = static_cast<int>(history.size());
    const int wanted = used == 0 ? settings_.population : settings_.offspring;
    return NumberedRollouts(context, used, std::min(wanted, settings_.trials - used));
  }

  std::optional<TurnPlan> NextTurn(const TaskContext& context, const RolloutHistory& own,
                                   const History& earlier) const override {
    if (!own.turns.empty()) return std::nullopt;
    TurnPlan plan;
    plan.form = PromptForm::kEvolution;
    const int trial = own.id.rollout;
    if (trial < settings_.population) return plan;  // first trials see nothing of each other
    std::vector<const Attempt*> attempts;
    for (const RolloutHistory& rollout : earlier)
      for (const Attempt& attempt : rollout.turns) attempts.push_back(&attempt);
    const auto population =
        Population(attempts, settings_.policy, static_cast<size_t>(settings_.population));
    const Layers& layers = settings_.layers;
    if (layers.insights)
      for (const Attempt* attempt :
           DrawInsights(attempts, static_cast<size_t>(settings_.insights), Seed(context, trial, 1)))
        plan.insights.push_back(attempt->id);
    if (population.empty()) return plan;  // nothing works yet: another first trial
    if (layers.task) plan.best = population.front()->id;
    // Crossover and mutation in turn; with one member there is nothing to cross.
    const bool crosses = layers.solutions && population.size() > 1 &&
                         (trial - settings_.population) % settings_.offspring % 2 == 0;
    plan.op = crosses ? Operator::kCrossover : Operator::kMutation;
    if (layers.solutions)
      for (const Attempt* parent :
           DrawParents(population, crosses ? 2 : 1, Seed(context, trial, 0)))
        plan.shown.push_back(parent->id);
    if (!plan.best && plan.shown.empty()) plan.op = Operator::kInit;
    return plan;
  }

 private:
  static uint64_t Seed(const TaskContext& context, int trial, int purpose) {
    const auto digest = Sha256()
                            .Field("evolve")
                            .Field(std::to_string(context.seed))
                            .Field(context.task)
                            .Field(std::to_string(context.step))
                            .Field(std::to_string(trial))
                            .Field(std::to_string(purpose))
                            .Finish();
    uint64_t seed = 0;
    for (size_t i = 0; i < sizeof(seed); ++i) seed = seed << 8 | digest[i];
    return seed;
  }

  const EvolveSettings settings_;
};

}  // namespace

std::unique_ptr<Strategy> MakeEvolve(const StrategySettings& settings) {
  return std::make_unique<Evolve>(settings.evolve);
}

}  // namespace davinci::search
