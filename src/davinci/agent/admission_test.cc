#include "davinci/agent/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
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

TEST(Admission, AClearUpliftIsAdmitted) {
  const Experiment clear{{Timed(2.0), Timed(2.1), Timed(1.9)},
                         {Timed(1.0), Timed(1.05), Timed(1.0)}};
  const auto decision = clear.Decide();
  EXPECT_TRUE(decision.admitted) << decision.reason;
  EXPECT_EQ(decision.num_pairs, 3);
  // d = ln 2, ln 2, ln 1.9: mean 0.67605, s 0.029615, t 4.30265, h = 0.073566;
  // m = mean of hypot(ln(1/0.99), ln 1.01) = 0.014143; low = exp(0.67605 - 0.074913).
  EXPECT_NEAR(decision.uplift->median, 1.9661, 1e-3);
  EXPECT_NEAR(decision.uplift->low, 1.8242, 1e-3);
}

TEST(Admission, AnUpliftThatMayBeNoiseIsRefused) {
  const Experiment noisy{{Timed(2.0), Timed(1.0), Timed(1.4)},
                         {Timed(1.0), Timed(1.1), Timed(1.0)}};
  const auto decision = noisy.Decide();
  EXPECT_FALSE(decision.admitted);
  EXPECT_GT(decision.uplift->median, 1.3);
  EXPECT_THAT(decision.reason, HasSubstr("lower end"));
}

TEST(Admission, LowerCorrectnessIsRefusedHoweverLargeTheUplift) {
  const Experiment wrong{{Timed(3.0), Timed(3.0), Timed(3.0), Failed(Outcome::kMismatch)},
                         {Timed(1.0), Timed(1.0), Timed(1.0), Timed(1.0)}};
  const auto decision = wrong.Decide();
  EXPECT_FALSE(decision.admitted);
  EXPECT_THAT(decision.reason, HasSubstr("correctness falls from 4 to 3"));
}

TEST(Admission, HigherCorrectnessAloneIsNoUplift) {
  const Experiment safer{{Timed(1.0), Timed(1.0), Timed(1.0), Timed(1.0)},
                         {Timed(1.0), Timed(1.0), Timed(1.0), Failed(Outcome::kCompileError)}};
  EXPECT_FALSE(safer.Decide().admitted);
}

TEST(Admission, FewerThanThreePairsAreNoEvidence) {
  const Experiment few{{Timed(3.0), Timed(3.0), Failed(Outcome::kTimeout)},
                       {Timed(1.0), Timed(1.0), Failed(Outcome::kTimeout)}};
  const auto decision = few.Decide();
  EXPECT_FALSE(decision.admitted);
  EXPECT_EQ(decision.uplift, std::nullopt);
  EXPECT_THAT(decision.reason, HasSubstr("only 2 pairs"));
}

TEST(Admission, AJudgeErrorTakesItsPairAway) {
  const Experiment broken{{Timed(3.0), Timed(3.0), Timed(3.0), Failed(Outcome::kJudgeError)},
                          {Timed(1.0), Timed(1.0), Timed(1.0), Timed(1.0)}};
  const auto decision = broken.Decide();
  EXPECT_TRUE(decision.admitted) << decision.reason;
  EXPECT_EQ(decision.correct_without, 3);
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

// How often skills enter, by simulation. Generations differ by `generation_sd` (log scale: 0.25 is
// what sampling the same prompt twice does), and fail with probability `fail`.
double AdmissionRate(double effect, double generation_sd, double fail, int num_pairs,
                     double min_uplift, int num_experiments = 4000) {
  std::mt19937_64 random(20240607);
  std::normal_distribution<double> generation(0, generation_sd);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto generate = [&](double shift) {
    const double speedup = std::exp(0.2 + shift + generation(random));
    return uniform(random) < fail ? Failed(Outcome::kMismatch) : Timed(speedup);
  };
  int admitted = 0;
  for (int i = 0; i < num_experiments; ++i) {
    Experiment experiment;
    for (int pair = 0; pair < num_pairs; ++pair) {
      experiment.with.push_back(generate(std::log(effect)));
      experiment.without.push_back(generate(0));
    }
    admitted += experiment.Decide(min_uplift).admitted;
  }
  return static_cast<double>(admitted) / num_experiments;
}

TEST(AdmissionSimulation, ASkillWithoutEffectRarelyEnters) {
  // One-sided 2.5 % is what the interval promises at a threshold of 1; the default asks for more.
  for (const int pairs : {3, 5, 8}) {
    for (const double fail : {0.0, 0.3}) {
      EXPECT_LE(AdmissionRate(1.0, 0.25, fail, pairs, 1.0), 0.033) << pairs << " " << fail;
      EXPECT_LE(AdmissionRate(1.0, 0.25, fail, pairs, 1.05), 0.025) << pairs << " " << fail;
    }
  }
}

TEST(AdmissionSimulation, ManyTriesStillAdmitFewUselessSkills) {
  // The published rule tries up to 16 proposals per task and keeps the best. With ours the chance
  // that at least one of 16 useless ones enters stays below a third.
  EXPECT_LE(1 - std::pow(1 - AdmissionRate(1.0, 0.25, 0.0, 3, 1.05), 16), 0.33);
}

TEST(AdmissionSimulation, AStrongSkillEntersAndMorePairsHelp) {
  EXPECT_GE(AdmissionRate(2.0, 0.1, 0.0, 3, 1.05), 0.9);
  const double few = AdmissionRate(1.5, 0.25, 0.0, 3, 1.05);
  const double many = AdmissionRate(1.5, 0.25, 0.0, 8, 1.05);
  EXPECT_GT(many, few + 0.3);
}

}  // namespace
}  // namespace davinci::agent
