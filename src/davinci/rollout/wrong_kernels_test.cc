#include "davinci/rollout/wrong_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace davinci::rollout {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

Evaluation Of(Outcome outcome, std::string message = "") {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.message = std::move(message);
  return evaluation;
}

struct Found {
  std::set<std::string> right;
  int verdicts = 0;
};

// The last right question, where a candidate is right that has none of the `wrong` ones.
Found Search(const std::vector<std::string>& kernels, const std::set<std::string>& wrong,
             const std::string& message = "") {
  Found found;
  WrongKernels search(kernels, Of(Outcome::kMismatch, message));
  while (const auto asked = search.Next()) {
    ++found.verdicts;
    const bool right = std::ranges::none_of(
        *asked, [&](const std::string& kernel) { return wrong.contains(kernel); });
    if (right) found.right = *asked;
    search.Learn(Of(right ? Outcome::kOk : Outcome::kMismatch));
  }
  return found;
}

TEST(WrongKernels, EveryChoiceOfWrongOnesIsFound) {
  const std::vector<std::string> all = {"f1", "f2", "f3", "f4", "f5", "f6", "f7"};
  for (size_t count = 1; count <= all.size(); ++count) {
    const std::vector<std::string> kernels(all.begin(),
                                           all.begin() + static_cast<std::ptrdiff_t>(count));
    for (unsigned choice = 1; choice < 1u << count; ++choice) {
      std::set<std::string> wrong, right;
      for (size_t i = 0; i < count; ++i) (choice >> i & 1 ? wrong : right).insert(kernels[i]);
      const Found found = Search(kernels, wrong);
      EXPECT_EQ(found.right, right);
      EXPECT_LE(found.verdicts, 2 * static_cast<int>(count));
    }
  }
}

TEST(WrongKernels, OneAmongManyTakesFewVerdicts) {
  std::vector<std::string> kernels;
  for (int i = 0; i < 32; ++i) kernels.push_back("f" + std::to_string(i));
  for (const std::string& wrong : kernels)
    EXPECT_LE(Search(kernels, {wrong}).verdicts, 10) << wrong;
}

TEST(WrongKernels, WhatTheMessageNamesIsSuspectedFirst) {
  const std::vector<std::string> kernels = {"f1", "f2", "f3", "f12"};
  EXPECT_EQ(Search(kernels, {"f12"}, "CompilationError at 3:4 in f12").verdicts, 1);
  EXPECT_THAT(Search(kernels, {"f12", "f2"}, "in f12, f1").right, UnorderedElementsAre("f1", "f3"));
}

TEST(WrongKernels, OthersAreToldWithTheReason) {
  WrongKernels search({"f1", "f2"}, Of(Outcome::kCompileError, "in f1"));
  EXPECT_THAT(search.Next().value(), ElementsAre("f2"));
  EXPECT_THAT(search.Others({"f2"}),
              ElementsAre(agent::LeftOut{"f1", "with it the reply does not compile"}));
  search.Learn(Of(Outcome::kOk));
  EXPECT_FALSE(search.Next());
}

TEST(WrongKernels, OneKernelAloneHasNothingToAsk) {
  EXPECT_FALSE(WrongKernels({"f1"}, Of(Outcome::kMismatch)).Next());
  EXPECT_FALSE(WrongKernels({}, Of(Outcome::kMismatch)).Next());
}

TEST(WrongKernels, RulesAndTimesAreNoKernels) {
  for (const Outcome outcome : {Outcome::kOk, Outcome::kParseError, Outcome::kInvalidTiming,
                                Outcome::kPolicyViolation, Outcome::kJudgeError, Outcome::kTimeout})
    EXPECT_FALSE(MayBeOneKernels(Of(outcome))) << OutcomeName(outcome);
  for (const Outcome outcome : {Outcome::kMismatch, Outcome::kCompileError, Outcome::kRuntimeError})
    EXPECT_TRUE(MayBeOneKernels(Of(outcome))) << OutcomeName(outcome);
  Evaluation interpreted = Of(Outcome::kCompileOnly);
  interpreted.correct = true;
  EXPECT_FALSE(MayBeOneKernels(interpreted));
  interpreted.correct.reset();
  EXPECT_FALSE(MayBeOneKernels(interpreted));
  interpreted.correct = false;
  EXPECT_TRUE(MayBeOneKernels(interpreted));
}

}  // namespace
}  // namespace davinci::rollout
