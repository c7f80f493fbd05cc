#include "davinci/runs/run_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "davinci/base/files.h"
#include "davinci/skill/formats.h"

namespace davinci::runs {
namespace {

using ::testing::ElementsAre;

Trajectory Rollout(int scheme, int rollout, std::vector<double> speedups,
                   TrajectoryEnd end = TrajectoryEnd::kTurns) {
  Trajectory trajectory;
  trajectory.id = {"t", scheme, rollout};
  trajectory.end = end;
  for (const double speedup : speedups) {
    Turn turn;
    turn.evaluation.correct = speedup > 0;
    if (speedup > 0) turn.evaluation.speedup = Speedup{speedup, speedup, speedup, true, "eager"};
    trajectory.turns.push_back(turn);
  }
  return trajectory;
}

Selection Scheme(int scheme, std::vector<std::string> chosen) {
  Selection selection;
  selection.task = "t";
  selection.scheme = scheme;
  selection.null_scheme = chosen.empty();
  selection.shown = chosen;
  selection.chosen = std::move(chosen);
  return selection;
}

TEST(CountUsage, ComparesMeansOverEquallyManyRollouts) {
  // Four rollouts of the scheme with the skill against two of the control: its best, 9x, is one of
  // the two that it has more.
  rollout::TaskOutcome outcome;
  outcome.selections = {Scheme(0, {}), Scheme(1, {"a"})};
  outcome.trajectories = {Rollout(0, 0, {1.0, 2.0}), Rollout(0, 1, {2.0, -1}),
                          Rollout(1, 0, {1.0, 1.0}), Rollout(1, 1, {2.0}),
                          Rollout(1, 2, {9.0}),      Rollout(1, 3, {9.0})};
  std::map<std::string, skill::Usage> usage;
  CountUsage(outcome, &usage);
  EXPECT_EQ(usage["a"].observations, 1);
  EXPECT_NEAR(*usage["a"].MeanUplift(), 1.5 / 2.0, 1e-12);
  EXPECT_EQ(usage["a"].wins, 0);
}

TEST(CountUsage, ASkillIsComparedWithAllSchemesThatLackIt) {
  rollout::TaskOutcome outcome;
  outcome.selections = {Scheme(0, {}), Scheme(1, {"a", "b"}), Scheme(2, {"b"})};
  outcome.trajectories = {Rollout(0, 0, {1.0}), Rollout(1, 0, {4.0}), Rollout(2, 0, {1.0})};
  std::map<std::string, skill::Usage> usage;
  CountUsage(outcome, &usage);
  EXPECT_NEAR(*usage["a"].MeanUplift(), 4.0, 1e-12);  // against 1 and 1
  EXPECT_NEAR(*usage["b"].MeanUplift(), 2.5, 1e-12);  // (4 + 1) / 2 against 1
  EXPECT_EQ(usage["a"].wins, 1);
  EXPECT_EQ(usage["b"].wins, 1);
}

TEST(CountUsage, ARolloutWithoutAKernelCountsAndTheRatioIsBounded) {
  rollout::TaskOutcome outcome;
  outcome.selections = {Scheme(0, {}), Scheme(1, {"a"})};
  outcome.trajectories = {Rollout(0, 0, {2.0}), Rollout(0, 1, {2.0}), Rollout(1, 0, {-1}),
                          Rollout(1, 1, {2.0})};
  std::map<std::string, skill::Usage> usage;
  CountUsage(outcome, &usage);
  EXPECT_NEAR(*usage["a"].MeanUplift(), 0.5, 1e-12);
  outcome.trajectories[3] = Rollout(1, 1, {-1});
  usage.clear();
  CountUsage(outcome, &usage);
  EXPECT_NEAR(*usage["a"].MeanUplift(), 0.1, 1e-12);
  // What was stopped is no observation, and neither is a scheme without a comparison.
  outcome.trajectories[0].end = outcome.trajectories[1].end = TrajectoryEnd::kBudget;
  usage.clear();
  CountUsage(outcome, &usage);
  EXPECT_EQ(usage["a"].observations, 0);
  EXPECT_EQ(usage["a"].selected, 1);
}

TEST(RunLibrary, KeepsTheEvidenceOfShippedSkillsAndPutsTheUsersOwnFirst) {
  auto dir = MakeTempDir("run-library");
  ASSERT_TRUE(dir.ok());
  const std::string shipped = DAVINCI_SOURCE_DIR "/skills";
  const std::string own = (dir->path() / "own.jsonl").string();
  ASSERT_TRUE(WriteFileAtomic(own,
                              "{\"name\":\"online-logsumexp\",\"description\":\"mine\","
                              "\"content\":\"other words\"}\n")
                  .ok());
  const auto library = OpenRunLibrary(dir->path() / "run", {own, shipped});
  ASSERT_TRUE(library.ok()) << library.status().ToString();
  EXPECT_EQ((*(*library)->Get("online-logsumexp"))->skill.description, "mine");
  const auto records = (*library)->All();
  ASSERT_TRUE(records.ok());
  EXPECT_GE(records->size(), 38u);
  const auto read = skill::ReadSkills(shipped);
  ASSERT_TRUE(read.ok());
  int proven = 0;
  for (const skill::Document& document : read->documents) {
    if (document.skill.name == "online-logsumexp") continue;
    const auto record = (*library)->Get(document.skill.name);
    ASSERT_TRUE(record.ok() && *record) << document.skill.name;
    EXPECT_EQ((*record)->evidence, document.evidence) << document.skill.name;
    proven += document.evidence.empty() ? 0 : 1;
  }
  EXPECT_GE(proven, 30);
}

}  // namespace
}  // namespace davinci::runs
