// Rows that are learned along with reinforcement: which ones, and the gradient that they add.
#include "davinci/training/train_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "davinci/base/files.h"
#include "davinci/base/test_environment.h"
#include "davinci/text/test_tokenizer.h"

namespace davinci::training {
namespace {

using testing::HasSubstr;

// Keeps the derivatives that it is given.
class RecordingLearner final : public trainer::Learner {
 public:
  Result<trainer::PassResult> Evaluate(std::span<const trainer::SequenceView>,
                                       const trainer::PassOptions&) override {
    return Internal("not asked for");
  }
  Result<trainer::PassResult> Accumulate(std::span<const trainer::SequenceView>,
                                         const trainer::PassOptions&,
                                         const trainer::LossGradient&) override {
    return Internal("not asked for");
  }
  Result<trainer::PassResult> AccumulateLinear(std::span<const trainer::SequenceView> sequences,
                                               const trainer::PassOptions& options,
                                               std::span<const float> derivatives) override {
    EXPECT_EQ(options.temperature, 1);
    trainer::PassResult result;
    for (const trainer::SequenceView& sequence : sequences) {
      lengths.insert(sequence.targets.size());
      result.outputs.insert(result.outputs.end(), sequence.targets.size(), -0.5F);
    }
    given.insert(given.end(), derivatives.begin(), derivatives.end());
    return result;
  }
  Result<trainer::Update> Step(double) override { return Internal("not asked for"); }
  Status Visit(trainer::StateKind,
               const std::function<Status(const trainer::StateTensor&)>&) override {
    return Internal("not asked for");
  }
  Status Set(trainer::StateKind, const trainer::StateTensor&) override {
    return Internal("not asked for");
  }
  void SetUpdates(int64_t, int64_t) override {}
  const weights::ModelConfig& config() const override { return config_; }
  trainer::LearnerFacts Facts() override { return {}; }
  void ResetPeak() override {}
  void Synchronize() override {}

  std::vector<float> given;
  std::multiset<size_t> lengths;  // trained tokens of each sequence

 private:
  weights::ModelConfig config_;
};

// A model's folder with a tokenizer of bytes, and rows whose replies have 1, 2, 3, … letters.
class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = MakeTempDir("replay").value();
    environment_.Set("DAVINCI_CACHE_DIR", folder_.path() / "cache");
    ASSERT_TRUE(text::WriteByteTokenizer(folder_.path()).ok());
    Write("config.json", R"({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3",
      "vocab_size": 257, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1,
      "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16,
      "max_position_embeddings": 40, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
      "tie_word_embeddings": false, "hidden_act": "silu", "eos_token_id": 256})");
    recipe_ = ReadTrainRecipe(config::Recipe(), nullptr).value();
    recipe_.common.learner.model_dir = folder_.path().string();
  }
  std::string Write(const std::string& name, const std::string& content) {
    EXPECT_TRUE(WriteFileAtomic(folder_.path() / name, content).ok());
    return (folder_.path() / name).string();
  }
  void GiveRows(int count, int64_t examples) {
    std::string rows;
    for (int i = 1; i <= count; ++i)
      rows +=
          R"({"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": ")" +
          std::string(static_cast<size_t>(i), 'x') + "\"}]}\n";
    recipe_.replay.rows = {Write("rows.jsonl", rows)};
    recipe_.replay.examples = examples;
  }

  TempDir folder_;
  TestEnvironment environment_;
  TrainRecipe recipe_;
};

TEST_F(ReplayTest, AnEpochSeesEachRowOnceWhateverTheUpdates) {
  GiveRows(10, 4);
  const auto replay = TrainReplay::Open(recipe_).value();
  std::vector<size_t> seen;
  for (int update = 0; update < 5; ++update)
    for (const size_t row : replay->ExamplesOf(update)) seen.push_back(row);
  ASSERT_EQ(seen.size(), 20U);
  const std::vector<size_t> first(seen.begin(), seen.begin() + 10);
  const std::vector<size_t> second(seen.begin() + 10, seen.end());
  EXPECT_EQ(std::set<size_t>(first.begin(), first.end()).size(), 10U);
  EXPECT_EQ(std::set<size_t>(second.begin(), second.end()).size(), 10U);
  EXPECT_NE(first, second);
  // A run that continues draws the same.
  EXPECT_EQ(TrainReplay::Open(recipe_).value()->ExamplesOf(3), replay->ExamplesOf(3));
}

TEST_F(ReplayTest, FewerRowsThanAnUpdateHasAreSeenAgain) {
  GiveRows(3, 7);
  const auto replay = TrainReplay::Open(recipe_).value();
  EXPECT_EQ(replay->ExamplesOf(0).size(), 7U);
}

TEST_F(ReplayTest, TheGradientIsThatOfTheMeanLossTimesItsWeight) {
  GiveRows(6, 6);
  recipe_.replay.weight = 0.25;
  const auto replay = TrainReplay::Open(recipe_).value();
  RecordingLearner learner;
  trainer::SftSums sums;
  ASSERT_TRUE(replay->Accumulate(0, &learner, &sums).ok());
  // Letters of all replies, and the end of each.
  EXPECT_EQ(learner.lengths, (std::multiset<size_t>{2, 3, 4, 5, 6, 7}));
  ASSERT_EQ(learner.given.size(), 27U);
  for (const float derivative : learner.given) EXPECT_FLOAT_EQ(derivative, -0.25F / 27);
  EXPECT_EQ(sums.num_tokens(), 27);
  EXPECT_FLOAT_EQ(static_cast<float>(sums.Mean()), 0.5F);
}

TEST_F(ReplayTest, WhatDoesNotFitTheContextIsLeftOut) {
  GiveRows(60, 4);
  const auto replay = TrainReplay::Open(recipe_).value();
  EXPECT_LT(replay->num_rows(), 40U);
  EXPECT_GT(replay->num_rows(), 10U);
}

TEST_F(ReplayTest, MissingRowsAreNamed) {
  recipe_.replay.rows = {(folder_.path() / "nothing").string()};
  const auto opened = TrainReplay::Open(recipe_);
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.status().message(), HasSubstr("replay.rows: "));
  EXPECT_THAT(opened.status().message(), HasSubstr("nothing"));
}

}  // namespace
}  // namespace davinci::training
