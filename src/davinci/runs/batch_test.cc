#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "davinci/base/files.h"
#include "davinci/runs/batch_plan.h"
#include "davinci/runs/batch_results.h"
#include "davinci/runs/batch_tally.h"

namespace davinci::runs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

judge::BatchEntry Entry(const std::string& id, const std::string& hash,
                        const std::string& reference = "softmax.py") {
  judge::BatchEntry entry;
  entry.job.id = id;
  entry.job.reference_path = reference;
  entry.hash = hash;
  return entry;
}

judge::BatchEntry BadEntry(const std::string& id) {
  judge::BatchEntry entry;
  entry.job.id = id;
  entry.bad = InvalidArgument("jobs.jsonl:1: no candidate");
  return entry;
}

Evaluation Ok(double speedup = 2) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{speedup, speedup, speedup, true, "eager", speedup, speedup};
  return evaluation;
}

Evaluation Failed(const std::string& kind, const std::string& message = "no") {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kJudgeError;
  evaluation.message = message;
  evaluation.evidence["kind"] = kind;
  return evaluation;
}

class BatchResultsTest : public ::testing::Test {
 protected:
  BatchResults Open() {
    auto results = BatchResults::Open(jobs_, file_);
    EXPECT_TRUE(results.ok()) << results.status().ToString();
    return std::move(results).value();
  }
  size_t NumLines() const {
    std::ifstream file(file_);
    size_t lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }

  const TempDir folder_ = ::davinci::MakeTempDir("batch").value();
  const std::filesystem::path jobs_ = folder_.path() / "jobs.jsonl";
  const std::filesystem::path file_ = folder_.path() / "results.jsonl";
};

TEST_F(BatchResultsTest, AVerdictIsFoundByItsHashAndFinishedForItsJobAlone) {
  {
    BatchResults results = Open();
    EXPECT_EQ(results.Find("h"), nullptr);
    ASSERT_TRUE(results.Append(BatchRecord(Entry("a", "h"), Ok(3), 1, "")).ok());
  }
  const BatchResults results = Open();
  ASSERT_NE(results.Find("h"), nullptr);
  EXPECT_EQ(results.Find("h")->id, "a");
  EXPECT_EQ(results.Find("h")->evaluation.speedup->median, 3);
  EXPECT_TRUE(results.IsFinished("a", "h"));
  EXPECT_FALSE(results.IsFinished("b", "h"));
}

TEST_F(BatchResultsTest, AFailureOfTheJudgeIsNoVerdict) {
  ASSERT_TRUE(Open().Append(BatchRecord(Entry("a", "h"), Failed("internal"), 3, "")).ok());
  EXPECT_EQ(Open().Find("h"), nullptr);
}

TEST_F(BatchResultsTest, AFaultOfTheInputIsWrittenOnceForTheSameWords) {
  const auto record = BatchRecord(Entry("a", "h"), Failed("bad_input", "no class"), 0, "");
  ASSERT_TRUE(Open().Append(record).ok());
  ASSERT_TRUE(Open().Append(record).ok());
  EXPECT_EQ(NumLines(), 1u);
  const auto other = BatchRecord(Entry("a", "h"), Failed("bad_input", "no inputs"), 0, "");
  ASSERT_TRUE(Open().Append(other).ok());
  EXPECT_EQ(NumLines(), 2u);
  // A failure of the judge is written again with the same words.
  const auto ours = BatchRecord(Entry("a", "h"), Failed("internal", "no class"), 0, "");
  ASSERT_TRUE(Open().Append(ours).ok());
  EXPECT_EQ(NumLines(), 3u);
}

TEST_F(BatchResultsTest, OtherFilesAreRefusedAndLeftAsTheyAre) {
  ASSERT_TRUE(WriteFileAtomic(file_, "my notes").ok());
  const auto notes = BatchResults::Open(jobs_, file_);
  EXPECT_EQ(notes.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(notes.status().message(), HasSubstr("choose another --out"));
  EXPECT_EQ(ReadFile(file_).value(), "my notes");
  ASSERT_TRUE(WriteFileAtomic(jobs_, "{}\n").ok());
  EXPECT_THAT(BatchResults::Open(jobs_, jobs_).status().message(), HasSubstr("job file itself"));
}

TEST_F(BatchResultsTest, WithoutAFileNothingIsKept) {
  BatchResults results;
  EXPECT_FALSE(results.keeps());
  EXPECT_TRUE(results.Append(BatchRecord(Entry("a", "h"), Ok(), 1, "")).ok());
  EXPECT_EQ(results.Find("h"), nullptr);
}

TEST_F(BatchResultsTest, TheLastVerdictOfAJobCounts) {
  {
    BatchResults results = Open();
    ASSERT_TRUE(results.Append(BatchRecord(Entry("a", "h"), Failed("internal"), 3, "")).ok());
    ASSERT_TRUE(results.Append(BatchRecord(Entry("a", "h"), Ok(), 1, "")).ok());
    ASSERT_TRUE(results.Append(BatchRecord(Entry("b", "h"), Ok(), 0, "a")).ok());
  }
  const auto verdicts = ReadVerdicts(file_);
  ASSERT_TRUE(verdicts.ok());
  ASSERT_EQ(verdicts->size(), 2u);
  EXPECT_EQ(verdicts->at("a")["status"], "ok");
  EXPECT_EQ(verdicts->at("b")["job"]["same_as"], "a");
}

TEST_F(BatchResultsTest, AQuestionIsAskedOnceAndKnownAnswersNever) {
  {
    BatchResults results = Open();
    ASSERT_TRUE(results.Append(BatchRecord(Entry("old", "known"), Ok(), 1, "")).ok());
  }
  const BatchResults earlier = Open();
  const std::vector<judge::BatchEntry> entries = {Entry("a", "h1"),         BadEntry("bad"),
                                                  Entry("old", "known"),    Entry("new", "known"),
                                                  Entry("b", "h2", "x.py"), Entry("c", "h1")};
  const BatchPlan plan = PlanBatch(entries, earlier);
  EXPECT_THAT(plan.questions, ElementsAre(ElementsAre(0, 5), ElementsAre(4)));
  EXPECT_THAT(TasksOfQuestions(plan, entries), ElementsAre("softmax.py", "x.py"));
  ASSERT_EQ(plan.known.size(), 3u);
  EXPECT_EQ(plan.known[0].entry, 1u);
  EXPECT_EQ(plan.known[0].kind, KnownAnswer::Kind::kBadLine);
  EXPECT_EQ(plan.known[1].kind, KnownAnswer::Kind::kFinished);
  EXPECT_EQ(plan.known[2].kind, KnownAnswer::Kind::kRepeats);
}

TEST(BatchWorkers, HalfOfTheCoresButNoMoreThanQuestions) {
  EXPECT_EQ(WorkersFor(100, 0, 16, 0).total, 8);
  EXPECT_EQ(WorkersFor(100, 0, 1, 0).total, 1);
  EXPECT_EQ(WorkersFor(3, 0, 16, 0).total, 3);
  EXPECT_EQ(WorkersFor(100, 20, 16, 0).total, 20);
  EXPECT_EQ(WorkersFor(100, 20, 16, 8).per_device, 3);
  EXPECT_EQ(WorkersFor(0, 0, 16, 2).total, 0);
}

TEST(BatchTally, ExitStatusTellsWhoseFaultItIs) {
  BatchTally fine(1);
  fine.AddRecorded("a", Ok(), 1, "");
  EXPECT_EQ(fine.ExitStatus(false), 0);
  EXPECT_EQ(fine.ExitStatus(true), 3);
  BatchTally bad(2);
  bad.AddRecorded("a", Failed("bad_input"), 0, "");
  EXPECT_EQ(bad.ExitStatus(false), 3) << "one job has no answer";
  bad.AddResumed("b", Ok());
  EXPECT_EQ(bad.ExitStatus(false), 2);
  EXPECT_EQ(bad.BadInputLine(), "1 bad input: see message of each record");
  BatchTally ours(1);
  ours.AddRecorded("a", Failed("internal"), 3, "");
  EXPECT_EQ(ours.ExitStatus(false), 3);
  EXPECT_EQ(ours.BadInputLine(), "");
}

TEST(BatchTally, TheSummaryCountsAndAverages) {
  BatchTally tally(5);
  tally.AddRecorded("a", Ok(2), 1, "");
  tally.AddRecorded("b", Ok(8), 1, "");
  tally.AddRecorded("c", Ok(8), 0, "b");
  tally.AddResumed("d", Ok(2));
  tally.AddLeftOut(1);
  EXPECT_EQ(tally.num_missing(), 0);
  EXPECT_EQ(tally.num_ok(), 4);
  EXPECT_EQ(tally.num_judged(), 2);
  EXPECT_THAT(
      tally.Summary(60),
      ElementsAre("5 jobs: 4 ok", "1 were done by an earlier run, 1 repeat another job",
                  "geometric mean speedup of the 4 correct: 4x (4 of them significantly off 1)",
                  "2 judged in 60.0 s, 2.0 candidates per minute",
                  "1 left out: what they vary is not correct"));
}

TEST(BatchTally, AJobWithoutAnAnswerIsNeitherCorrectNorWrong) {
  BatchTally tally(3);
  tally.AddRecorded("a", Ok(), 1, "");
  tally.AddRecorded("b", Failed("internal"), 1, "");
  EXPECT_EQ(tally.IsCorrect("a"), true);
  EXPECT_EQ(tally.IsCorrect("b"), false);
  EXPECT_EQ(tally.IsCorrect("c"), std::nullopt);
  EXPECT_THAT(BatchTally(1).Summary(1).front(), "1 job: none judged");
}

}  // namespace
}  // namespace davinci::runs
