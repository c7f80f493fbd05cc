#include "davinci/rl/advantage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace davinci::rl {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Eq;
using testing::Optional;

auto Near(double value) { return DoubleNear(value, 1e-9); }
// Cross-scheme scaling adds 1e-8 to its divisor.
auto Roughly(double value) { return DoubleNear(value, 1e-6); }
auto Is(double value) { return Optional(Near(value)); }
const auto kNothing = Eq(std::nullopt);

// G = 4, 1, 0, 3: the others' means are 4/3, 7/3, 8/3, 5/3.
TEST(Trloo, IsTheReturnLessTheMeanOfTheOthers) {
  const double g[] = {4, 1, 0, 3};
  EXPECT_THAT(GroupAdvantages(g, AdvantageKind::kTrloo),
              ElementsAre(Near(4 - 4.0 / 3), Near(1 - 7.0 / 3), Near(-8.0 / 3), Near(3 - 5.0 / 3)));
}

TEST(Trloo, OfTwoIsTheirDifference) {
  const double g[] = {2.5, 1};
  EXPECT_THAT(GroupAdvantages(g, AdvantageKind::kTrloo), ElementsAre(Near(1.5), Near(-1.5)));
}

TEST(Trloo, OfOneIsItsReturn) {
  const double g[] = {0.7};
  EXPECT_THAT(GroupAdvantages(g, AdvantageKind::kTrloo), ElementsAre(Near(0.7)));
  EXPECT_THAT(GroupAdvantages({}, AdvantageKind::kTrloo), ElementsAre());
}

// Ragged: at turn 3 only two of four rollouts are alive; their group is its own.
TEST(Trloo, RaggedGroupsCompareOnlyTheLiving) {
  const double turn1[] = {1, 2, 3, 6};
  const double turn3[] = {1, 6};
  EXPECT_THAT(GroupAdvantages(turn1, AdvantageKind::kTrloo),
              ElementsAre(Near(1 - 11.0 / 3), Near(2 - 10.0 / 3), Near(0), Near(4)));
  EXPECT_THAT(GroupAdvantages(turn3, AdvantageKind::kTrloo), ElementsAre(Near(-5), Near(5)));
}

// The estimator's expectation must not shrink: E[A_i | G_i] = G_i - E[G], while the group mean with
// the sample in it gives (1 - 1/N) of that.
TEST(Trloo, IsDrGrpoWithoutItsShrinkage) {
  const double g[] = {0.5, 2, 2, 0, 4};
  const auto loo = GroupAdvantages(g, AdvantageKind::kTrloo);
  const auto centred = GroupAdvantages(g, AdvantageKind::kDrGrpo);
  for (size_t i = 0; i < loo.size(); ++i) EXPECT_NEAR(centred[i], loo[i] * (1 - 1.0 / 5), 1e-12);
  EXPECT_NEAR(std::accumulate(loo.begin(), loo.end(), 0.0), 0, 1e-12);
}

// mean 2, deviations -1, 1, 0, with N - 1: std = 1.
TEST(Grpo, DividesByTheSampleDeviation) {
  const double g[] = {1, 3, 2};
  EXPECT_THAT(GroupAdvantages(g, AdvantageKind::kGrpo),
              ElementsAre(Near(-1 / 1.000001), Near(1 / 1.000001), Near(0)));
}

TEST(Grpo, AllAlikeOrAloneGivesNoGradient) {
  const double alike[] = {2, 2, 2};
  const double one[] = {5};
  EXPECT_THAT(GroupAdvantages(alike, AdvantageKind::kGrpo), ElementsAre(0, 0, 0));
  EXPECT_THAT(GroupAdvantages(one, AdvantageKind::kGrpo), ElementsAre(0));
  EXPECT_THAT(GroupAdvantages(one, AdvantageKind::kDrGrpo), ElementsAre(0));
}

TEST(AdvantageKind, NamesRoundTripAndUnknownOnesListTheKnown) {
  for (const auto kind : {AdvantageKind::kTrloo, AdvantageKind::kRloo, AdvantageKind::kGrpo,
                          AdvantageKind::kDrGrpo, AdvantageKind::kReinforce})
    EXPECT_EQ(*ParseAdvantageKind(AdvantageKindName(kind)), kind);
  EXPECT_THAT(ParseAdvantageKind("ppo").status().message(), testing::HasSubstr("trloo"));
}

// |A| = 2 on 10 tokens and 1 on 30: mean 50/40 = 1.25.
TEST(CrossScheme, MeanMagnitudeOverTokensBecomesOne) {
  const double a[] = {2, -1, 9};
  const int64_t tokens[] = {10, 30, 0};
  EXPECT_THAT(ScaleAcrossSchemes(a, tokens),
              ElementsAre(Roughly(2 / 1.25), Roughly(-1 / 1.25), Roughly(9 / 1.25)));
}

// Honest returns 0 and 3, two decoys: with them in the mean the failure would stand at -0.75.
TEST(Decoys, AreNoPartOfTheBaselineAndNeverGain) {
  const double g[] = {0, 3, 0, 0};
  const std::vector<bool> decoy = {false, false, true, true};
  EXPECT_THAT(GroupAdvantages(g, decoy, AdvantageKind::kTrloo),
              ElementsAre(Near(-3), Near(3), Near(-1.5), Near(-1.5)));
  EXPECT_THAT(GroupAdvantages(g, decoy, AdvantageKind::kDrGrpo),
              ElementsAre(Near(-1.5), Near(1.5), Near(-1.5), Near(-1.5)));
  // Where honest attempts are penalised a decoy is not better for it.
  const double penalised[] = {-0.5, -0.5, 0, 0};
  for (const AdvantageKind kind : {AdvantageKind::kTrloo, AdvantageKind::kGrpo,
                                   AdvantageKind::kDrGrpo, AdvantageKind::kReinforce}) {
    const auto found = GroupAdvantages(penalised, decoy, kind);
    EXPECT_EQ(found[2], 0) << AdvantageKindName(kind);
    EXPECT_EQ(found[3], 0) << AdvantageKindName(kind);
  }
}

// Equal honest returns have no deviation of their own: the group's bounds what a decoy costs.
TEST(Decoys, UnderGrpoTheScaleIsThatOfTheGroup) {
  const double g[] = {2, 2, 0};
  const auto found = GroupAdvantages(g, {false, false, true}, AdvantageKind::kGrpo);
  EXPECT_EQ(found[0], 0);
  EXPECT_NEAR(found[2], -2 / std::sqrt(4. / 3), 1e-5);
}

TEST(Decoys, AloneTheyAreWorthNothing) {
  const double g[] = {0, -0.5};
  EXPECT_THAT(GroupAdvantages(g, {true, true}, AdvantageKind::kTrloo),
              ElementsAre(Near(0), Near(0)));
}

TEST(CrossScheme, ATaskWithoutTrainedTokensStaysAsItIs) {
  const double a[] = {2};
  const int64_t tokens[] = {0};
  EXPECT_THAT(ScaleAcrossSchemes(a, tokens), ElementsAre(2));
}

// R = 1.2, 0.8, null 1.4: baselines (0.8+1.4)/2 = 1.1 and (1.2+1.4)/2 = 1.3.
TEST(Selection, TheNullSchemeIsPartOfTheBaseline) {
  const SchemeReturn schemes[] = {{false, 1.2}, {false, 0.8}, {true, 1.4}};
  EXPECT_THAT(SelectionAdvantages(schemes, 0.3), ElementsAre(Is(0.03), Is(-0.15), kNothing));
}

TEST(Selection, SkillsThatHurtAreWorseThanNoneOnlyWithTheControl) {
  const SchemeReturn schemes[] = {{false, 0.5}, {false, 0.5}, {true, 2.0}};
  EXPECT_THAT(SelectionAdvantages(schemes, 1), ElementsAre(Is(-0.75), Is(-0.75), kNothing));
  EXPECT_THAT(SelectionAdvantages(schemes, 1, false), ElementsAre(Is(0), Is(0), kNothing));
}

TEST(Selection, ASchemeThatWasNeverJudgedHasNoAdvantageAndIsNoBaseline) {
  const SchemeReturn schemes[] = {{false, 1.0}, {false, std::nullopt}, {true, 0.5}};
  EXPECT_THAT(SelectionAdvantages(schemes, 1), ElementsAre(Is(0.5), kNothing, kNothing));
}

TEST(Selection, AloneItsReturnIsItsAdvantage) {
  const SchemeReturn schemes[] = {{false, 2.0}};
  EXPECT_THAT(SelectionAdvantages(schemes, 0.3), ElementsAre(Is(0.6)));
}

// Rollouts 0, 3 and 1, 1: bests 3 and 1.
TEST(Selection, ASchemeIsWorthTheMeanOfItsRolloutsBestTurns) {
  const std::vector<std::optional<double>> rollouts[] = {{0.0, 3.0}, {1.0, 1.0}, {std::nullopt}};
  EXPECT_THAT(SchemeValue(rollouts, PerRollout::kBest), Is(2));
  EXPECT_THAT(SchemeValue(rollouts, PerRollout::kMean), Is(1.25));
  EXPECT_THAT(SchemeValue(rollouts, PerRollout::kFirst), Is(0.5));
  EXPECT_EQ(SchemeValue(std::span(rollouts).last(1), PerRollout::kBest), std::nullopt);
}

}  // namespace
}  // namespace davinci::rl
