#include "davinci/rollout/policy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::rollout {
namespace {

using testing::HasSubstr;

constexpr char kEvasive[] = "class ModelNew(Model):\n    pass\n";
constexpr char kHonest[] = "class ModelNew(nn.Module):\n  def forward(self, x):\n    return k(x)\n";

TEST(PolicyCheck, StaticRulesRefuseByTheSourceAlone) {
  StepSettings settings;
  EXPECT_FALSE(RefuseUnjudged(settings, Language::kCpp, Language::kCpp, kEvasive));
  settings.static_rules = StaticRules::kKevin;
  const auto refused = RefuseUnjudged(settings, Language::kCpp, Language::kCpp, kEvasive);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->outcome, Outcome::kPolicyViolation);
  EXPECT_THAT(refused->message, HasSubstr("`pass`"));
  EXPECT_FALSE(RefuseUnjudged(settings, Language::kCpp, Language::kCpp, kHonest));
}

TEST(PolicyCheck, TheLanguageThatTheTaskAsksForDecides) {
  StepSettings settings;
  settings.require_language = true;
  EXPECT_FALSE(RefuseUnjudged(settings, Language::kTriton, Language::kTriton, kHonest));
  const auto refused = RefuseUnjudged(settings, Language::kCuda, Language::kTriton, kHonest);
  ASSERT_TRUE(refused);
  EXPECT_THAT(refused->message, HasSubstr("asks for CUDA"));
}

TEST(PolicyCheck, ACopyOfPyTorchIsAViolationWhereAKernelIsAsked) {
  StepSettings settings;
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{2, 1.9, 2.1, true, "eager"};
  ApplyPolicy(settings, Language::kCpp, Language::kPython, &evaluation);
  EXPECT_EQ(evaluation.outcome, Outcome::kOk);
  settings.require_own_kernel = true;
  ApplyPolicy(settings, Language::kCpp, Language::kPython, &evaluation);
  EXPECT_EQ(evaluation.outcome, Outcome::kPolicyViolation);
  EXPECT_FALSE(evaluation.speedup);
}

}  // namespace
}  // namespace davinci::rollout
