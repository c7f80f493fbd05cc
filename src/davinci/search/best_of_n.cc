// N independent single turns: the baseline that every other strategy has to beat at equal cost.

#include <utility>

#include "davinci/search/strategy.h"

namespace davinci::search {
namespace {

class BestOfN : public Strategy {
 public:
  explicit BestOfN(StrategySettings settings) : settings_(std::move(settings)) {}

  std::string_view name() const override { return "best_of_n"; }
  int num_turns() const override { return 1; }

  std::vector<PlannedRollout> NextRollouts(const TaskContext& context,
                                           const History& history) const override {
    if (!history.empty()) return {};
    return NumberedRollouts(context, 0, settings_.rollouts);
  }

  std::optional<TurnPlan> NextTurn(const TaskContext&, const RolloutHistory& own,
                                   const History&) const override {
    if (!own.turns.empty()) return std::nullopt;
    return TurnPlan();
  }

 private:
  const StrategySettings settings_;
};

}  // namespace

std::unique_ptr<Strategy> MakeBestOfN(const StrategySettings& settings) {
  return std::make_unique<BestOfN>(settings);
}

}  // namespace davinci::search
