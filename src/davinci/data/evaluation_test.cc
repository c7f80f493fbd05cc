#include "davinci/data/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace davinci {
namespace {

TEST(Evaluation, EveryOutcomeHasANameThatParsesBack) {
  for (int i = 0; i <= static_cast<int>(Outcome::kJudgeError); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(ParseOutcome(OutcomeName(outcome)), outcome) << i;
  }
  EXPECT_FALSE(ParseOutcome("fine"));
}

TEST(Evaluation, RoundTripsThroughJson) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{2.5, 2.25, 2.75, true, "eager", 2.0, 3.0};
  evaluation.message = "fine";
  evaluation.AddLabel(Label::kLowCoverage);
  evaluation.AddLabel(Label::kLowCoverage);
  evaluation.candidate_time = TimeSummary{1.0, 0.5, 2.0, 20};
  evaluation.evidence["threads"] = 2;
  const nlohmann::json document = ToJson(evaluation);
  const auto copy = EvaluationFromJson(document);
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ(ToJson(*copy), document);
  EXPECT_EQ(copy->labels.size(), 1u);
}

TEST(Evaluation, AnIntervalWithoutAnUpperEndSurvivesStorage) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.speedup = Speedup{1.5, 0, std::numeric_limits<double>::infinity(), false, "eager"};
  const auto stored = nlohmann::json::parse(ToJson(evaluation).dump());
  EXPECT_TRUE(stored["speedup"]["high"].is_null());
  const auto copy = EvaluationFromJson(stored);
  ASSERT_TRUE(copy.ok()) << copy.status().ToString();
  EXPECT_EQ(copy->speedup->high, evaluation.speedup->high);
}

TEST(Evaluation, CorrectIsNullUntilOutputsWereCompared) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kCompileError;
  EXPECT_TRUE(ToJson(evaluation)["correct"].is_null());
  EXPECT_TRUE(ToJson(evaluation)["speedup"].is_null());
}

TEST(Evaluation, RefusesForeignDocuments) {
  EXPECT_FALSE(EvaluationFromJson(nlohmann::json::array()).ok());
  EXPECT_FALSE(EvaluationFromJson({{"schema", "davinci.evaluation/999"}}).ok());
  EXPECT_FALSE(EvaluationFromJson({{"schema", kEvaluationSchema}, {"status", "great"}}).ok());
}

TEST(Evaluation, MemberOfTheWrongTypeIsAnErrorNotAnException) {
  const nlohmann::json good = {{"schema", kEvaluationSchema}, {"status", "ok"}};
  EXPECT_TRUE(EvaluationFromJson(good).ok());
  for (const char* member : {"status", "labels", "message", "times", "evidence", "provenance"}) {
    nlohmann::json document = good;
    document[member] = 7;
    EXPECT_FALSE(EvaluationFromJson(document).ok()) << member;
  }
}

TEST(Evaluation, ExitCodeSeparatesCandidateFromJudge) {
  Evaluation evaluation;
  EXPECT_EQ(ExitCode(evaluation), 3);
  evaluation.outcome = Outcome::kMismatch;
  EXPECT_EQ(ExitCode(evaluation), 1);
  evaluation.outcome = Outcome::kOk;
  EXPECT_EQ(ExitCode(evaluation), 0);
}

TEST(Evaluation, ExitCodeOfACheckCompileOnlyFollowsWhatItFound) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kCompileOnly;
  EXPECT_EQ(ExitCode(evaluation), 4);
  evaluation.correct = false;
  EXPECT_EQ(ExitCode(evaluation), 1);
  evaluation.correct = true;
  EXPECT_EQ(ExitCode(evaluation), 0);
}

TEST(DetectLanguage, ReadsTheCallsThatAreMade) {
  EXPECT_EQ(DetectLanguage("@triton.jit\ndef k(): pass"), Language::kTriton);
  EXPECT_EQ(DetectLanguage("load_inline(cpp_sources=s)"), Language::kCpp);
  EXPECT_EQ(DetectLanguage("load_inline(cuda_sources=s)"), Language::kCudaInline);
  EXPECT_EQ(DetectLanguage("dv.cuda_module(S)"), Language::kCuda);
  EXPECT_EQ(DetectLanguage("torch.mm(a, b)"), Language::kPython);
}

TEST(Evaluation, TellsTheDeviceWhereItIsRecorded) {
  Evaluation evaluation;
  EXPECT_EQ(DeviceName(evaluation), "");
  evaluation.provenance["device"] = {{"name", "NVIDIA H200"}, {"uuid", "GPU-1"}};
  EXPECT_EQ(DeviceName(evaluation), "NVIDIA H200");
  evaluation.provenance["device"] = "something else";
  EXPECT_EQ(DeviceName(evaluation), "");
}

TEST(AttainableMs, IsNotTheImpossibleTimeAndReadsOlderRecords) {
  Evaluation evaluation;
  EXPECT_FALSE(AttainableMs(evaluation));
  evaluation.evidence["roofline"] = {{"impossible_ms", 0.1}};
  EXPECT_FALSE(AttainableMs(evaluation));
  evaluation.evidence["roofline"] = {{"floor_ms", 0.2}};
  EXPECT_EQ(AttainableMs(evaluation), 0.2);
  evaluation.evidence["roofline"]["attainable_ms"] = 0.5;
  EXPECT_EQ(AttainableMs(evaluation), 0.5);
  evaluation.evidence = nlohmann::json::array();
  EXPECT_FALSE(AttainableMs(evaluation));
}

}  // namespace
}  // namespace davinci
