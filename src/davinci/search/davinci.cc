// The published daVinci-kernel rollouts: n under each chosen scheme, T turns per iteration, windows
// between iterations.

#include <utility>

#include "davinci/search/strategy.h"

namespace davinci::search {
namespace {

class Davinci : public Strategy {
 public:
  Davinci(StrategySettings settings, int num_turns)
      : settings_(std::move(settings)), num_turns_(num_turns) {}

  std::string_view name() const override { return "davinci"; }
  Needs needs() const override { return {.selection = true}; }
  int num_turns() const override { return num_turns_; }

  std::vector<PlannedRollout> NextRollouts(const TaskContext& context,
                                           const History& history) const override {
    return history.empty() ? context.selected : std::vector<PlannedRollout>();
  }

  std::optional<TurnPlan> NextTurn(const TaskContext&, const RolloutHistory& own,
                                   const History&) const override {
    if (static_cast<int>(own.turns.size()) >= num_turns_) return std::nullopt;
    TurnPlan plan;
    const int best = BestTurn(own);
    for (const size_t turn : Window(own)) {
      if (static_cast<int>(turn) == best) plan.keep = static_cast<int>(plan.shown.size());
      plan.shown.push_back(own.turns[turn].id);
    }
    return plan;
  }

 private:
  // Index of the fastest correct turn, the first of equals; -1 without one.
  static int BestTurn(const RolloutHistory& own) {
    int best = -1;
    for (size_t i = 0; i < own.turns.size(); ++i) {
      if (!own.turns[i].correct) continue;
      if (best < 0 || own.turns[i].speedup > own.turns[static_cast<size_t>(best)].speedup)
        best = static_cast<int>(i);
    }
    return best;
  }

  // The turns in the next prompt. At the end of an iteration the conversation starts anew with the
  // turns worth carrying over; every window so far is computed again, because later ones build on
  // earlier ones.
  std::vector<size_t> Window(const RolloutHistory& own) const {
    std::vector<size_t> window;
    for (size_t done = 0; done <= own.turns.size(); ++done) {
      if (done > 0) window.push_back(done - 1);
      if (window.size() >= static_cast<size_t>(settings_.turns)) Slide(own, done, &window);
    }
    return window;
  }

  void Slide(const RolloutHistory& own, size_t done, std::vector<size_t>* window) const {
    std::vector<size_t> turns = *window;
    if (settings_.window_rule == WindowRule::kTop) {
      turns.resize(done);
      for (size_t i = 0; i < done; ++i) turns[i] = i;
    }
    std::vector<TurnScore> scores;
    for (const size_t turn : turns) scores.push_back(own.turns[turn].score);
    window->clear();
    for (const size_t kept : CarriedTurns(scores, static_cast<size_t>(settings_.carried_turns),
                                          settings_.window_rule, settings_.window_metric))
      window->push_back(turns[kept]);
  }

  const StrategySettings settings_;
  const int num_turns_;
};

}  // namespace

std::unique_ptr<Strategy> MakeDavinci(const StrategySettings& settings, int num_turns) {
  return std::make_unique<Davinci>(settings, num_turns);
}

}  // namespace davinci::search
