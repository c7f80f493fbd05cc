#include "davinci/judge/request/baselines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::judge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Evaluation Judged(const std::string& baseline, double median) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{median, median - 0.1, median + 0.1, true, baseline};
  return evaluation;
}

TEST(Baselines, AreJoinedByCommas) {
  EXPECT_THAT(ParseBaselines("eager").value(), ElementsAre("eager"));
  EXPECT_THAT(ParseBaselines("compile,eager").value(), ElementsAre("compile", "eager"));
  for (const char* wrong : {"", "eager,", ",", "compiled", "eager, compile"})
    EXPECT_THAT(ParseBaselines(wrong).status().message(), HasSubstr("is no baseline")) << wrong;
  EXPECT_THAT(ParseBaselines("eager,eager").status().message(), HasSubstr("twice"));
}

TEST(Baselines, AnEvaluationCarriesOneSpeedupForEach) {
  Evaluation evaluation = Judged("eager", 2);
  BeginSpeedups(&evaluation);
  AddBaseline("compile", Judged("compile", 1.25), &evaluation);
  ASSERT_TRUE(evaluation.speedup.has_value());
  EXPECT_EQ(evaluation.speedup->baseline, "eager");
  const nlohmann::json& all = evaluation.evidence["speedups"];
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0]["baseline"], "eager");
  EXPECT_EQ(all[1]["median"], 1.25);
  EXPECT_EQ(all[1]["low"], 1.15);
  EXPECT_TRUE(evaluation.labels.empty());
}

TEST(Baselines, OneThatCannotBeUsedIsNamedAndBlamesNoCandidate) {
  Evaluation evaluation = Judged("eager", 2);
  BeginSpeedups(&evaluation);
  AddBaseline("compile", InvalidArgument("torch.compile cannot serve"), &evaluation);
  EXPECT_EQ(evaluation.outcome, Outcome::kOk);
  EXPECT_THAT(evaluation.labels, ElementsAre("not timed against compile"));
  EXPECT_EQ(evaluation.evidence["speedups"][1]["error"], "torch.compile cannot serve");
}

TEST(Baselines, ACandidateThatFailsTheSecondTimeIsRefused) {
  Evaluation evaluation = Judged("eager", 2);
  BeginSpeedups(&evaluation);
  Evaluation refused;
  refused.outcome = Outcome::kMismatch;
  AddBaseline("compile", refused, &evaluation);
  EXPECT_EQ(evaluation.outcome, Outcome::kMismatch);
  EXPECT_FALSE(evaluation.speedup.has_value());
}

}  // namespace
}  // namespace davinci::judge
