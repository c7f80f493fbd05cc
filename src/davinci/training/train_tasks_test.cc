#include "davinci/training/train_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::training {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TrainTasks, AnEntryNamesTargetAndLanguageOrNeither) {
  const TaskKind usual{Target::kCuda, Language::kTriton};
  EXPECT_EQ(ParseTaskSet("tasks", usual)->kind, usual);
  const auto other = ParseTaskSet("cpu/cpp:my/tasks", usual);
  EXPECT_EQ(other->path, "my/tasks");
  EXPECT_EQ(other->kind, (TaskKind{Target::kCpu, Language::kCpp}));
  EXPECT_EQ(ParseTaskSet("odd/name:x.jsonl", usual)->path, "odd/name:x.jsonl");
  EXPECT_THAT(ParseTaskSet("cuda/fortran:tasks", usual).status().message(), HasSubstr("fortran"));
}

class TaskSets : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = MakeTempDir("train-tasks");
    ASSERT_TRUE(folder.ok());
    folder_ = std::move(folder).value();
    ASSERT_TRUE(MakeDirs(folder_.path() / "seen").ok());
    ASSERT_TRUE(MakeDirs(folder_.path() / "unseen").ok());
    Write("seen/a.py");
    Write("seen/b.py");
    Write("unseen/c.py");
  }
  void Write(const char* file) {
    ASSERT_TRUE(WriteFileAtomic(folder_.path() / file,
                                "import torch\n\n\nclass Model(torch.nn.Module):\n"
                                "    def forward(self, x):\n        return x\n\n\n"
                                "def get_inputs():\n    return [torch.ones(2)]\n\n\n"
                                "def get_init_inputs():\n    return []\n")
                    .ok());
  }
  std::string Path(const char* name) { return (folder_.path() / name).string(); }
  TempDir folder_;
  rollout::StepSettings settings_;  // cpu, cpp
};

TEST_F(TaskSets, OneRunHoldsSeveralTargetsAndLanguages) {
  const auto tasks =
      LoadTrainTasks({Path("seen"), "cuda/triton:" + Path("seen"), Path("unseen")}, settings_);
  ASSERT_TRUE(tasks.ok()) << tasks.status().ToString();
  std::vector<std::string> names;
  std::vector<std::string> splits;
  for (const TrainTask& task : *tasks) {
    names.push_back(task.entry.id);
    splits.push_back(task.split);
  }
  EXPECT_THAT(names, ElementsAre("a", "b", "c", "a [cuda/triton]", "b [cuda/triton]"));
  EXPECT_THAT(splits,
              ElementsAre("seen", "seen", "unseen", "seen [cuda triton]", "seen [cuda triton]"));
  const auto inputs = InputsOf(*tasks, settings_);
  ASSERT_TRUE(inputs.ok()) << inputs.status().ToString();
  EXPECT_EQ(inputs->at(0).brief.language, Language::kCpp);
  EXPECT_EQ(inputs->at(3).brief.target, Target::kCuda);
  EXPECT_EQ(inputs->at(3).brief.language, Language::kTriton);
  EXPECT_EQ(inputs->at(3).id, "a [cuda/triton]");
}

TEST_F(TaskSets, AHeldOutTaskIsNotTrainedOnInAnotherLanguageEither) {
  const auto trained = LoadTrainTasks({Path("seen")}, settings_);
  const auto other = LoadTrainTasks({"cuda/triton:" + Path("seen")}, settings_);
  const auto unseen = LoadTrainTasks({Path("unseen")}, settings_);
  ASSERT_TRUE(trained.ok() && other.ok() && unseen.ok());
  EXPECT_THAT(CheckDisjoint(*trained, *other).message(), HasSubstr("train.held_out"));
  EXPECT_TRUE(CheckDisjoint(*trained, *unseen).ok());
}

TEST_F(TaskSets, ALanguageThatCannotRunOnItsTargetIsRefused) {
  const auto tasks = LoadTrainTasks({"cpu/cuda:" + Path("seen")}, settings_);
  ASSERT_TRUE(tasks.ok());
  EXPECT_FALSE(InputsOf(*tasks, settings_).ok());
}

}  // namespace
}  // namespace davinci::training
