#include "davinci/search/turn_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::search {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<TurnScore> Rewards(std::initializer_list<double> rewards) {
  std::vector<TurnScore> turns;
  for (const double reward : rewards) turns.push_back({.reward = reward});
  return turns;
}

TEST(CarriedTurns, LastTakesTheEnd) {
  EXPECT_THAT(CarriedTurns(Rewards({9, 8, 1, 2}), 2, WindowRule::kLast, WindowMetric::kReward),
              ElementsAre(2, 3));
}

TEST(CarriedTurns, BestTakesTheConsecutiveWindowWithTheLargestSum) {
  // Sums of two: 4, 7, 6, 3.
  EXPECT_THAT(CarriedTurns(Rewards({1, 3, 4, 2, 1}), 2, WindowRule::kBest, WindowMetric::kReward),
              ElementsAre(1, 2));
}

TEST(CarriedTurns, TheFirstOfEquallyGoodWindowsWins) {
  EXPECT_THAT(CarriedTurns(Rewards({2, 2, 0, 2, 2}), 2, WindowRule::kBest, WindowMetric::kReward),
              ElementsAre(0, 1));
}

TEST(CarriedTurns, NegativeRewardsCompareLikeOthers) {
  EXPECT_THAT(CarriedTurns(Rewards({-5, -1, -2}), 1, WindowRule::kBest, WindowMetric::kReward),
              ElementsAre(1));
}

TEST(CarriedTurns, CoverageDecidesBeforeReward) {
  const std::vector<TurnScore> turns = {{.reward = 9, .coverage = 0.2},
                                        {.reward = 1, .coverage = 0.9},
                                        {.reward = 2, .coverage = 0.9}};
  EXPECT_THAT(CarriedTurns(turns, 1, WindowRule::kBest, WindowMetric::kCoverageThenReward),
              ElementsAre(2));
  EXPECT_THAT(CarriedTurns(turns, 1, WindowRule::kBest, WindowMetric::kReward), ElementsAre(0));
  EXPECT_THAT(CarriedTurns(turns, 1, WindowRule::kBest, WindowMetric::kCoverage), ElementsAre(1));
}

TEST(CarriedTurns, TopTakesSingleTurnsInTheOrderMade) {
  EXPECT_THAT(CarriedTurns(Rewards({1, 5, 0, 7, 5}), 3, WindowRule::kTop, WindowMetric::kReward),
              ElementsAre(1, 3, 4));
}

TEST(CarriedTurns, KeepsAllOfFewAndNoneOfZero) {
  EXPECT_THAT(CarriedTurns(Rewards({1, 2}), 4, WindowRule::kBest, WindowMetric::kReward),
              ElementsAre(0, 1));
  EXPECT_THAT(CarriedTurns(Rewards({1, 2}), 0, WindowRule::kBest, WindowMetric::kReward),
              IsEmpty());
  EXPECT_THAT(CarriedTurns({}, 2, WindowRule::kTop, WindowMetric::kReward), IsEmpty());
}

TEST(TotalTurns, FollowsThePublishedCount) {
  EXPECT_EQ(*TotalTurns(5, 10, 4), 14);  // "5 turns x 10 iterations": 5 + 9 * 1
  EXPECT_EQ(*TotalTurns(3, 1, 3), 3);
  EXPECT_EQ(*TotalTurns(4, 3, 0), 12);
  EXPECT_FALSE(TotalTurns(4, 2, 4).ok());
  EXPECT_FALSE(TotalTurns(0, 1, 0).ok());
}

TEST(WindowNames, ParseWhatRecipesSay) {
  EXPECT_EQ(ParseWindowRule("best"), WindowRule::kBest);
  EXPECT_EQ(ParseWindowMetric("coverage_then_reward"), WindowMetric::kCoverageThenReward);
  EXPECT_EQ(ParseWindowRule("first"), std::nullopt);
}

}  // namespace
}  // namespace davinci::search
