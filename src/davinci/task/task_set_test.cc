#include "davinci/task/task_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "davinci/base/files.h"

namespace davinci::task {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr char kSource[] = "class Model:\n  pass\ndef get_inputs():\n  return []\n";

class TaskSetTest : public testing::Test {
 protected:
  void SetUp() override { temp_ = MakeTempDir("tasks").value(); }
  fs::path Put(const std::string& name, std::string_view text) {
    const fs::path path = temp_.path() / name;
    EXPECT_TRUE(MakeDirs(path.parent_path()).ok());
    EXPECT_TRUE(WriteFileAtomic(path, text, Durability::kFastest).ok());
    return path;
  }
  std::string Ids(const Result<std::vector<TaskEntry>>& tasks) {
    if (!tasks.ok()) return "error: " + tasks.status().message();
    std::string text;
    for (const TaskEntry& task : *tasks) text += task.id + " ";
    return text;
  }
  TempDir temp_;
};

TEST_F(TaskSetTest, AFolderOfLevelsIsReadInOrderOfLevelAndNumber) {
  for (const char* name : {"level2/1_B.py", "level1/10_C.py", "level1/9_D.py", "level1/_helper.py",
                           "extra.py", ".hidden/1_X.py"})
    Put(name, kSource);
  Put("level1/notes.txt", "x");
  const auto tasks = LoadTaskSet(temp_.path());
  EXPECT_EQ(Ids(tasks), "level1/9_D level1/10_C level2/1_B extra ");
  EXPECT_EQ(tasks->front().level, 1);
  EXPECT_EQ(tasks->front().problem, 9);
  EXPECT_EQ(tasks->front().path, temp_.path() / "level1/9_D.py");
  EXPECT_EQ(tasks->back().level, std::nullopt);
}

TEST_F(TaskSetTest, OneLevelGivenByItselfKeepsItsLevel) {
  Put("level3/7_A.py", kSource);
  for (const fs::path& path : {temp_.path() / "level3", temp_.path() / "level3/"}) {
    const auto tasks = LoadTaskSet(path);
    EXPECT_EQ(Ids(tasks), "7_A ");
    EXPECT_EQ(tasks->at(0).level, 3);
  }
  EXPECT_EQ(LoadTaskSet(temp_.path() / "level3/7_A.py")->at(0).level, 3);
}

TEST_F(TaskSetTest, LevelsAndIdsChoose) {
  for (const char* name : {"level1/1_A.py", "level2/1_B.py", "level3/1_C.py"}) Put(name, kSource);
  EXPECT_EQ(Ids(LoadTaskSet(temp_.path(), {{3, 1}, {}})), "level1/1_A level3/1_C ");
  EXPECT_EQ(Ids(LoadTaskSet(temp_.path(), {{}, {"level2/1_B"}})), "level2/1_B ");
  EXPECT_THAT(Ids(LoadTaskSet(temp_.path(), {{4}, {}})),
              HasSubstr("no task of level 4; there are 1, 2, 3"));
  EXPECT_THAT(Ids(LoadTaskSet(temp_.path(), {{}, {"level2/1_b"}})),
              HasSubstr("did you mean \"level2/1_B\"?"));
}

TEST_F(TaskSetTest, IdsMayBePatternsAndLastPartsAndWhatFitsNothingIsExplained) {
  for (const char* name : {"level1/1_Soft.py", "level1/2_Gelu.py", "level2/3_Soft.py"})
    Put(name, kSource);
  const auto only = [&](const std::string& id) {
    return Ids(LoadTaskSet(temp_.path(), {{}, {id}}));
  };
  EXPECT_EQ(only("*Soft"), "level1/1_Soft level2/3_Soft ");
  EXPECT_EQ(only("level1/*"), "level1/1_Soft level1/2_Gelu ");
  EXPECT_EQ(only("[12]_*"), "level1/1_Soft level1/2_Gelu ");
  EXPECT_EQ(only("3_Soft"), "level2/3_Soft ");
  EXPECT_THAT(only("2_Gele"), HasSubstr("no task \"2_Gele\" (did you mean \"2_Gelu\"?)"));
  EXPECT_THAT(only("*Norm*"), HasSubstr("there are level1/1_Soft, level1/2_Gelu, level2/3_Soft"));
}

TEST_F(TaskSetTest, LevelsOfASetWithoutLevelsAreAnError) {
  Put("a.py", kSource);
  EXPECT_THAT(Ids(LoadTaskSet(temp_.path(), {{1}, {}})), HasSubstr("no task has a level"));
}

TEST_F(TaskSetTest, NothingToDoIsAnErrorThatSaysWhat) {
  EXPECT_THAT(Ids(LoadTaskSet(temp_.path())), HasSubstr("no task in this folder"));
  EXPECT_EQ(LoadTaskSet(temp_.path() / "nowhere").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(Ids(LoadTaskSet(Put("empty.jsonl", "\n  \n"))), HasSubstr("no task in it"));
  EXPECT_THAT(Ids(LoadTaskSet(Put("tasks.csv", "x"))), HasSubstr("not a task set"));
  EXPECT_THAT(Ids(LoadTaskSet(Put("rows.parquet", "PAR1"))),
              HasSubstr("python -m davinci_worker.parquet_rows"));
}

TEST_F(TaskSetTest, EveryFileThatIsNoTaskIsNamed) {
  Put("a.py", "print('hello')");
  Put("b.py", "def get_inputs(): pass");
  const std::string error = Ids(LoadTaskSet(temp_.path()));
  EXPECT_THAT(error, HasSubstr("a.py: defines no get_inputs()"));
  EXPECT_THAT(error, HasSubstr("b.py: defines no class Model"));
  Put("b.toml", "function = \"f\"");
  EXPECT_THAT(Ids(LoadTaskSet(temp_.path())), Not(HasSubstr("b.py")));
}

TEST_F(TaskSetTest, RowsOfOurOwnFormNameAFileOrCarryTheirSource) {
  Put("sub/x.py", kSource);
  const nlohmann::json inline_row = {{"id", "in line"},
                                     {"source", "class Net:\n get_inputs"},
                                     {"entry", "Net"},
                                     {"level", 2},
                                     {"problem", 4},
                                     {"sidecar", "precision = \"fp16\"\n"},
                                     {"synth", {{"split", "train"}}}};
  const auto tasks =
      LoadTaskSet(Put("t.jsonl", "{\"path\": \"sub/x.py\"}\r\n\n" + inline_row.dump()));
  ASSERT_EQ(Ids(tasks), "in line x ");
  EXPECT_EQ(tasks->at(0).sidecar, "entry = \"Net\"\nprecision = \"fp16\"\n");
  EXPECT_EQ(tasks->at(0).problem, 4);
  EXPECT_THAT(tasks->at(0).origin, HasSubstr("t.jsonl:3"));
  EXPECT_EQ(tasks->at(1).path, temp_.path() / "sub/x.py");
}

TEST_F(TaskSetTest, PublishedRowsAreRead) {
  const auto row = [](nlohmann::json extra) {
    return nlohmann::json{{"data_source", "some/data"},
                          {"prompt", {{{"role", "user"}, {"content", "…"}}}},
                          {"ability", "kernel"},
                          {"reward_model", {{"ground_truth", kSource}, {"style", "rule"}}},
                          {"extra_info", std::move(extra)}}
               .dump() +
           "\n";
  };
  const auto tasks = LoadTaskSet(
      Put("rl.jsonl", row({{"entry_point", "Model"}, {"level", "level2"}, {"uuid", "abc"}}) +
                          row({{"entry_point", ""}, {"level", 1}, {"uuid", 17}, {"ops", "[]"}}) +
                          row({{"level", nullptr}})));
  EXPECT_EQ(Ids(tasks), "17 abc row-3 ");
  EXPECT_EQ(tasks->at(1).level, 2);
  EXPECT_EQ(tasks->at(1).source, kSource);
  EXPECT_EQ(tasks->at(1).sidecar, "");
}

TEST_F(TaskSetTest, BrokenRowsAreAllReportedWithTheirLine) {
  const std::string error =
      Ids(LoadTaskSet(Put("t.jsonl", R"({"id": "a", "source": "class Model: get_inputs"})"
                                     "\n"
                                     R"({"id": "b"})"
                                     "\nnot json\n[1]\n"
                                     R"({"id": "c", "sorce": "x"})"
                                     "\n"
                                     R"({"path": "nowhere.py"})"
                                     "\n"
                                     R"({"source": "class A: get_inputs", "entry": "A\"\nx = 1"})"
                                     "\n"
                                     R"({"reward_model": {"style": "rule"}})"
                                     "\n"
                                     R"({"source": "class Model: get_inputs", "level": "one"})")));
  for (const char* part :
       {"t.jsonl:2: needs either", "t.jsonl:3: is not JSON", "t.jsonl:4: is not a JSON object",
        "t.jsonl:5: unknown key \"sorce\" (did you mean \"source\"?)",
        "t.jsonl:6: there is no file", "t.jsonl:7: \"entry\"", "t.jsonl:8: \"reward_model\" has no",
        "t.jsonl:9: \"level\""})
    EXPECT_THAT(error, HasSubstr(part));
  EXPECT_THAT(error, Not(HasSubstr("t.jsonl:1:")));
}

TEST_F(TaskSetTest, AnIdUsedTwiceNamesBothPlaces) {
  const std::string row = R"({"id": "a", "source": "class Model: get_inputs"})";
  EXPECT_THAT(Ids(LoadTaskSet(Put("t.jsonl", row + "\n" + row))),
              testing::ContainsRegex("t.jsonl:2: the id \"a\" was used before, at .*t.jsonl:1"));
}

TEST_F(TaskSetTest, WritingFilesTwiceChangesNothingAndIdsNeverShareAFile) {
  std::vector<TaskEntry> tasks(4);
  tasks[0].id = "level1/a b";
  tasks[1].id = "level1/a_b";
  tasks[2].id = "../../etc/x";
  tasks[3].id = "plain";
  for (TaskEntry& task : tasks) task.source = "# " + task.id;
  tasks[3].sidecar = "entry = \"Net\"\n";
  const fs::path folder = temp_.path() / "run/tasks";
  ASSERT_TRUE(WriteTaskFiles(folder, &tasks).ok());
  for (const TaskEntry& task : tasks) {
    EXPECT_EQ(task.path.parent_path(), folder);
    EXPECT_EQ(ReadFile(task.path).value(), task.source);
  }
  EXPECT_EQ(ReadFile(folder / "plain.toml").value(), "entry = \"Net\"\n");
  const auto before = fs::last_write_time(tasks[0].path);
  ASSERT_TRUE(WriteTaskFiles(folder, &tasks).ok());
  EXPECT_EQ(fs::last_write_time(tasks[0].path), before);
  EXPECT_EQ(ListFiles(folder)->size(), 5u);
}

TEST(OwnTasks, TheProjectsTaskFolderIsATaskSet) {
  const auto tasks = LoadTaskSet(fs::path(DAVINCI_SOURCE_DIR) / "tasks");
  ASSERT_TRUE(tasks.ok()) << tasks.status().message();
  EXPECT_GT(tasks->size(), 30u);
}

}  // namespace
}  // namespace davinci::task
