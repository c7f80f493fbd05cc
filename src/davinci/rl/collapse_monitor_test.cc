#include "davinci/rl/collapse_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace davinci::rl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int32_t> Distinct(int length, int32_t first) {
  std::vector<int32_t> tokens(static_cast<size_t>(length));
  std::iota(tokens.begin(), tokens.end(), 1000);
  tokens.front() = first;
  return tokens;
}

// 1 2 1 2 1 2: bigrams 12 21 12 21 12, three of five seen before.
TEST(Repetition, CountsGramsSeenBefore) {
  const int32_t t[] = {1, 2, 1, 2, 1, 2};
  EXPECT_DOUBLE_EQ(RepetitionShare(t, 2), 0.6);
  EXPECT_EQ(RepetitionShare(Distinct(100, 5), 8), 0);
  EXPECT_EQ(RepetitionShare(std::span(t).first(2), 8), 0);
}

class Monitored : public testing::Test {
 protected:
  CollapseReading Step(const std::vector<int32_t>& tokens, double entropy = 1.0) {
    const ReplyView replies[] = {{tokens, entropy}, {tokens, entropy}};
    return monitor_.Observe(replies).at("policy 1");
  }
  void Settle() {
    for (int i = 0; i < 5; ++i) EXPECT_THAT(Step(Distinct(100, 7)).alerts, IsEmpty());
  }
  CollapseMonitor monitor_{CollapseOptions{}};
};

TEST_F(Monitored, AHealthyPolicyIsNotAccused) {
  Settle();
  EXPECT_THAT(Step(Distinct(120, 7), 0.9).alerts, IsEmpty());
}

TEST_F(Monitored, JunkRepeats) {
  Settle();
  std::vector<int32_t> junk(100, 3);
  junk.front() = 7;
  EXPECT_THAT(Step(junk).alerts, testing::ElementsAre(HasSubstr("repeat")));
}

TEST_F(Monitored, FirstTokensDrift) {
  Settle();
  const CollapseReading reading = Step(Distinct(100, 8));
  EXPECT_EQ(reading.first_token_drift, 1);
  EXPECT_THAT(reading.alerts, testing::ElementsAre(HasSubstr("habitual")));
}

TEST_F(Monitored, EntropyFalls) {
  Settle();
  EXPECT_THAT(Step(Distinct(100, 7), 0.2).alerts, testing::ElementsAre(HasSubstr("entropy")));
}

TEST_F(Monitored, LengthExplodesOrVanishes) {
  Settle();
  EXPECT_THAT(Step(Distinct(300, 7)).alerts, testing::ElementsAre(HasSubstr("tokens")));
  EXPECT_THAT(Step(Distinct(20, 7)).alerts, testing::ElementsAre(HasSubstr("tokens")));
}

// Junk in turn 2 alone, and a selection that opens differently by nature.
TEST_F(Monitored, AgentsAndTurnsAreApart) {
  const auto step = [&](const std::vector<int32_t>& second) {
    const std::vector<int32_t> first = Distinct(100, 7);
    const std::vector<int32_t> choice = Distinct(10, 9);
    const ReplyView replies[] = {{first, 1.0},
                                 {second, 1.0, AgentKind::kPolicy, 2},
                                 {choice, 0.1, AgentKind::kSelection, 1}};
    return monitor_.Observe(replies);
  };
  for (int i = 0; i < 5; ++i) step(Distinct(100, 8));
  const auto readings = step(Distinct(100, 7));
  ASSERT_EQ(readings.size(), 3u);
  EXPECT_THAT(readings.at("policy 1").alerts, IsEmpty());
  EXPECT_THAT(readings.at("selection 1").alerts, IsEmpty());
  EXPECT_THAT(readings.at("policy 2").alerts, testing::ElementsAre(HasSubstr("habitual")));
}

TEST_F(Monitored, WhatItRemembersGoesOnElsewhere) {
  Settle();
  CollapseMonitor other{CollapseOptions{}};
  other.Restore(monitor_.memories());
  const std::vector<int32_t> tokens = Distinct(100, 8);
  const ReplyView replies[] = {{tokens, 0.2}};
  EXPECT_EQ(other.Observe(replies).at("policy 1").alerts,
            monitor_.Observe(replies).at("policy 1").alerts);
  EXPECT_EQ(other.memories(), monitor_.memories());
}

TEST_F(Monitored, UnknownEntropyIsNotZero) {
  Settle();
  EXPECT_THAT(Step(Distinct(100, 7), -1).alerts, IsEmpty());
}

}  // namespace
}  // namespace davinci::rl
