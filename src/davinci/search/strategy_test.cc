#include "davinci/search/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace davinci::search {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::unique_ptr<Strategy> Make(StrategySettings settings) {
  auto strategy = MakeStrategy(settings);
  EXPECT_TRUE(strategy.ok()) << strategy.status().ToString();
  return strategy.ok() ? std::move(strategy).value() : nullptr;
}

Attempt Tried(const TurnId& id, double speedup, const std::string& code) {
  Attempt attempt;
  attempt.id = id;
  attempt.correct = speedup > 0;
  attempt.speedup = speedup;
  attempt.score = {speedup, speedup, 0};
  attempt.code = code;
  attempt.insight = "insight of " + code;
  return attempt;
}

std::vector<int> Turns(const TurnPlan& plan) {
  std::vector<int> turns;
  for (const TurnId& id : plan.shown) turns.push_back(id.turn);
  return turns;
}

// Runs a search whose r-th rollout's turns reach `speedups[r]`, and gives the plans.
std::vector<TurnPlan> Play(const Strategy& strategy, const TaskContext& context, History* history,
                           const std::function<double(const TurnId&)>& speedup) {
  std::vector<TurnPlan> plans;
  for (;;) {
    const auto round = strategy.NextRollouts(context, *history);
    if (round.empty()) return plans;
    History finished;
    for (const PlannedRollout& planned : round) {
      RolloutHistory own{planned.id, {}};
      while (auto plan = strategy.NextTurn(context, own, *history)) {
        plans.push_back(*plan);
        const TurnId id{planned.id, static_cast<int>(own.turns.size()) + 1};
        own.turns.push_back(Tried(id, speedup(id), ToString(id)));
      }
      finished.push_back(std::move(own));
    }
    history->insert(history->end(), finished.begin(), finished.end());
  }
}

TEST(Davinci, ShowsAllTurnsOfAnIterationAndCarriesTheBestOver) {
  StrategySettings settings;
  settings.turns = 3;
  settings.iterations = 2;
  settings.carried_turns = 1;
  const auto strategy = Make(settings);
  EXPECT_EQ(strategy->num_turns(), 5);
  TaskContext context;
  context.selected = {{{"t", 1, 0}, {"skill"}}};
  History history;
  const auto plans =
      Play(*strategy, context, &history, [](const TurnId& id) { return id.turn == 2 ? 3.0 : 1.0; });
  ASSERT_THAT(plans, SizeIs(5));
  EXPECT_THAT(Turns(plans[2]), ElementsAre(1, 2));
  EXPECT_EQ(plans[2].keep, 1) << "turn 2 is the best and goes last";
  EXPECT_THAT(Turns(plans[3]), ElementsAre(2)) << "a new iteration begins with the best turn";
  EXPECT_THAT(Turns(plans[4]), ElementsAre(2, 4));
}

TEST(Kevin, EveryEarlierTurnIsShownAsADigestOldestFirst) {
  StrategySettings settings;
  settings.name = "kevin";
  settings.rollouts = 2;
  settings.turns = 3;
  History history;
  const auto plans = Play(*Make(settings), {}, &history, [](const TurnId&) { return 1.0; });
  ASSERT_THAT(plans, SizeIs(6));
  EXPECT_EQ(plans[2].form, PromptForm::kDigest);
  EXPECT_THAT(Turns(plans[2]), ElementsAre(1, 2));
  EXPECT_EQ(plans[2].keep, -1);
}

TEST(BestOfN, TurnsAreIndependent) {
  StrategySettings settings;
  settings.name = "best_of_n";
  settings.rollouts = 7;
  History history;
  const auto plans = Play(*Make(settings), {}, &history, [](const TurnId&) { return 1.0; });
  ASSERT_THAT(plans, SizeIs(7));
  for (const TurnPlan& plan : plans) EXPECT_THAT(plan.shown, IsEmpty());
}

StrategySettings Evolving(PopulationPolicy policy, Layers layers) {
  StrategySettings settings;
  settings.name = "evolve";
  settings.evolve.policy = policy;
  settings.evolve.layers = layers;
  return settings;
}

TEST(Evolve, TheBudgetIsCountedInTrialsAndFailedOnesCount) {
  const auto strategy = Make(Evolving(PopulationPolicy::kElite, {}));
  History history;
  const auto plans = Play(*strategy, {}, &history, [](const TurnId& id) {
    return id.rollout.rollout % 3 == 0 ? 1.0 + 0.01 * id.rollout.rollout : 0.0;
  });
  EXPECT_THAT(history, SizeIs(45));
  EXPECT_THAT(plans, SizeIs(45));
  std::map<Operator, int> operators;
  for (const TurnPlan& plan : plans) ++operators[plan.op];
  EXPECT_EQ(operators[Operator::kInit], 5);
  EXPECT_EQ(operators[Operator::kCrossover], 20);
  EXPECT_EQ(operators[Operator::kMutation], 20);
}

TEST(Evolve, NothingCorrectMeansAnotherFirstTrial) {
  const auto strategy = Make(Evolving(PopulationPolicy::kElite, {}));
  History history;
  for (const TurnPlan& plan : Play(*strategy, {}, &history, [](const TurnId&) { return 0.0; }))
    EXPECT_EQ(plan.op, Operator::kInit);
  EXPECT_THAT(history, SizeIs(45));
}

TEST(Evolve, ATrialDependsOnFormerGenerationsAloneAndIsDrawnBySeed) {
  const auto strategy = Make(Evolving(PopulationPolicy::kElite, {}));
  const auto speedup = [](const TurnId& id) { return 1.0 + 0.1 * (id.rollout.rollout * 7 % 5); };
  const auto text = [&](int64_t seed) {
    TaskContext context;
    context.task = "t";
    context.seed = seed;
    History history;
    std::string all;
    for (const TurnPlan& plan : Play(*strategy, context, &history, speedup)) {
      all += OperatorName(plan.op);
      for (const TurnId& id : plan.shown) all += " " + ToString(id);
      for (const TurnId& id : plan.insights) all += " i" + ToString(id);
      all += "\n";
    }
    return all;
  };
  EXPECT_EQ(text(1), text(1));
  EXPECT_NE(text(1), text(2));
}

TEST(Evolve, EveryLayerIsSwitchedByItself) {
  const auto plan_of = [](PopulationPolicy policy, Layers layers) {
    History history;
    const auto plans = Play(*Make(Evolving(policy, layers)), {}, &history,
                            [](const TurnId& id) { return 1.0 + id.rollout.rollout; });
    return plans[6];  // the second offspring of the first generation: a mutation
  };
  const TurnPlan free = plan_of(PopulationPolicy::kSingleBest, {true, false, false, false});
  EXPECT_EQ(free.best->rollout.rollout, 4);
  EXPECT_THAT(free.shown, IsEmpty());
  EXPECT_THAT(free.insights, IsEmpty());
  const TurnPlan insight = plan_of(PopulationPolicy::kSingleBest, {true, false, true, false});
  EXPECT_THAT(insight.insights, SizeIs(3));
  EXPECT_EQ(insight.best->rollout.rollout, 4);
  const TurnPlan full = plan_of(PopulationPolicy::kElite, {true, true, true, false});
  EXPECT_THAT(full.shown, SizeIs(1));
  EXPECT_THAT(full.insights, SizeIs(3));
  const TurnPlan solutions = plan_of(PopulationPolicy::kElite, {false, true, false, false});
  EXPECT_FALSE(solutions.best.has_value());
  EXPECT_THAT(solutions.shown, SizeIs(1));
  const TurnPlan nothing = plan_of(PopulationPolicy::kElite, {false, false, false, false});
  EXPECT_EQ(nothing.op, Operator::kInit);
  EXPECT_TRUE(
      Make(Evolving(PopulationPolicy::kElite, {true, true, true, true}))->needs().knowledge);
}

TEST(Population, DiverseKeepsIdeasApartAndEliteDoesNot) {
  const std::string loop = "for i in range n add x i to sum and store the sum in y at i then go on";
  std::vector<Attempt> tried = {
      Tried({{"t", 0, 0}, 1}, 3.0, loop + " a"), Tried({{"t", 0, 1}, 1}, 2.9, loop + " b"),
      Tried({{"t", 0, 2}, 1}, 1.5, "tensor cores multiply tiles of half"),
      Tried({{"t", 0, 3}, 1}, 0.0, "wrong"), Tried({{"t", 0, 4}, 1}, 3.0, loop + " a")};
  std::vector<const Attempt*> all;
  for (const Attempt& attempt : tried) all.push_back(&attempt);
  const auto rollouts = [](const std::vector<const Attempt*>& members) {
    std::vector<int> ids;
    for (const Attempt* member : members) ids.push_back(member->id.rollout.rollout);
    return ids;
  };
  EXPECT_THAT(rollouts(Population(all, PopulationPolicy::kSingleBest, 5)), ElementsAre(0));
  EXPECT_THAT(rollouts(Population(all, PopulationPolicy::kElite, 2)), ElementsAre(0, 1));
  EXPECT_THAT(rollouts(Population(all, PopulationPolicy::kDiverse, 2)), ElementsAre(0, 2));
  EXPECT_THAT(rollouts(Population(all, PopulationPolicy::kDiverse, 5)), ElementsAre(0, 1, 2));
}

TEST(DrawParents, TheFasterIsDrawnMoreOftenAndNoneTwice) {
  std::vector<Attempt> tried;
  for (int i = 0; i < 4; ++i) tried.push_back(Tried({{"t", 0, i}, 1}, 4.0 - i, std::to_string(i)));
  std::vector<const Attempt*> population;
  for (const Attempt& attempt : tried) population.push_back(&attempt);
  std::vector<int> drawn(4, 0);
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    const auto parents = DrawParents(population, 2, seed);
    ASSERT_THAT(parents, SizeIs(2));
    EXPECT_NE(parents[0], parents[1]);
    ++drawn[static_cast<size_t>(parents[0]->id.rollout.rollout)];
  }
  // Weights 1/5, 1/6, 1/7, 1/8 of their sum 0.634: 630, 525, 450, 394 of 2000.
  EXPECT_NEAR(drawn[0], 630, 80);
  EXPECT_NEAR(drawn[3], 394, 70);
  EXPECT_THAT(DrawParents(population, 9, 1), SizeIs(4));
}

TEST(MakeStrategy, AnUnknownNameGetsASuggestion) {
  StrategySettings settings;
  settings.name = "kelvin";
  const auto strategy = MakeStrategy(settings);
  ASSERT_FALSE(strategy.ok());
  EXPECT_THAT(strategy.status().message(), ::testing::HasSubstr("kevin"));
}

}  // namespace
}  // namespace davinci::search
