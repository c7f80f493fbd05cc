#include "davinci/runs/bench_results.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace davinci::runs {
namespace {

using ::testing::HasSubstr;

Turn Judged(Language language, double speedup, double spread = 1.05) {
  Turn turn;
  turn.language = language;
  turn.judge_seconds = 2;
  turn.evaluation.outcome = speedup > 0 ? Outcome::kOk : Outcome::kMismatch;
  turn.evaluation.correct = speedup > 0;
  turn.evaluation.message = "first \"wrong\" value, 3";
  const double low = speedup / spread;
  if (speedup > 0)
    turn.evaluation.speedup = Speedup{speedup, low, speedup * spread, low > 1.02, "eager"};
  return turn;
}

report::RunView View(std::vector<std::vector<Turn>> samples) {
  report::RunView view;
  report::TaskView task;
  task.task.id = "level1/rows";
  task.task.level = 1;
  task.task.sidecar =
      fmt::format("{}batch 64 -> 8\n[sizes.cpu]\nbatch = 8\n", std::string(kScaledComment));
  int rollout = 0;
  for (std::vector<Turn>& turns : samples) {
    Trajectory trajectory;
    trajectory.id = {task.task.id, 0, rollout++};
    for (size_t i = 0; i < turns.size(); ++i)
      turns[i].id = {trajectory.id, static_cast<int>(i) + 1};
    trajectory.turns = std::move(turns);
    task.trajectories.push_back(std::move(trajectory));
  }
  view.tasks.push_back(std::move(task));
  return view;
}

TEST(BenchResults, ACopyOfPyTorchIsCorrectAndCountedAsSuch) {
  const auto tasks = BenchTasksOf(View({{Judged(Language::kPython, 1.0)},
                                        {Judged(Language::kCpp, 2.0), Judged(Language::kCpp, 0)},
                                        {Judged(Language::kCpp, 0)},
                                        {}}));
  ASSERT_EQ(tasks.size(), 1u);
  EXPECT_EQ(tasks[0].num_correct, 2);
  EXPECT_EQ(tasks[0].num_only_pytorch, 1);
  EXPECT_EQ(ToString(tasks[0].best()->id), "level1/rows@1#s0r1");
  const nlohmann::json body = ToJson(tasks)[0];
  EXPECT_EQ(body["scaled"], "batch 64 -> 8");
  EXPECT_EQ(body["judge_seconds"], 8);
  ASSERT_EQ(body["results"].size(), 4u);
  EXPECT_EQ(body["results"][0]["only_pytorch"], true);
  EXPECT_EQ(body["results"][1]["answer"], 1);
  EXPECT_EQ(body["results"][2]["status"], "mismatch");
  EXPECT_EQ(body["results"][3]["answer"], 0);
}

TEST(BenchResults, TheBestIsTheOneThatIsSure) {
  const auto tasks =
      BenchTasksOf(View({{Judged(Language::kCpp, 5.72, 8)}, {Judged(Language::kCpp, 3.15)}}));
  EXPECT_EQ(tasks[0].best()->id.rollout, 1);
}

TEST(BenchResults, CsvHasALinePerSampleAndQuotesTexts) {
  const std::string csv = SamplesCsv(
      BenchTasksOf(View({{Judged(Language::kCpp, 5.72, 8)}, {Judged(Language::kCpp, 0)}})));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, HasSubstr("level1/rows,1,0,0,1,turns,1,ok,true,false,not decided,5.72,"));
  EXPECT_THAT(csv, HasSubstr("mismatch,false,false,,,,,,,,batch 64 -> 8,"
                             "\"first \"\"wrong\"\" value, 3\"\n"));
}

}  // namespace
}  // namespace davinci::runs
