// What sets each paper's rule apart, on logs small enough to compute by hand.
#include <gtest/gtest.h>

#include "davinci/score/python_words.h"
#include "davinci/score/test_support.h"

namespace davinci::score {
namespace {

Turn WithProfile(Turn turn, int kernels, int custom_kernels, double share) {
  turn.evaluation.evidence["profile"]["device"] = {
      {"kernels", kernels}, {"custom_kernels", custom_kernels}, {"custom_time_share", share}};
  return turn;
}

TEST(Protocols, AreFoundByNameAndMistypedOnesGetAHint) {
  for (const char* name : {"bench", "kernelbench", "drkernel", "kevin", "cuda-agent", "davinci"})
    EXPECT_EQ(ProtocolByName(name).value()->name, name);
  EXPECT_NE(ProtocolByName("kevn").status().message().find("did you mean \"kevin\"?"),
            std::string::npos);
}

TEST(KernelBench, OnlyTheFirstSampleAnswersAndItsLastTurn) {
  ScoreInput input;
  AddSpeedups(&input, "a", {3.0, 1.2});
  AddSpeedups(&input, "a", {9.0});
  AddSpeedups(&input, "b", {-1});
  AddSpeedups(&input, "b", {9.0});
  const ScoreReport report = ScoreAs(input, "kernelbench");
  EXPECT_EQ(ValueOf(report, "fast_1/sample 0"), 0.5);
  EXPECT_EQ(ValueOf(report, "fast_1.5/sample 0"), 0);
  EXPECT_NEAR(ValueOf(report, "geomean/sample 0"), 1.2, 1e-12);
  EXPECT_EQ(ValueOf(report, "pass@1/all samples"), 0.75);
  EXPECT_EQ(ValueOf(report, "pass@2/all samples"), 1);
}

TEST(KernelBench, ThePublishedComparisonDecidesWhereItWasAsked) {
  ScoreInput input;
  Turn ours_only = MakeTurn(2.0);
  ours_only.evaluation.evidence["kernelbench"] = {{"correct", false}};
  Turn theirs_only = MakeTurn(-1);
  theirs_only.evaluation.evidence["kernelbench"] = {{"correct", true}};
  Turn cheat = MakeTurn(-1);
  cheat.evaluation.outcome = Outcome::kPolicyViolation;
  cheat.evaluation.evidence["kernelbench"] = {{"correct", true}};
  AddSample(&input, "a", {ours_only});
  AddSample(&input, "b", {theirs_only});
  AddSample(&input, "c", {cheat});
  AddSample(&input, "d", {MakeTurn(2.0)});
  const ScoreReport report = ScoreAs(input, "kernelbench");
  EXPECT_EQ(ValueOf(report, "correct/sample 0"), 0.5);  // b and d
  EXPECT_EQ(ValueOf(report, "fast_0/sample 0"), 0.25);  // b has no time
}

TEST(DrKernel, DecoysAreWrongButABlindProfilerAccusesNobody) {
  ScoreInput input;
  AddSample(&input, "decoy", {WithProfile(MakeTurn(2.0), 5, 0, 0)});
  AddSample(&input, "blind", {WithProfile(MakeTurn(2.0), 0, 0, 0)});
  Turn pure_torch = MakeTurn(2.0);
  pure_torch.language = Language::kPython;
  AddSample(&input, "python", {pure_torch});
  AddSample(&input, "honest", {WithProfile(MakeTurn(5.0), 2, 1, 0.5)});
  const ScoreReport report = ScoreAs(input, "drkernel");
  EXPECT_EQ(ValueOf(report, "correct/last turn"), 0.5);
  // honest: 1 + min(5, 3) + 0.5 = 4.5, blind: 1 + 2 + 0 = 3; the code gives half of it.
  EXPECT_DOUBLE_EQ(ValueOf(report, "reward_paper/last turn"), 7.5 / 4);
  EXPECT_DOUBLE_EQ(ValueOf(report, "reward_code/last turn"), 7.5 / 8);
}

TEST(DrKernel, ExactlyPIsReachedAndSamplesAreAveragedNotMaximised) {
  ScoreInput input;
  AddSpeedups(&input, "a", {1.2, 0.5});
  AddSpeedups(&input, "a", {1.0, 1.2});
  const ScoreReport report = ScoreAs(input, "drkernel");
  EXPECT_EQ(ValueOf(report, "fast_1.2_ge/last turn"), 0.5);
  EXPECT_EQ(ValueOf(report, "fast_1.2_ge/best of history"), 1);
  EXPECT_EQ(ValueOf(report, "fast_1.2_ge/turn 1"), 0.5);
}

TEST(Kevin, BestTakesTheBestTrajectoryAndAverageTheirMean) {
  ScoreInput input;
  AddSpeedups(&input, "a", {0.5, 2.0, 1.0});
  AddSpeedups(&input, "a", {-1, -1});
  AddSpeedups(&input, "b", {-1});
  AddSpeedups(&input, "b", {-1});
  const ScoreReport report = ScoreAs(input, "kevin");
  EXPECT_EQ(ValueOf(report, "mean_speedup/best@2"), 1.0);
  EXPECT_EQ(ValueOf(report, "mean_speedup/avg@2"), 0.5);
  EXPECT_EQ(ValueOf(report, "correct/best@2"), 0.5);
  EXPECT_EQ(ValueOf(report, "correct/avg@2"), 0.25);
  EXPECT_EQ(ValueOf(report, "fast_1.5/best@2"), 0.5);
  // Turn 1: a has 0.3 + 0.5 and 0, b nothing: (0.4 + 0) / 2.
  EXPECT_DOUBLE_EQ(ValueOf(report, "score/turn 1"), 0.2);
}

TEST(Kevin, ForbiddenWordsInCodeCountAndInCommentsAndKernelsDoNot) {
  const std::map<std::string, std::pair<std::string, bool>> cases = {
      {"try", {"try:\n  x()\nexcept E:\n  y()", false}},
      {"pass", {"class ModelNew(Model): pass", false}},
      {"functional", {"import torch.nn.functional as F\ndef forward(x):\n  y = F.relu(x)", false}},
      {"called", {"class M:\n  def forward(self, x):\n    return nn.Conv2d(1, 2, 3)(x)", false}},
      {"fully", {"def forward(self, x):\n  y = torch.nn.functional.gelu(x)", false}},
      {"layer of weights",
       {"class M:\n  def __init__(self):\n    self.conv = nn.Conv2d(1, 2, 3)\n"
        "  def forward(self, x):\n    return k(x, self.conv.weight)",
        true}},
      {"behind forward",
       {"class M:\n  def forward(self, x,\n              y):\n    return k(x)\n"
        "  def other(self):\n    return F.relu(self.x)",
        true}},
      {"import only", {"import torch.nn.functional as F\nimport torch.nn as nn", true}},
      {"module", {"class ModelNew(nn.Module):\n  w = nn.Parameter(x)\n  nn.init.ones_(w)", true}},
      {"comment", {"x = 1  # try nn.Conv2d and pass", true}},
      {"kernel", {"s = r'''try { pass; nn.Conv2d } catch'''\nt = \"F.relu\"", true}},
      {"substring", {"passing = entry = retry = bypass = 1", true}},
      {"unclosed", {"x = '''try", true}},
  };
  for (const auto& [name, one] : cases) {
    ScoreInput input;
    Turn turn = MakeTurn(2.0);
    turn.code_hash = name;
    AddSample(&input, name, {turn});
    input.sources = [&](const std::string& hash) { return &cases.at(hash).first; };
    EXPECT_EQ(ValueOf(ScoreAs(input, "kevin"), "correct/best@1"), one.second ? 1 : 0) << name;
    EXPECT_EQ(ValueOf(ScoreAs(input, "davinci"), "correct/final"), 1) << name;
  }
}

TEST(CudaAgent, FasterMeansMoreThanFivePercentAndWrongCostsOne) {
  ScoreInput input;
  AddSpeedups(&input, "a", {1.05});
  AddSpeedups(&input, "b", {1.06});
  AddSpeedups(&input, "c", {2.0, -1});
  AddSpeedups(&input, "d", {0.9});
  const ScoreReport report = ScoreAs(input, "cuda-agent");
  EXPECT_EQ(ValueOf(report, "correct/final answer"), 0.75);
  EXPECT_EQ(ValueOf(report, "fast_1.05/final answer"), 0.25);
  EXPECT_EQ(ValueOf(report, "milestone/final answer"), (1 + 2 - 1 + 1) / 4.);
}

TEST(CudaAgent, MilestoneThreeNeedsBothBaselines) {
  const auto with_compile = [](double eager, double compile) {
    Turn turn = MakeTurn(eager);
    turn.evaluation.evidence["speedups"] = {
        {{"baseline", "eager"}, {"median", eager}, {"low", 1}, {"high", 9}},
        {{"baseline", "compile"}, {"median", compile}, {"low", 1}, {"high", 9}}};
    return turn;
  };
  const std::vector<std::pair<Turn, double>> cases = {{with_compile(2.0, 1.5), 3},
                                                      {with_compile(2.0, 1.05), 2},
                                                      {with_compile(1.0, 1.5), 1},
                                                      {MakeTurn(2.0), 2}};
  for (const auto& [turn, milestone] : cases) {
    ScoreInput input;
    AddSample(&input, "a", {turn});
    EXPECT_EQ(ValueOf(ScoreAs(input, "cuda-agent"), "milestone/final answer"), milestone);
  }
}

TEST(Unfinished, SamplesAreCountedAndSaid) {
  ScoreInput input;
  AddSpeedups(&input, "a", {2.0});
  AddSpeedups(&input, "a", {3.0});
  input.trajectories[1].end = TrajectoryEnd::kBudget;
  const ScoreReport report = ScoreAs(input, "bench");
  EXPECT_EQ(report.num_unfinished, 1);
  EXPECT_EQ(ToJson(report)["samples_unfinished"], 1);
  EXPECT_NE(ScoreTable(report).find("1 samples are not finished"), std::string::npos);
}

TEST(Davinci, RatesOverAllAndOverCorrectDifferByTheWrongOnes) {
  ScoreInput input;
  AddSpeedups(&input, "a", {-1, 1.2});
  AddSpeedups(&input, "a", {3.0, -1});
  AddSpeedups(&input, "a", {1.0, 1.0});
  AddSpeedups(&input, "a", {7.0, 7.0});
  const ScoreReport report = ScoreAs(input, "davinci");
  EXPECT_EQ(ValueOf(report, "fast_1.2_ge/final"), 0.5);
  EXPECT_DOUBLE_EQ(ValueOf(report, "fast_1.2_ge/final of correct"), 2 / 3.);
  EXPECT_EQ(ValueOf(report, "fast_1_ge/best by turn 2"), 1);
  EXPECT_EQ(ValueOf(report, "improved"), 0.25);
  EXPECT_EQ(ValueOf(report, "regressed"), 0.25);
  // 0.5 + 0.5 min(s, 6): 1.1, 0, 1, 3.5.
  EXPECT_DOUBLE_EQ(ValueOf(report, "reward/final"), 5.6 / 4);
}

TEST(WithoutComments, KeepsTheProgramAndItsLines) {
  EXPECT_EQ(WithoutComments("# a\nx = 1 # b\n\ty = '#' \n"), "\nx = 1\n\ty = '#'\n");
  const std::string kernel = "s = r\"\"\"// c # d\n  #include <x> \n\"\"\"\n";
  EXPECT_EQ(WithoutComments(kernel + "# e\n\n"), kernel) << "what literals hold is the program's";
  EXPECT_EQ(WithoutComments("x = f'{a}'\n# b"), "x = f'{a}'\n");
}

TEST(WithoutComments, LeavesAloneWhatAPlainLookCannotTell) {
  for (const std::string text :
       {"x = f\"{d[\"#\"]}\"\n", "x = f'{a}'  # b\n", "x = 'a\n# b\n", "x = \"\"\"a\n# b\n",
        "# -*- coding: latin-1 -*-\nx = 1\n", "x = 1 + \\ \n2  # b\n"})
    EXPECT_EQ(WithoutComments(text), text);
}

TEST(PythonWords, SplitsCodeAndSkipsTheRest) {
  EXPECT_EQ(PythonWords("a.b(c)  # d\n'e\\'f' + g\"\"\"h \" i\"\"\".j"),
            (std::vector<std::string>{"a.b", "c", "g", ".j"}));
  EXPECT_TRUE(PythonWords("").empty());
  EXPECT_TRUE(PythonWords("\"\\").empty());
}

}  // namespace
}  // namespace davinci::score
