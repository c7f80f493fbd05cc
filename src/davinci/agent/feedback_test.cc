#include "davinci/agent/feedback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "davinci/agent/measurement_text.h"
#include "davinci/agent/testing/evaluations.h"

namespace davinci::agent {
namespace {

using ::testing::AllOf;
using testing::Failed;
using ::testing::HasSubstr;
using testing::kUnbounded;
using ::testing::Not;
using testing::Timed;

const PromptSet& Installed() {
  static const auto* prompts =
      new PromptSet(PromptSet::Load(std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts").value());
  return *prompts;
}

std::string Feedback(const Evaluation& evaluation, const FeedbackOptions& options = {}) {
  const auto text = RenderFeedback(
      Installed(), TaskBrief{}, evaluation,
      {.turn = 2, .num_turns = 3, .best_turn = 1, .best = Timed(1.5).speedup}, options);
  return text.ok() ? *text : text.status().ToString();
}

TEST(Feedback, OfAFailureIsItsMessage) {
  EXPECT_THAT(Feedback(Failed(Outcome::kCompileError, "kernel.cu:3: error: 'z' was not declared")),
              AllOf(HasSubstr("Turn 2 of 3: your candidate does not compile."),
                    HasSubstr("'z' was not declared"), HasSubstr("turn 1, 1.50 times as fast"),
                    HasSubstr("Find the cause"), HasSubstr("`ModelNew`")));
}

TEST(Feedback, OfASuccessIsItsMeasurement) {
  EXPECT_THAT(Feedback(Timed(2.0)),
              AllOf(HasSubstr("Speedup 2.00, 95 % interval 1.98 to 2.02."),
                    HasSubstr("1 ms per call; eager takes 2 ms"), HasSubstr("Make it faster"),
                    Not(HasSubstr("correct on every check.\n\n```"))));
}

TEST(Feedback, SaysWhichKernelsAreLeftOut) {
  const auto folder = std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts";
  const Evaluation evaluation = Failed(Outcome::kMismatch, "first at [3]");
  for (const PromptSet& prompts :
       {PromptSet::Load(folder).value(), PromptSet::Load(folder, folder / "compact").value()}) {
    const auto text = RenderFeedback(prompts, TaskBrief{}, evaluation, {}, {},
                                     {{"f3", "t10 is not defined"}, {"f4", "it stores nothing"}});
    ASSERT_TRUE(text.ok()) << text.status().ToString();
    EXPECT_THAT(*text,
                HasSubstr("\n\nf3 was left out: t10 is not defined. PyTorch computes its steps.\n"
                          "f4 was left out: it stores nothing. PyTorch computes its steps.\n\n"));
    EXPECT_THAT(RenderFeedback(prompts, TaskBrief{}, evaluation, {}).value(),
                Not(HasSubstr("left out")));
  }
}

TEST(Feedback, EveryOutcomeHasASentence) {
  for (int i = 0; i <= static_cast<int>(Outcome::kJudgeError); ++i)
    EXPECT_NE(OutcomeText(static_cast<Outcome>(i)), "") << i;
}

TEST(Feedback, NeverHoldsAReward) {
  Evaluation evaluation = Timed(2.0);
  evaluation.evidence["reward"] = 3.75;
  evaluation.provenance["score"] = 3.75;
  EXPECT_THAT(Feedback(evaluation), AllOf(Not(HasSubstr("reward")), Not(HasSubstr("3.75"))));
}

TEST(Feedback, KeepsBothEndsOfALongMessage) {
  const std::string text =
      Feedback(Failed(Outcome::kCompileError, "first" + std::string(50000, '.') + "last"));
  EXPECT_LE(text.size(), FeedbackOptions{}.max_bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("first"), HasSubstr("last\n"), HasSubstr("left out")));
}

TEST(Feedback, StaysWithinItsBudgetWhateverItHolds) {
  Evaluation evaluation = Timed(2.0);
  for (int i = 0; i < 60; ++i) {
    evaluation.AddLabel(Label::kTaskTag, {std::to_string(i) + std::string(100, 'x')});
    evaluation.evidence["profile"]["device"]["list"].push_back(
        {{"name", std::string(500, 'k') + std::to_string(i)}, {"ms", 1.0}, {"custom", true}});
  }
  const std::string text = Feedback(evaluation, {.max_bytes = 1200});
  EXPECT_LE(text.size(), 1200u);
  EXPECT_THAT(text, AllOf(HasSubstr("Speedup 2.00"), HasSubstr("`ModelNew`")));
}

TEST(TimingText, SaysWhatTheIntervalSays) {
  EXPECT_THAT(TimingText(Timed(1.01, 0.95, 1.07)), HasSubstr("does not tell the two apart"));
  EXPECT_THAT(TimingText(Timed(3.0, 1.9, 3.4)), HasSubstr("Speedup 3.00, 95 % interval 1.90"));
  EXPECT_EQ(TimingText(Failed(Outcome::kMismatch)), "");
}

TEST(TimingText, OfAUselessIntervalHoldsNoMedianAndNoTimes) {
  const std::string lost = TimingText(Timed(5.72, 0.863, 35));
  EXPECT_EQ(lost,
            "The machine was too busy to measure the speed. The 95 % interval of the speedup over "
            "eager is 0.863 – 35.");
  EXPECT_THAT(TimingText(Timed(1.0, 0.000106, 4.81e5)), HasSubstr("is unbounded."));
  EXPECT_EQ(TimingText(Timed(7.68, 2.98, 16.5)),
            "It is at least 2.98 times as fast as the reference; the machine was too busy to say "
            "more. The 95 % interval of the speedup over eager is 2.98 – 16.5.");
  EXPECT_THAT(TimingText(Timed(0.2, 0.05, 0.5)), HasSubstr("at most 0.50 times"));
  Evaluation evaluation = Timed(5.72, 0.863, 35);
  evaluation.evidence["roofline"] = {{"attainable_ms", 0.2}};
  EXPECT_EQ(RooflineText(evaluation), "");
}

TEST(BestText, HoldsANumberOnlyWhereTheIntervalCarriesOne) {
  EXPECT_EQ(BestText({.best_turn = 2, .best = Timed(1.83).speedup}),
            "turn 2, 1.83 times as fast as the reference");
  EXPECT_EQ(BestText({.best_turn = 2, .best = Timed(5.72, 0.863, 35).speedup}),
            "turn 2, correct; the machine was too busy to measure its speed");
  EXPECT_EQ(BestText({.best_turn = 1}), "turn 1, correct, not timed");
  EXPECT_EQ(BestText({}), "");
}

TEST(KernelsText, AddsUpLaunchesAndShowsTheLongest) {
  Evaluation evaluation = Timed(2.0);
  evaluation.evidence["profile"]["device"] = {
      {"custom_time_share", 0.75},
      {"list",
       {{{"name", "mine"}, {"ms", 0.25}, {"custom", true}},
        {{"name", "at::native::copy"}, {"ms", 0.25}, {"custom", false}},
        {{"name", "mine"}, {"ms", 0.5}, {"custom", true}}}}};
  EXPECT_EQ(KernelsText(evaluation, 1),
            "| kernel | launches | ms | share | code |\n|---|---|---|---|---|\n"
            "| `mine` | 2 | 0.75 | 75 % | yours |\n(1 more)");
  EXPECT_EQ(CoverageText(evaluation), "75 % of the device time is spent in your own kernels.");
}

TEST(KernelsText, OnACpuListsLibraryOperators) {
  Evaluation evaluation = Timed(2.0);
  evaluation.evidence["profile"] = {
      {"library_share", 0.5},
      {"operators",
       {{{"op", "aten::empty_like"}, {"ms", 0.9}, {"calls", 1}, {"compute", false}},
        {{"op", "aten::mm"}, {"ms", 0.5}, {"calls", 1}, {"compute", true}}}}};
  EXPECT_THAT(
      KernelsText(evaluation, 5),
      AllOf(HasSubstr("| `aten::mm` | 1 | 0.5 | 50 % | library |"), Not(HasSubstr("empty_like"))));
}

TEST(RooflineText, IsOfAPerfectKernelAndNotOfTheImpossible) {
  Evaluation evaluation = Timed(2.0);
  evaluation.candidate_time->median_ms = 0.5;
  evaluation.evidence["roofline"] = {{"impossible_ms", 0.01}};
  EXPECT_EQ(RooflineText(evaluation), "");
  evaluation.evidence["roofline"]["attainable_ms"] = 0.2;
  EXPECT_EQ(RooflineText(evaluation),
            "At this device's measured rates a perfect kernel takes 0.2 ms (bound by memory); you "
            "reach 40 % of that speed.");
  evaluation.evidence["roofline"]["bound"] = "compute";
  EXPECT_THAT(RooflineText(evaluation), HasSubstr("bound by arithmetic"));
}

TEST(Measurements, SurviveForeignEvidence) {
  Evaluation evaluation = Timed(2.0);
  for (const char* evidence :
       {"[]", "{\"profile\": 3, \"roofline\": []}",
        "{\"profile\": {\"device\": {\"list\": [3, null]}}}",
        "{\"profile\": {\"operators\": [{\"op\": 7}]}, \"roofline\": {\"attainable_ms\": \"x\"}}",
        "{\"roofline\": {\"attainable_ms\": 1, \"peaks\": 5, \"bound\": 9}}"}) {
    evaluation.evidence = nlohmann::json::parse(evidence);
    EXPECT_THAT(Feedback(evaluation), HasSubstr("Speedup 2.00")) << evidence;
  }
}

}  // namespace
}  // namespace davinci::agent
