#include "davinci/data/rollout.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace davinci {
namespace {

using nlohmann::json;

Turn MakeTurn(const RolloutId& id, int number) {
  Turn turn;
  turn.id = {id, number};
  turn.prompt_hash = std::string(64, 'a');
  turn.reply = "```python\nclass ModelNew: ...\n```\n</script> \xe2\x82\xac";
  turn.reasoning = "think";
  turn.finish_reason = "stop";
  turn.code_hash = std::string(64, 'b');
  turn.language = Language::kCudaInline;
  turn.evaluation.outcome = Outcome::kOk;
  turn.evaluation.correct = true;
  turn.evaluation.speedup = Speedup{1.5, 1.4, 1.6, true, "eager"};
  turn.model = "some/model";
  turn.trace_hash = std::string(64, 'd');
  turn.cost = {2, 1000, 200, 0.012, 3.5};
  turn.judge_seconds = 4.25;
  turn.finished_unix_s = 1.75e9;
  return turn;
}

Trajectory MakeTrajectory() {
  Trajectory trajectory;
  trajectory.id = {"level1/12#odd task", 2, 1};
  trajectory.skills = {"tile", "fuse"};
  trajectory.turns = {MakeTurn(trajectory.id, 1), MakeTurn(trajectory.id, 2)};
  trajectory.end = TrajectoryEnd::kConverged;
  return trajectory;
}

TEST(RolloutId, TextFormIsReadBackWhateverTheTaskIsCalled) {
  for (const std::string task :
       {"a", "", "level1/12_Softmax", "x#s1r2", "#", "ümläut t3", "a@2", "@"}) {
    const TurnId id{{task, 3, 10, 17}, 2};
    EXPECT_EQ(ParseTurnId(ToString(id)).value(), id);
    EXPECT_EQ(ParseRolloutId(ToString(id.rollout)).value(), id.rollout);
  }
  EXPECT_EQ(ToString(TurnId{{"t", 1, 2, 4}, 3}), "t@4#s1r2t3");
}

TEST(RolloutId, OnlyItsOwnTextFormIsAccepted) {
  for (const char* text :
       {"", "t", "t#", "t@1#s1", "t@1#s1r", "t@1#s1r2t1", "t@1#s-1r2", "t@1#s01r2", "t@1#s1r2 ",
        "t@1#s+1r2", "t@1#r1s2", "t@1#s1r99999999999999", "t#s1r2", "t@#s1r2", "t@0#s1r2",
        "t@01#s1r2", "t@1x#s1r2"})
    EXPECT_FALSE(ParseRolloutId(text).ok()) << text;
  for (const char* text :
       {"t@1#s1r2", "t@1#s1r2t0", "t@1#s1r2t-1", "t@1#s1r2t01", "t@1#s1r2t1x", "t#s1r2t1"})
    EXPECT_FALSE(ParseTurnId(text).ok()) << text;
}

TEST(RolloutId, OrdersByTaskThenSchemeThenRolloutThenTurn) {
  const std::set<TurnId> ordered = {
      {{"b", 0, 0}, 1}, {{"a", 1, 0}, 1}, {{"a", 0, 10}, 1}, {{"a", 0, 2}, 2}, {{"a", 0, 2}, 1}};
  std::string text;
  for (const TurnId& id : ordered) text += ToString(id) + " ";
  EXPECT_EQ(text, "a@1#s0r2t1 a@1#s0r2t2 a@1#s0r10t1 a@1#s1r0t1 b@1#s0r0t1 ");
}

TEST(RolloutRecords, EveryRecordSurvivesJson) {
  const Trajectory trajectory = MakeTrajectory();
  const json written = ToJson(trajectory);
  const auto read = TrajectoryFromJson(json::parse(written.dump()));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ToJson(read.value()), written);
  EXPECT_EQ(read->turns[1].reply, trajectory.turns[1].reply);
  EXPECT_EQ(read->end, TrajectoryEnd::kConverged);

  Selection selection{"t", 1,      false,   {"a", "b"},      {"b"}, 0,
                      "",  "hash", "reply", {1, 2, 3, 4, 5}, 6,     2};
  EXPECT_EQ(ToJson(SelectionFromJson(ToJson(selection)).value()), ToJson(selection));
  selection.merged_into.reset();
  EXPECT_EQ(SelectionFromJson(ToJson(selection))->merged_into, std::nullopt);

  SummaryCall call;
  call.step = 3;
  call.before = {{"t", 0, 0, 3}, 1};
  call.after = {{"t", 0, 0, 3}, 2};
  call.reply = "no skill";
  call.problem = "no call of the tool";
  call.trace_hash = std::string(64, 'c');
  EXPECT_EQ(ToJson(SummaryCallFromJson(ToJson(call)).value()), ToJson(call));

  SkillProposal proposal;
  proposal.before = {{"t", 0, 0}, 1};
  proposal.after = {{"t", 0, 0}, 3};
  proposal.name = "tile";
  proposal.tags = {"x"};
  EXPECT_EQ(ToJson(SkillProposalFromJson(ToJson(proposal)).value()), ToJson(proposal));

  Verification verification;
  verification.samples.resize(2);
  verification.samples[1].with_skill = true;
  verification.samples[1].seed = -5;
  verification.uplift = Interval{1.3, 1.25, std::numeric_limits<double>::infinity()};
  verification.admitted = true;
  const auto back = VerificationFromJson(json::parse(ToJson(verification).dump()));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->uplift, verification.uplift);
  EXPECT_EQ(ToJson(back.value()), ToJson(verification));
}

TEST(RolloutRecords, AnyMissingKeyIsNamed) {
  const json whole = ToJson(MakeTurn({"t", 0, 0}, 1));
  for (const auto& item : whole.items()) {
    json broken = whole;
    broken.erase(item.key());
    const auto read = TurnFromJson(broken);
    ASSERT_FALSE(read.ok()) << item.key();
    EXPECT_NE(read.status().message().find("\"" + item.key() + "\""), std::string::npos)
        << read.status().message();
  }
}

TEST(RolloutRecords, AnyWrongTypeAndAnyUnknownKeyIsRefused) {
  const json whole = ToJson(MakeTurn({"t", 0, 0}, 1));
  for (const auto& item : whole.items()) {
    json broken = whole;
    broken[item.key()] = json::array({json::object()});
    EXPECT_FALSE(TurnFromJson(broken).ok()) << item.key();
  }
  json surplus = whole;
  surplus["replly"] = "x";
  EXPECT_EQ(TurnFromJson(surplus).status().message(),
            "davinci.turn/2: \"replly\" is not a known key");
  json foreign = whole;
  foreign["schema"] = "davinci.turn/1";
  EXPECT_FALSE(TurnFromJson(foreign).ok());
  EXPECT_FALSE(TurnFromJson(json::array()).ok());
  EXPECT_FALSE(TurnFromJson(json()).ok());
}

TEST(RolloutRecords, ATrajectoryWithAForeignOrMissingTurnIsRefused) {
  Trajectory trajectory = MakeTrajectory();
  trajectory.turns.erase(trajectory.turns.begin());
  EXPECT_FALSE(TrajectoryFromJson(ToJson(trajectory)).ok());
  trajectory = MakeTrajectory();
  trajectory.turns[1].id.rollout.rollout = 7;
  EXPECT_FALSE(TrajectoryFromJson(ToJson(trajectory)).ok());
}

TEST(RolloutRecords, IntegersOutOfRangeAreRefusedNotWrapped) {
  json cost = ToJson(LlmCost{});
  cost["calls"] = int64_t{1} << 40;
  EXPECT_FALSE(LlmCostFromJson(cost).ok());
  cost["calls"] = 1.5;
  EXPECT_FALSE(LlmCostFromJson(cost).ok());
  cost["calls"] = 1;
  cost["prompt_tokens"] = ~uint64_t{0};
  EXPECT_FALSE(LlmCostFromJson(cost).ok());
}

TEST(LlmCost, AnUnknownPriceIsNotZeroDollars) {
  LlmCost cost;
  cost.calls = 2;
  EXPECT_EQ(MoneyText(cost), "$0.00");
  EXPECT_FALSE(ToJson(cost).contains("unpriced"));
  cost.unpriced = 2;
  EXPECT_EQ(MoneyText(cost), "price unknown");
  const auto again = LlmCostFromJson(ToJson(cost));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, cost);
  cost.calls = 3;
  cost.usd = 0.0123;
  EXPECT_EQ(MoneyText(cost), "$0.0123 + 2 calls of unknown price");
}

TEST(LlmCost, Adds) {
  LlmCost sum{1, 2, 3, 0.5, 1.5};
  sum += LlmCost{10, 20, 30, 0.25, 0.5};
  EXPECT_EQ(sum, (LlmCost{11, 22, 33, 0.75, 2.0}));
}

}  // namespace
}  // namespace davinci
