// The parts of the trainer that need no LibTorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/trainer/checkpoint.h"
#include "davinci/trainer/divide.h"
#include "davinci/trainer/estimate.h"
#include "davinci/trainer/event_file.h"
#include "davinci/trainer/objectives.h"
#include "davinci/trainer/settings.h"

namespace davinci::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Schedule, WarmsUpLinearlyAndFallsAsACosine) {
  const ScheduleSettings cosine{Schedule::kCosine, 1.0, 0.2, 0.1};
  EXPECT_DOUBLE_EQ(LearningRate(cosine, 0, 10), 0.5);
  EXPECT_DOUBLE_EQ(LearningRate(cosine, 1, 10), 1.0);
  EXPECT_DOUBLE_EQ(LearningRate(cosine, 2, 10), 1.0);
  EXPECT_NEAR(LearningRate(cosine, 6, 10), 0.1 + 0.9 * 0.5, 1e-12);
  const ScheduleSettings linear{Schedule::kLinear, 1.0, 0.0, 0.0};
  EXPECT_DOUBLE_EQ(LearningRate(linear, 5, 10), 0.5);
  const ScheduleSettings constant{Schedule::kConstant, 3.0, 0.0, 0.0};
  EXPECT_DOUBLE_EQ(LearningRate(constant, 9, 10), 3.0);
}

TEST(Checkpoints, AreFoldersNamedByAStep) {
  const TempDir folder = MakeTempDir("checkpoints").value();
  for (const char* name : {"step-00000020", "step-00000003", "step-original", "step-00000004.old",
                           "step--0000005", "step-0000006 "})
    ASSERT_TRUE(MakeDirs(folder.path() / name).ok());
  const auto steps = ListCheckpoints(folder.path());
  ASSERT_TRUE(steps.ok()) << steps.status().ToString();
  EXPECT_THAT(*steps, ElementsAre(3, 20));
}

TEST(SftRecipe, TheShippedFileListsEveryKeyWithItsDefault) {
  const auto shipped = config::Recipe::Load(DAVINCI_SOURCE_DIR "/recipes/train/sft.toml");
  ASSERT_TRUE(shipped.ok()) << shipped.status().ToString();
  std::string from_file;
  std::string from_code;
  ASSERT_TRUE(ReadSftRecipe(*shipped, &from_file).ok());
  ASSERT_TRUE(ReadSftRecipe(config::Recipe(), &from_code).ok());
  EXPECT_EQ(from_file, from_code);
  const auto defaults = config::Recipe::Parse(from_code, "defaults");
  for (const auto& [table, keys] : defaults->tree().values.items())
    for (const auto& [key, value] : keys.items())
      EXPECT_TRUE(shipped->tree().values.contains(table) &&
                  shipped->tree().values[table].contains(key))
          << table << "." << key;
  const auto ci = config::Recipe::Load(DAVINCI_SOURCE_DIR "/recipes/train/ci/sft.toml");
  ASSERT_TRUE(ci.ok());
  EXPECT_TRUE(ReadSftRecipe(*ci, nullptr).ok());
}

TEST(SftRecipe, NamesAllProblemsAtOnce) {
  config::Recipe recipe;
  ASSERT_TRUE(recipe.Override("optimizer.learning_rat=1").ok());
  ASSERT_TRUE(recipe.Override("data.epochs=0").ok());
  ASSERT_TRUE(recipe.Override("loss.aggregation=\"mean\"").ok());
  const auto read = ReadSftRecipe(recipe, nullptr);
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.status().message(), HasSubstr("optimizer.learning_rate"));
  EXPECT_THAT(read.status().message(), HasSubstr("data.epochs"));
  EXPECT_THAT(read.status().message(), HasSubstr("token-mean"));
}

// RFC 3720 B.4.
TEST(EventFile, ChecksumsAsTheRfcHasThem) {
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
}

// A Llama of one layer: hidden 4, one head of 4, intermediate 8, vocabulary 10. Matrices: 4 * (2 *
// 4 + 2 * 4 + 3 * 8) = 160; forward and backward of 3 tokens, 2 of them through the head: 6 * (160
// * 3 + 40 * 2); attention: 6 * 4 * 9.
TEST(Estimate, CountsTheOperationsOfATinyModel) {
  weights::ModelConfig config;
  config.vocab_size = 10;
  config.hidden_size = 4;
  config.intermediate_size = 8;
  config.num_layers = config.num_heads = config.num_kv_heads = 1;
  config.head_dim = 4;
  EXPECT_DOUBLE_EQ(ModelFlops(config, 3, 2), 6.0 * (160 * 3 + 40 * 2) + 6 * 4 * 9);
  LearnerOptions lora;
  lora.lora = {2, 4, {"q_proj"}};
  EXPECT_EQ(EstimateMemory(config, lora, false, 8).trained_parameters, 2 * (4 + 4));
}

// 7 goes to rank 0, 5 and 3 to rank 1 (then 8), 2 to rank 0 (9), 1 to rank 1 (9).
TEST(DivideRows, BalancesTokensAndKeepsTheOrder) {
  const int64_t lengths[] = {1, 7, 3, 5, 2};
  EXPECT_THAT(DivideRows(lengths, 2), ElementsAre(ElementsAre(1, 4), ElementsAre(0, 2, 3)));
  EXPECT_THAT(DivideRows(lengths, 1), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
  EXPECT_THAT(DivideRows(std::span(lengths).first(1), 3),
              ElementsAre(ElementsAre(0), IsEmpty(), IsEmpty()));
}

TEST(Estimate, DividesMastersAndMomentsByRanks) {
  weights::ModelConfig config;
  config.vocab_size = 10;
  config.hidden_size = 4;
  config.intermediate_size = 8;
  config.num_layers = config.num_heads = config.num_kv_heads = 1;
  config.head_dim = 4;
  const CostEstimate one = EstimateMemory(config, {}, true, 8);
  const CostEstimate four = EstimateMemory(config, {}, true, 8, 4);
  EXPECT_EQ(four.moment_bytes, one.moment_bytes / 4);
  EXPECT_EQ(one.weight_bytes - four.weight_bytes, 3 * one.trained_parameters);
  EXPECT_EQ(four.gradient_bytes, one.gradient_bytes);
  LearnerOptions stage2;
  stage2.zero_stage = 2;
  EXPECT_EQ(EstimateMemory(config, stage2, true, 8).gradient_bytes, one.gradient_bytes);
  // The layer's matrices and norms, 168, are finished together.
  EXPECT_EQ(EstimateMemory(config, stage2, true, 8, 4).gradient_bytes,
            4 * (one.trained_parameters / 4 + 168));
}

// log ratio ln 2 at A = 1: clipped at 1.28, no slope; at A = -1: -A rho = 2, inside the dual clip.
TEST(PolicyObjective, WeighsSlopesAndCountsClips) {
  const float log2 = 0.6931472F;
  const PolicyTarget targets[] = {{9, 9, 9},  // of an earlier chunk
                                  {1, -log2, 0.5, rl::AgentKind::kPolicy},
                                  {-1, -log2, 0.5, rl::AgentKind::kSummary}};
  PolicyObjective objective({}, targets);
  const float outputs[] = {0, 0};
  float slopes[] = {7, 7};
  objective(1, outputs, slopes);
  EXPECT_EQ(slopes[0], 0);
  EXPECT_NEAR(slopes[1], 0.5 * 2, 1e-6);
  EXPECT_EQ(objective.by_agent()[0].clipped_high, 1);
  EXPECT_EQ(objective.by_agent()[2].tokens, 1);
  EXPECT_NEAR(objective.by_agent()[2].loss, 0.5 * 2, 1e-6);
  EXPECT_NEAR(objective.by_agent()[2].kl, 2 - 1 - log2, 1e-6);
}

}  // namespace
}  // namespace davinci::trainer
