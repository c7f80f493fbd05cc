#include "davinci/training/training_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::training {
namespace {

using testing::ElementsAre;
using testing::Pair;

class TrainingLog : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = MakeTempDir("training-log");
    ASSERT_TRUE(folder.ok());
    folder_ = std::move(folder).value();
  }
  void Write(const char* file, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / file, text).ok());
  }
  TempDir folder_;
};

TEST_F(TrainingLog, ReadsNumbersByPathAndLeavesOutDamagedLines) {
  Write("recipe.toml", "[data]\nepochs = 2\nmax_updates = 0\n");
  Write(
      "log.jsonl",
      "{\"step\":1,\"epoch\":1,\"loss\":2.5,\"agent_loss\":{\"policy\":2},\"gradient_norm\":null}\n"
      "garbage\n"
      "{\"step\":1,\"loss\":9}\n"
      "{\"step\":1,\"held_out\":{\"greedy\":0.5}}\n"
      "{\"step\":2,\"epoch\":1.5,\"loss\":2}\n"
      "{\"step\":3,\"ep");
  const auto view = ReadTrainingRun(folder_.path());
  ASSERT_TRUE(view.ok()) << view.status().ToString();
  ASSERT_EQ(view->points.size(), 2u);
  EXPECT_THAT(view->points[0].values, ElementsAre(Pair("agent_loss/policy", 2), Pair("epoch", 1),
                                                  Pair("held_out/greedy", 0.5), Pair("loss", 2.5)));
  EXPECT_EQ(view->points[1].step, 2);
  EXPECT_FALSE(view->reinforcement);
  EXPECT_FALSE(view->finished);
  EXPECT_THAT(view->settings, ElementsAre(Pair("data.epochs", "2"), Pair("data.max_updates", "0")));
}

TEST_F(TrainingLog, IsFinishedAtTheLastEpochOrUpdate) {
  Write("log.jsonl", "{\"step\":4,\"epoch\":2}\n");
  Write("recipe.toml", "[data]\nepochs = 2\nmax_updates = 0\n");
  EXPECT_TRUE(ReadTrainingRun(folder_.path())->finished);
  Write("recipe.toml", "[data]\nepochs = 9\nmax_updates = 4\n");
  EXPECT_TRUE(ReadTrainingRun(folder_.path())->finished);
  Write("recipe.toml", "[data]\nepochs = 9\nmax_updates = 5\n");
  EXPECT_FALSE(ReadTrainingRun(folder_.path())->finished);
}

TEST_F(TrainingLog, AnotherFolderIsNone) {
  EXPECT_FALSE(IsTrainingRun(folder_.path()));
  EXPECT_EQ(ReadTrainingRun(folder_.path()).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace davinci::training
