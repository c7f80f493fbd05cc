#include "davinci/skill/verification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "davinci/base/files.h"

namespace davinci::skill {
namespace {

using testing::HasSubstr;

Evaluation Measured(double low, double median, double high) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.speedup = Speedup{median, low, high, true, "eager"};
  evaluation.provenance["protocol"] = {{"name", "davinci"}, {"version", 1}};
  return evaluation;
}

Evaluation NoVerdict(const char* kind) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kJudgeError;
  evaluation.message = "no verdict";
  evaluation.evidence["kind"] = kind;
  return evaluation;
}

class VerificationTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("verification-test");
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
    Put("SKILL.md",
        "---\nname: a-skill\ndescription: d\n---\n\n## Motivation\nm\n## Key Idea\nk\n"
        "## Example\ne\n");
    Put("example.toml", "target = \"cpu\"\n");
    for (const char* file : {"task.py", "before.py", "after.py"}) Put(file, "pass\n");
    settings_.cpu_model = "a cpu";
    settings_.run = "a test";
  }
  void Put(const char* file, std::string_view text) {
    const auto path = scratch_.path() / "a-skill" / file;
    ASSERT_TRUE(MakeDirs(path.parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  }
  // before.py is as fast as the baseline, after.py as the rounds say; the last one repeats.
  ExampleOutcome Verify(const std::vector<Evaluation>& rounds) {
    const auto seed = ReadSeedFolder(scratch_.path() / "a-skill");
    EXPECT_TRUE(seed.ok()) << seed.status().message();
    judged_ = 0;
    return VerifyExample(*seed, seed->examples[0], settings_,
                         [&](const std::string&, const SeedExample&, const auto& candidate) {
                           const size_t round = judged_++ / 2;
                           return candidate.filename() == "before.py"
                                      ? Measured(0.99, 1, 1.01)
                                      : rounds[std::min(round, rounds.size() - 1)];
                         });
  }
  ExampleOutcome Update(const Evaluation& after) {
    settings_.update = true;
    const ExampleOutcome outcome = Verify({after});
    settings_.update = false;
    return outcome;
  }

  TempDir scratch_;
  VerificationSettings settings_;
  size_t judged_ = 0;
};

TEST_F(VerificationTest, StandsOnTheEvidenceThatAnUpdateWrote) {
  EXPECT_TRUE(Update(Measured(1.9, 2, 2.1)).written);
  const ExampleOutcome outcome = Verify({Measured(2.9, 3, 3.1)});
  EXPECT_EQ(outcome.standing, Standing::kStands) << outcome.remark;
  EXPECT_NEAR(outcome.uplift->median, 3, 1e-9);
  EXPECT_NEAR(outcome.recorded->median, 2, 1e-9);
  EXPECT_FALSE(outcome.written);
  EXPECT_EQ(judged_, 2u);
}

TEST_F(VerificationTest, FailsWithoutEvidence) {
  const ExampleOutcome outcome = Verify({Measured(1.9, 2, 2.1)});
  EXPECT_EQ(outcome.standing, Standing::kFails);
  EXPECT_THAT(outcome.remark, HasSubstr("no evidence file yet"));
}

TEST_F(VerificationTest, FailsOnEvidenceOfOtherFiles) {
  Update(Measured(1.9, 2, 2.1));
  Put("after.py", "other\n");
  const ExampleOutcome outcome = Verify({Measured(1.9, 2, 2.1)});
  EXPECT_EQ(outcome.standing, Standing::kFails);
  EXPECT_THAT(outcome.remark, HasSubstr("measured on other files"));
}

TEST_F(VerificationTest, AnUpliftBelowTheThresholdFailsAndIsNotWritten) {
  const ExampleOutcome outcome = Update(Measured(1.04, 1.05, 1.06));
  EXPECT_EQ(outcome.standing, Standing::kFails);
  EXPECT_FALSE(outcome.written);
  EXPECT_EQ(judged_, 2u);  // the whole interval lies below: decided
}

TEST_F(VerificationTest, AnUndecidedPairIsJudgedAgainAndTheNarrowestCounts) {
  Update(Measured(1.9, 2, 2.1));
  EXPECT_EQ(Verify({Measured(1, 2, 4), Measured(1.9, 2, 2.1)}).standing, Standing::kStands);
  EXPECT_EQ(judged_, 4u);
  const ExampleOutcome undecided = Verify({Measured(1, 2, 4)});
  EXPECT_EQ(undecided.standing, Standing::kFails);
  EXPECT_THAT(undecided.remark, HasSubstr("is the machine busy?"));
  EXPECT_EQ(judged_, 6u);
}

TEST_F(VerificationTest, NoVerdictSaysWhoseFaultItIs) {
  EXPECT_EQ(Verify({NoVerdict("bad_input")}).standing, Standing::kBadInput);
  const ExampleOutcome ours = Verify({NoVerdict("internal")});
  EXPECT_EQ(ours.standing, Standing::kJudgeFailed);
  EXPECT_EQ(ours.remark, "no verdict");
}

TEST_F(VerificationTest, AWrongCandidateIsNoEvidence) {
  Evaluation wrong;
  wrong.outcome = Outcome::kMismatch;
  EXPECT_EQ(Verify({wrong}).standing, Standing::kFails);
}

TEST_F(VerificationTest, NothingIsJudgedForAListOrWithoutTheDevice) {
  settings_.list = true;
  EXPECT_EQ(Verify({Measured(1.9, 2, 2.1)}).standing, Standing::kSkipped);
  settings_.list = false;
  Put("example.toml", "target = \"cuda\"\n");
  EXPECT_EQ(Verify({Measured(1.9, 2, 2.1)}).standing, Standing::kSkipped);
  EXPECT_EQ(judged_, 0u);
}

}  // namespace
}  // namespace davinci::skill
