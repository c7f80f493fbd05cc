#include "davinci/training/training_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/llm/token_trace.h"

namespace davinci::training {
namespace {

// One task with rollouts of one turn each, whose replies have two tokens.
class BatchOf : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = MakeTempDir("training-batch");
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(folder).value());
    auto run = store::RunStore::Create(folder_->path() / "run", nlohmann::json::object());
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    run_ = std::move(run).value();
    llm::TokenTrace trace;
    trace.prompt_tokens = {1, 2};
    trace.output_tokens = {3, 4};
    trace.logprobs = {-1, -1};
    trace_ = run_->PutBlob(llm::EncodeTrace(trace).value()).value();
    config::Recipe recipe;
    recipe_ = ReadTrainRecipe(recipe, nullptr).value();
    recipe_.algorithm.cross_scheme_scaling = false;
    recipe_.algorithm.profile_rejection = false;
    outcome_.task = "t";
  }
  static Turn Judged(Language language, Outcome outcome, double speedup, bool significant = true) {
    Turn turn;
    turn.language = language;
    turn.evaluation.outcome = outcome;
    turn.evaluation.correct = outcome != Outcome::kMismatch;
    if (outcome == Outcome::kOk)
      turn.evaluation.speedup =
          Speedup{speedup, 0.99 * speedup, 1.01 * speedup, significant, "eager"};
    return turn;
  }
  // `turns`: of one rollout.
  void Add(std::vector<Turn> turns) {
    Trajectory& trajectory = outcome_.trajectories.emplace_back();
    trajectory.id = {"t", 0, static_cast<int>(outcome_.trajectories.size()) - 1};
    int number = 0;
    for (Turn& turn : turns) {
      turn.id = {trajectory.id, ++number};
      turn.trace_hash = trace_;
    }
    trajectory.turns = std::move(turns);
  }
  TrainingBatch Make() {
    rollout::UnitLog log(run_.get(), rollout::UnitLog::Mode::kLive);
    auto batch = MakeTrainingBatch({outcome_}, recipe_, log);
    EXPECT_TRUE(batch.ok()) << batch.status().ToString();
    return std::move(batch).value();
  }
  std::optional<TempDir> folder_;
  std::unique_ptr<store::RunStore> run_;
  std::string trace_;
  TrainRecipe recipe_;
  rollout::TaskOutcome outcome_;
};

// A copy of PyTorch: as the judge found it, and as a violation.
TEST_F(BatchOf, ADecoyEarnsNothingAndIsNoPartOfTheBaseline) {
  Add({Judged(Language::kCpp, Outcome::kMismatch, 0)});
  Add({Judged(Language::kCpp, Outcome::kOk, 2)});
  Add({Judged(Language::kPython, Outcome::kOk, 3)});
  Add({Judged(Language::kPython, Outcome::kPolicyViolation, 0)});
  const TrainingBatch batch = Make();
  ASSERT_EQ(batch.samples.size(), 4u);
  // Honest returns 0 and 1.5: each is compared with the other one alone.
  EXPECT_DOUBLE_EQ(batch.samples[0].advantage, -1.5);
  EXPECT_DOUBLE_EQ(batch.samples[1].advantage, 1.5);
  EXPECT_DOUBLE_EQ(batch.samples[2].advantage, -0.75);
  EXPECT_DOUBLE_EQ(batch.samples[3].advantage, -0.75);
  EXPECT_TRUE(batch.samples[2].trained);
  EXPECT_DOUBLE_EQ(batch.figures.at("turns/decoys"), 0.5);
  EXPECT_DOUBLE_EQ(batch.figures.at("turns/correct"), 0.25);
  EXPECT_DOUBLE_EQ(batch.figures.at("reward/policy"), 1.5 / 4);
}

// Where no attempt earns anything, a copy is worth no more than a failed honest one.
TEST_F(BatchOf, ADecoyIsNeverBetterThanAFailure) {
  Add({Judged(Language::kCpp, Outcome::kMismatch, 0)});
  Add({Judged(Language::kPython, Outcome::kOk, 3)});
  const TrainingBatch batch = Make();
  EXPECT_EQ(batch.samples[0].advantage, 0);
  EXPECT_EQ(batch.samples[1].advantage, 0);
  recipe_.algorithm.reward.kind = rl::RewardKind::kMilestone;
  EXPECT_EQ(Make().figures.at("reward/best_of_rollout"), -1);
}

// A copy in turn 1, an honest kernel in turn 2: the first turn has no part in what the second
// earns.
TEST_F(BatchOf, ADecoyHasNoPartInWhatLaterTurnsEarn) {
  recipe_.algorithm.advantage = rl::AdvantageKind::kReinforce;
  Add({Judged(Language::kPython, Outcome::kOk, 3), Judged(Language::kCpp, Outcome::kOk, 2)});
  Add({Judged(Language::kCpp, Outcome::kMismatch, 0), Judged(Language::kCpp, Outcome::kOk, 4)});
  const TrainingBatch batch = Make();
  EXPECT_EQ(batch.samples[0].advantage, 0);
  EXPECT_DOUBLE_EQ(batch.samples[1].advantage, 1.5);
  EXPECT_DOUBLE_EQ(batch.samples[2].advantage, 2.5) << "an honest failure that led there does";
}

TEST_F(BatchOf, FasterIsSignificantlyFaster) {
  Add({Judged(Language::kCpp, Outcome::kOk, 1.3, /*significant=*/false)});
  Add({Judged(Language::kCpp, Outcome::kOk, 1.1)});
  EXPECT_DOUBLE_EQ(Make().figures.at("turns/faster"), 0.5);
  const auto fast = FastPOf({outcome_});
  EXPECT_EQ(fast.at("0"), 1);
  EXPECT_EQ(fast.at("1"), 1);
  EXPECT_EQ(fast.at("1.2"), 0) << "1.3 may be noise";
}

// Two rollouts whose first turn was asked in two parts; of the first rollout's a kernel was left
// out before the judge found the rest right.
// Intervals are 1 % to either side.
TEST_F(BatchOf, WhatTimingExplainsIsNotTrained) {
  recipe_.algorithm.groups.timing_noise = 1;
  Add({Judged(Language::kTriton, Outcome::kOk, 2)});
  Add({Judged(Language::kTriton, Outcome::kOk, 2.01)});
  EXPECT_EQ(Make().trained_groups, 0);
  EXPECT_FALSE(IsTrained(outcome_.trajectories, recipe_.algorithm));
  outcome_.trajectories.clear();
  Add({Judged(Language::kTriton, Outcome::kOk, 2)});
  Add({Judged(Language::kTriton, Outcome::kOk, 2.1)});
  EXPECT_EQ(Make().trained_groups, 1);
  EXPECT_TRUE(IsTrained(outcome_.trajectories, recipe_.algorithm));
}

TEST_F(BatchOf, APartIsComparedWithTheSamePartOfOtherRollouts) {
  rollout::UnitLog log(run_.get(), rollout::UnitLog::Mode::kLive);
  for (int r = 0; r < 2; ++r) {
    Add({Judged(Language::kTriton, Outcome::kOk, r == 0 ? 2 : 3)});
    Turn& turn = outcome_.trajectories.back().turns.front();
    turn.trace_hash.clear();
    rollout::UnitId id = rollout::UnitOf(rollout::UnitKind::kGeneration, 1, turn.id);
    const nlohmann::json note = {
        {"parts", 2}, {"turns", {1, 1}}, {"kernels", {{"f1", "f2"}, {"f1_2"}}}};
    ASSERT_TRUE(log.Record(id, {{"note", note}}).ok());
    for (id.sample = 0; id.sample < 2; ++id.sample)
      ASSERT_TRUE(log.Record(id, {{"trace", {{"blob", trace_}}}}).ok());
    turn.code_hash = "judged in the end";
    id = rollout::UnitOf(rollout::UnitKind::kCandidate, 1, turn.id);
    ASSERT_TRUE(log.Record(id, {{"source", "wrong"}}).ok());
    id.sample = 0;
    nlohmann::json candidate = {{"source", turn.code_hash}};
    if (r == 0) candidate["left_out"] = {{{"kernel", "f2"}, {"why", "other values"}}};
    ASSERT_TRUE(log.Record(id, candidate).ok());
  }
  const TrainingBatch batch = Make();
  ASSERT_EQ(batch.samples.size(), 4u);
  EXPECT_EQ(batch.samples[1].id, "t@1#s0r0t1 part 2");
  // Turns earn 1.5 and 2; of the first rollout's first part half stayed.
  EXPECT_DOUBLE_EQ(batch.samples[0].advantage, 0.75 - 2);
  EXPECT_DOUBLE_EQ(batch.samples[1].advantage, 1.5 - 2);
  EXPECT_DOUBLE_EQ(batch.samples[2].advantage, 2 - 0.75);
  EXPECT_DOUBLE_EQ(batch.samples[3].advantage, 2 - 1.5);
  EXPECT_EQ(batch.without_trace, 0);
  EXPECT_EQ(batch.units.size(), 2u);
}

TEST_F(BatchOf, OverlongRepliesArePenalisedOrLeftOut) {
  recipe_.run.step.policy_sampling.max_tokens = 2;
  recipe_.algorithm.overlong = rl::OverlongRule::kSoftPenalty;
  recipe_.algorithm.overlong_tokens = 1;
  Add({Judged(Language::kCpp, Outcome::kOk, 2)});
  EXPECT_DOUBLE_EQ(Make().figures.at("reward/policy"), 0.5);
  recipe_.algorithm.overlong = rl::OverlongRule::kMask;
  Add({Judged(Language::kCpp, Outcome::kOk, 4)});
  Add({Judged(Language::kCpp, Outcome::kOk, 6)});
  outcome_.trajectories[1].turns[0].finish_reason = "length";
  const TrainingBatch batch = Make();
  EXPECT_FALSE(batch.samples[1].trained);
  EXPECT_TRUE(batch.samples[0].trained && batch.samples[2].trained);
}

}  // namespace
}  // namespace davinci::training
