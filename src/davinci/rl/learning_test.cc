// Every estimator teaches a tabular policy the best answer of an environment whose optimum is
// known, and a wrong sign or a mask shifted by one turn does not.
//
// Environment: two turns, three actions each. Turn 1 pays 0, 0.2, 0; turn 2 pays 0, 0, 1 after
// action 2 of turn 1, else 0, 0.1, 0. The optimum gives up turn 1's 0.2 for turn 2's 1, so it is
// found only when turn 1 is credited with what follows. A uniform policy earns about 0.2.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "davinci/base/rng.h"
#include "davinci/rl/advantage.h"
#include "davinci/rl/policy_loss.h"
#include "davinci/rl/returns.h"

namespace davinci::rl {
namespace {

constexpr int kActions = 3;
constexpr int kRollouts = 16;
constexpr int kSteps = 300;

using Logits = std::array<double, kActions>;

std::array<double, kActions> Softmax(const Logits& logits) {
  std::array<double, kActions> p{};
  double sum = 0;
  for (int a = 0; a < kActions; ++a)
    sum += p[static_cast<size_t>(a)] = std::exp(logits[static_cast<size_t>(a)]);
  for (double& x : p) x /= sum;
  return p;
}

double Reward(size_t first, size_t second, int turn) {
  if (turn == 0) return first == 1 ? 0.2 : 0;
  if (first == 2) return second == 2 ? 1 : 0;
  return second == 1 ? 0.1 : 0;
}

struct Setting {
  AdvantageKind advantage = AdvantageKind::kTrloo;
  ReturnKind returns = ReturnKind::kDiscountedSum;
  double gamma = 1;
  double sign = 1;
  std::function<double(size_t first, size_t second, int turn)> reward = Reward;
  int shift = 0;  // of the mask: a turn is trained with another turn's advantage
};

// The mean reward of the trained policy over both turns.
double Train(const Setting& setting, uint64_t seed) {
  Logits first{};
  std::array<Logits, kActions> second{};  // by the first action
  SplitMix64 rng(seed);
  const auto sample = [&](const std::array<double, kActions>& p) -> size_t {
    const double u = rng.Uniform();
    return u < p[0] ? 0 : u < p[0] + p[1] ? 1 : 2;
  };
  for (int step = 0; step < kSteps; ++step) {
    std::array<std::array<size_t, 2>, kRollouts> actions{};
    std::array<std::vector<double>, 2> group;  // returns by turn
    const auto p1 = Softmax(first);
    for (auto& a : actions) {
      a[0] = sample(p1);
      a[1] = sample(Softmax(second[a[0]]));
      const Rewards rewards = {setting.reward(a[0], a[1], 0), setting.reward(a[0], a[1], 1)};
      const Rewards g = Returns(rewards, setting.returns, setting.gamma);
      for (size_t t : {0u, 1u}) group[t].push_back(*g[t]);
    }
    std::array<std::vector<double>, 2> advantages;
    for (size_t t : {0u, 1u}) advantages[t] = GroupAdvantages(group[t], setting.advantage);
    const auto old_first = first;
    const auto old_second = second;
    for (size_t i = 0; i < kRollouts; ++i)
      for (size_t t : {0u, 1u}) {
        const double advantage =
            setting.sign * advantages[(t + static_cast<size_t>(setting.shift)) % 2][i];
        Logits& logits = t == 0 ? first : second[actions[i][0]];
        const auto p = Softmax(t == 0 ? old_first : old_second[actions[i][0]]);
        const double slope = ClippedTokenLoss(0, advantage, {}).gradient;
        for (size_t a = 0; a < kActions; ++a)
          logits[a] -= 0.5 / kRollouts * slope * ((a == actions[i][t] ? 1 : 0) - p[a]);
      }
  }
  const auto p1 = Softmax(first);
  double value = 0;
  for (size_t a = 0; a < kActions; ++a) {
    const auto p2 = Softmax(second[a]);
    for (size_t b = 0; b < kActions; ++b)
      value += p1[a] * p2[b] * (setting.reward(a, b, 0) + setting.reward(a, b, 1));
  }
  return value;
}

class Learning : public testing::TestWithParam<AdvantageKind> {};

TEST_P(Learning, ReachesTheOptimum) {
  for (uint64_t seed = 1; seed <= 3; ++seed) EXPECT_GT(Train({GetParam()}, seed), 0.9) << seed;
}

TEST_P(Learning, AWrongSignDoesNot) {
  Setting wrong{GetParam()};
  wrong.sign = -1;
  for (uint64_t seed = 1; seed <= 3; ++seed) EXPECT_LT(Train(wrong, seed), 0.2) << seed;
}

INSTANTIATE_TEST_SUITE_P(Estimators, Learning,
                         testing::Values(AdvantageKind::kTrloo, AdvantageKind::kRloo,
                                         AdvantageKind::kGrpo, AdvantageKind::kDrGrpo));

// Without credit for later turns the first turn takes its 0.2: 0.2 + 0.1 is the best then.
TEST(Credit, WithoutLaterCreditTheFirstTurnIsGreedy) {
  Setting greedy;
  greedy.gamma = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) EXPECT_LT(Train(greedy, seed), 0.5) << seed;
}

// Only turn 1 pays, and only turn 1 is credited: with the mask shifted it is given turn 2's
// nothing.
TEST(Credit, AMaskShiftedByATurnTeachesNothing) {
  Setting right;
  right.reward = [](size_t first, size_t, int turn) { return turn == 0 && first == 1 ? 1.0 : 0.0; };
  right.gamma = 0;
  Setting shifted = right;
  shifted.shift = 1;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    EXPECT_GT(Train(right, seed), 0.9) << seed;
    EXPECT_NEAR(Train(shifted, seed), 1.0 / kActions, 1e-9) << seed;
  }
}

TEST(Credit, DiscountedMaxReachesTheOptimumToo) {
  Setting max;
  max.returns = ReturnKind::kDiscountedMax;
  max.gamma = 0.8;
  for (uint64_t seed = 1; seed <= 3; ++seed) EXPECT_GT(Train(max, seed), 0.9) << seed;
}

}  // namespace
}  // namespace davinci::rl
