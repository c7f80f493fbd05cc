// Kevin (arXiv 2507.11948): parallel trajectories of several turns. The prompt of a turn holds, for
// every earlier turn of the trajectory, oldest first, the kernel, its author's summary and the
// verdict; reasoning is left out. When the context is short the oldest turns go first.

#include <utility>

#include "davinci/search/strategy.h"

namespace davinci::search {
namespace {

class Kevin : public Strategy {
 public:
  explicit Kevin(StrategySettings settings) : settings_(std::move(settings)) {}

  std::string_view name() const override { return "kevin"; }
  int num_turns() const override { return settings_.turns; }

  std::vector<PlannedRollout> NextRollouts(const TaskContext& context,
                                           const History& history) const override {
    if (!history.empty()) return {};
    return NumberedRollouts(context, 0, settings_.rollouts);
  }

  std::optional<TurnPlan> NextTurn(const TaskContext&, const RolloutHistory& own,
                                   const History&) const override {
    if (static_cast<int>(own.turns.size()) >= settings_.turns) return std::nullopt;
    TurnPlan plan;
    plan.form = PromptForm::kDigest;
    for (const Attempt& turn : own.turns) plan.shown.push_back(turn.id);
    return plan;
  }

 private:
  const StrategySettings settings_;
};

}  // namespace

std::unique_ptr<Strategy> MakeKevin(const StrategySettings& settings) {
  return std::make_unique<Kevin>(settings);
}

}  // namespace davinci::search
