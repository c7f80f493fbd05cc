#include "davinci/search/strategy.h"

#include <fmt/format.h>

#include "davinci/base/suggest.h"

namespace davinci::search {

std::string_view OperatorName(Operator op) {
  switch (op) {
    case Operator::kInit:
      return "init";
    case Operator::kMutation:
      return "mutation";
    case Operator::kCrossover:
      return "crossover";
  }
  return "init";
}

const std::vector<std::string>& StrategyNames() {
  static const auto* names =
      new std::vector<std::string>{"davinci", "kevin", "best_of_n", "evolve"};
  return *names;
}

std::vector<PlannedRollout> NumberedRollouts(const TaskContext& context, int first, int count) {
  std::vector<PlannedRollout> rollouts;
  for (int i = first; i < first + count; ++i) {
    PlannedRollout& planned = rollouts.emplace_back();
    planned.id = {context.task, 0, i, context.step};
    planned.skills = context.knowledge;
  }
  return rollouts;
}

Result<std::unique_ptr<Strategy>> MakeStrategy(const StrategySettings& settings) {
  if (settings.rollouts < 1 || settings.turns < 1)
    return InvalidArgument("a search needs at least one rollout and one turn");
  if (settings.name == "davinci") {
    DAVINCI_ASSIGN_OR_RETURN(
        const int turns, TotalTurns(settings.turns, settings.iterations, settings.carried_turns));
    return MakeDavinci(settings, turns);
  }
  if (settings.name == "kevin") return MakeKevin(settings);
  if (settings.name == "best_of_n") return MakeBestOfN(settings);
  if (settings.name == "evolve") {
    const EvolveSettings& evolve = settings.evolve;
    if (evolve.trials < 1 || evolve.population < 1 || evolve.offspring < 1 || evolve.insights < 0)
      return InvalidArgument("evolve needs at least one trial, one member and one offspring");
    return MakeEvolve(settings);
  }
  return InvalidArgument(fmt::format("there is no strategy \"{}\"{}", settings.name,
                                     DidYouMean(settings.name, StrategyNames())));
}

}  // namespace davinci::search
