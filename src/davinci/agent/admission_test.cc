#include "davinci/agent/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "davinci/agent/testing/evaluations.h"

namespace davinci::agent {
namespace {

using testing::Failed;
using ::testing::HasSubstr;
using testing::kUnbounded;
using testing::Timed;

struct Experiment {
  std::vector<Evaluation> with;
  std::vector<Evaluation> without;

  AdmissionDecision Decide(double min_uplift = 1.05) const {
    std::vector<VerificationPair> pairs;
    for (size_t i = 0; i < with.size(); ++i) pairs.push_back({&with[i], &without[i]});
    return DecideAdmission(pairs, {.min_uplift = min_uplift});
  }
};

TEST(Admission, AClearUpliftIsAdmittedAfterThreePairs) {
  const Experiment clear{{Timed(2.0), Timed(2.02), Timed(1.98)},
                         {Timed(1.0), Timed(1.0), Timed(1.0)}};
  const auto decision = clear.Decide();
  EXPECT_TRUE(decision.admitted) << decision.reason;
  EXPECT_EQ(decision.why, TrialReason::kFaster);
  EXPECT_EQ(decision.timed_with, 3);
  // ln 2, ln 2.02, ln 1.98 against three 0: mean 0.693114; squares 2.0001e-4 over 4 degrees of
  // freedom, s 0.0070713, sqrt(2/3) of it times t 4.604: 0.026582; measured
  // hypot(ln(1/0.99), ln 1.01) = 0.014143; low = exp(0.693114 - 0.030111).
  EXPECT_NEAR(decision.uplift->median, 1.9999, 1e-3);
  EXPECT_NEAR(decision.uplift->low, 1.9406, 1e-3);
}

TEST(Admission, AnUpliftThatMayBeNoiseNeedsMorePairs) {
  const Experiment noisy{{Timed(2.0), Timed(1.0), Timed(1.4)},
                         {Timed(1.0), Timed(1.1), Timed(1.0)}};
  const auto decision = noisy.Decide();
  EXPECT_FALSE(decision.decided);
  EXPECT_FALSE(decision.admitted);
  EXPECT_GT(decision.uplift->median, 1.3);
}

// Three times as fast where it is right, but wrong four times where the control is right.
TEST(Admission, WhatLowersCorrectnessIsRefusedHoweverFastItIs) {
  Experiment wrong;
  for (int i = 0; i < 8; ++i) {
    wrong.with.push_back(i % 2 == 1 ? Failed(Outcome::kMismatch) : Timed(3.0 + 0.01 * i));
    wrong.without.push_back(Timed(1.0));
  }
  const auto decision = wrong.Decide();
  EXPECT_TRUE(decision.decided);
  EXPECT_FALSE(decision.admitted);
  EXPECT_EQ(decision.why, TrialReason::kLowersCorrectness);
  EXPECT_EQ(decision.lost, 4);
  // The same kernels with a control that fails as well are admitted: it is the pairs that decide.
  for (int i = 1; i < 8; i += 2) wrong.without[static_cast<size_t>(i)] = Failed(Outcome::kMismatch);
  EXPECT_EQ(wrong.Decide().why, TrialReason::kFaster);
}

TEST(Admission, AsLongAsItMayLowerCorrectnessNothingIsAdmitted) {
  Experiment doubtful{{Timed(3.0), Timed(3.01), Timed(3.02)}, {Timed(1.0), Timed(1.0), Timed(1.0)}};
  EXPECT_TRUE(doubtful.Decide().admitted);
  for (int i = 0; i < 2; ++i) {
    doubtful.with.push_back(Failed(Outcome::kTimeout));
    doubtful.without.push_back(Timed(1.0));
  }
  EXPECT_FALSE(doubtful.Decide().decided);
  while (doubtful.with.size() < 12) {
    doubtful.with.push_back(Failed(Outcome::kTimeout));
    doubtful.without.push_back(Failed(Outcome::kTimeout));
  }
  EXPECT_EQ(doubtful.Decide().why, TrialReason::kMayLowerCorrectness);
}

TEST(Admission, WhatRaisesCorrectnessIsAdmittedWithoutBeingFaster) {
  Experiment safer;
  for (int i = 0; i < 6; ++i) {
    safer.with.push_back(Timed(1.0));
    safer.without.push_back(Failed(Outcome::kCompileError));
  }
  const auto decision = safer.Decide();
  EXPECT_TRUE(decision.admitted) << decision.reason;
  EXPECT_EQ(decision.why, TrialReason::kMoreOftenCorrect);
  EXPECT_EQ(decision.gained, 6);
  EXPECT_EQ(decision.uplift, std::nullopt);
  safer.with[5] = Failed(Outcome::kCompileError);
  EXPECT_FALSE(safer.Decide().admitted);
}

TEST(Admission, FewerThanThreeTimedPairsGiveNoUplift) {
  const Experiment few{{Timed(3.0), Timed(3.0), Failed(Outcome::kTimeout)},
                       {Timed(1.0), Timed(1.0), Failed(Outcome::kTimeout)}};
  const auto decision = few.Decide();
  EXPECT_FALSE(decision.decided);
  EXPECT_EQ(decision.uplift, std::nullopt);
}

TEST(Admission, AJudgeErrorTakesItsPairAwayAndTheExperimentStillEnds) {
  Experiment broken{{Timed(3.0), Timed(3.01), Timed(3.02), Failed(Outcome::kJudgeError)},
                    {Timed(1.0), Timed(1.0), Timed(1.0), Timed(1.0)}};
  const auto decision = broken.Decide();
  EXPECT_TRUE(decision.admitted) << decision.reason;
  EXPECT_EQ(decision.correct_without, 3);
  const Experiment nothing{std::vector(12, Failed(Outcome::kJudgeError)),
                           std::vector(12, Timed(1.0))};
  EXPECT_EQ(nothing.Decide().why, TrialReason::kOutOfPairs);
}

TEST(Admission, IdenticalCandidatesStillCarryTheErrorOfTheirMeasurement) {
  // All differences are equal, so their spread is 0; each measurement leaves +-10 % open.
  const Experiment same{std::vector(4, Timed(1.15, 0.1)), std::vector(4, Timed(1.0, 0.1))};
  const auto decision = same.Decide();
  EXPECT_LT(decision.uplift->low, 1.03);
  EXPECT_FALSE(decision.admitted);
}

TEST(Admission, AnUnboundedMeasurementProvesNothing) {
  const Experiment unbounded{{Timed(9.0), Timed(9.0), Timed(9.0, 0.0, kUnbounded)},
                             {Timed(1.0), Timed(1.0), Timed(1.0)}};
  const auto decision = unbounded.Decide();
  EXPECT_FALSE(decision.admitted);
  EXPECT_EQ(decision.uplift->low, 0);
}

}  // namespace
}  // namespace davinci::agent
