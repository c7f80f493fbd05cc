// The winners of a run: certification, its repetitions, exports.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "davinci/base/files.h"
#include "davinci/runs/certify.h"
#include "run_fixture.h"

namespace davinci::integration {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

TEST_F(RunTest, AKernelThatIsNotSignificantlyFasterIsNoWinner) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("beta@1#")) text = Reply("ok 1.01", label);
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  const report::TaskView& beta = result->view.tasks[1];
  EXPECT_FALSE(beta.winner);
  ASSERT_TRUE(beta.not_faster);
  EXPECT_THAT(beta.remark, HasSubstr("not significantly faster"));
  const nlohmann::json document = runs::ToJson(*result);
  EXPECT_TRUE(document["tasks"][1]["winner"].is_null());
  EXPECT_TRUE(document["tasks"][1]["not_faster"].is_object());
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "run/results/beta.py"));
  EXPECT_TRUE(result->view.tasks[0].winner);
}

// One task, so that certifications have an order.
class CertificationTest : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    scenario_.tasks.resize(1);
    scenario_.recipe.certify_attempts = 1;
  }
  nlohmann::json Task(const runs::RunResult& result) { return runs::ToJson(result)["tasks"][0]; }
  std::string Page() { return *ReadFile(dir_.path() / "run/report.html"); }
};

TEST_F(CertificationTest, WhatABusyMachineCouldNotMeasureIsMeasuredUpToThreeTimes) {
  evaluator_.busy = 2;
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(evaluator_.num_afresh, 3);
  ASSERT_TRUE(result->view.tasks[0].winner);
  EXPECT_DOUBLE_EQ(result->view.tasks[0].winner.value().certified.speedup.value().median, 4.5);
  EXPECT_THAT(result->view.tasks[0].remark, Not(HasSubstr("busy")));
  // A replay takes the measurement that decided.
  const auto replay = runs::ReplayRun(dir_.path() / "run", {});
  ASSERT_TRUE(replay.ok());
  EXPECT_EQ(Task(*replay)["winner"]["certified"], Task(*result)["winner"]["certified"]);
}

TEST_F(CertificationTest, NotDecidedIsNoNoAndTheSameCommandMeasuresAgainWithoutAModel) {
  evaluator_.busy = 100;
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(evaluator_.num_afresh, runs::kCertificationMeasurements);
  const report::TaskView& task = result->view.tasks[0];
  EXPECT_FALSE(task.winner || task.not_faster);
  ASSERT_TRUE(task.not_decided);
  EXPECT_THAT(task.remark, HasSubstr("is not decided: machine busy"));
  EXPECT_THAT(task.remark, Not(HasSubstr("not significantly faster")));
  EXPECT_EQ(Task(*result)["state"], "not_decided");
  // The page says what the console says, and holds no median of a useless interval.
  EXPECT_THAT(Page(), HasSubstr("<td>not decided: machine busy</td>"));
  EXPECT_THAT(Page(), Not(HasSubstr("9.00×")));
  EXPECT_EQ(Task(*runs::ReplayRun(dir_.path() / "run", {}))["state"], "not_decided");
  EXPECT_EQ(evaluator_.num_afresh, runs::kCertificationMeasurements);

  const int calls = NumCalls();
  evaluator_.busy = 0;
  const auto again = Execute();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(NumCalls(), calls);
  ASSERT_TRUE(again->view.tasks[0].winner);
  EXPECT_TRUE(std::filesystem::exists(again->view.tasks[0].winner.value().exported_path));
  EXPECT_THAT(Page(), HasSubstr("<td>certified</td>"));
  // Decided now: nothing is measured any more.
  const int measured = evaluator_.num_afresh;
  ASSERT_TRUE(Execute().ok());
  EXPECT_EQ(evaluator_.num_afresh, measured);
}

TEST_F(CertificationTest, RecertifyAsksNoModelAndItsLatestDecisionCounts) {
  ASSERT_TRUE(Execute()->view.tasks[0].winner);
  const fs::path exported = dir_.path() / "run/results/alpha.py";
  EXPECT_TRUE(fs::exists(exported));
  const int measured = evaluator_.num_afresh;
  const int calls = NumCalls();
  const auto recertify = [&] {
    runs::RunParts parts = scenario_.Parts(nullptr, &evaluator_);
    return runs::RecertifyRun(dir_.path() / "run", "", parts, &stop_, {});
  };
  // Undecided: what was decided before stays.
  evaluator_.busy = 3;
  auto result = recertify();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_TRUE(result->finished()) << runs::ToJson(*result).dump();
  EXPECT_TRUE(result->view.tasks[0].winner);
  EXPECT_EQ(evaluator_.num_afresh, measured + 3);
  // Wrong when measured again: no winner, and its file goes.
  evaluator_.before = [](const judge::EvaluationRequest& request) {
    return request.afresh ? InvalidArgument("no such input") : Status::Ok();
  };
  result = recertify();
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->view.tasks[0].winner) << "a judge that fails takes nothing back";
  evaluator_.before = nullptr;
  evaluator_.wrong_afresh = true;
  result = recertify();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->view.tasks[0].winner);
  EXPECT_EQ(Task(*result)["state"], "none_held");
  EXPECT_FALSE(fs::exists(exported));
  EXPECT_EQ(NumCalls(), calls);
  ASSERT_TRUE(WriteFileAtomic(dir_.path() / "alpha.py", "another = 1\n").ok());
  EXPECT_THAT(recertify().status().message(), HasSubstr("alpha.py has changed"));
}

TEST_F(CertificationTest, AKernelThatIsSurelyNotFasterIsMeasuredOnce) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("alpha@1#")) text = Reply("ok 1.01", label);
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(evaluator_.num_afresh, 1);
  EXPECT_EQ(Task(*result)["state"], "not_faster");
  EXPECT_THAT(Page(), HasSubstr("<td>not faster</td>"));
}

TEST_F(RunTest, AKernelThatItsExportDoesNotRunIsNoWinner) {
  for (auto& [label, text] : scenario_.replies)
    if (label.starts_with("beta@1#")) text = Reply("ok 3.0 falls back", label);
  const auto result = Execute();
  ASSERT_TRUE(result.ok());
  const report::TaskView& beta = result->view.tasks[1];
  EXPECT_FALSE(beta.winner);
  EXPECT_THAT(beta.remark, HasSubstr("its export would run the reference: weight is gone"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "run/results/beta.py"));
  EXPECT_TRUE(result->view.tasks[0].winner);
}

TEST_F(RunTest, AFailedComparisonIsNotRepeatedWhenTheRunIsShownAgain) {
  scenario_.recipe.also_against = {"compile"};
  std::atomic<int> compiled = 0;
  evaluator_.before = [&](const judge::EvaluationRequest& request) {
    if (request.baseline != "compile") return Status::Ok();
    ++compiled;
    return Internal("torch.compile found no compiler");
  };
  for (int i = 0; i < 2; ++i) {
    const auto result = Execute();
    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->view.tasks[0].winner.has_value());
    EXPECT_THAT(result->view.tasks[0].remark, HasSubstr("torch.compile found no compiler"));
    // Of each of the two winners as often as the service tries, in the first process.
    EXPECT_EQ(compiled, 2 * judge::kServiceAttempts);
  }
}

TEST_F(RunTest, WhatNoDeviceHasJudgedIsNotCompared) {
  scenario_.recipe.also_against = {"compile"};
  scenario_.recipe.step.target = Target::kCuda;
  scenario_.recipe.step.language = Language::kTriton;
  evaluator_.after = [](const judge::EvaluationRequest&, Evaluation* evaluation) {
    evaluation->outcome = Outcome::kCompileOnly;
    evaluation->speedup.reset();
  };
  std::atomic<int> compared = 0;
  evaluator_.before = [&](const judge::EvaluationRequest& request) {
    compared += request.baseline == "compile";
    return Status::Ok();
  };
  const auto result = Execute();
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_FALSE(result->view.tasks[0].winner);
  EXPECT_THAT(result->view.tasks[0].remark, HasSubstr("nothing can be certified"));
  EXPECT_EQ(compared, 0);
}

}  // namespace
}  // namespace davinci::integration
