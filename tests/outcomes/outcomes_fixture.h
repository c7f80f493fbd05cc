// One judge and one reference for all tests of outcomes: each candidate that misbehaves is followed
// by an innocent one, and at the end nothing may be left of any.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "davinci/base/clock.h"
#include "leaks.h"
#include "workbench.h"

namespace davinci {

// gtest prints outcomes by name.
inline void PrintTo(Outcome outcome, std::ostream* out) { *out << OutcomeName(outcome); }

namespace outcomes {

// One tiny candidate, judged on a quiet machine of two cores, seconds.
inline constexpr double kQuietJudgementSeconds = 0.5;

// Prints the judge's clock right before something terrible, so that the time to notice it can be
// told.
inline constexpr char kMark[] = "print('mark', time.monotonic(), flush=True)";

class Outcomes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    AdoptOrphans();
    files_before_ = NumOpenFiles();
    auto bench = Workbench::Create();
    ASSERT_TRUE(bench.ok()) << bench.status().ToString();
    bench_ = std::move(*bench);
    auto good = bench_->Judge(kGood);  // imports torch
    ASSERT_TRUE(good.ok())
        << good.status().ToString()
        << "\nThis test needs a Python with torch: DAVINCI_PYTHON, .venv or python3";
  }

  static void TearDownTestSuite() {
    if (!bench_) return;
    bench_->LetGo();
    EXPECT_THAT(Entries(bench_->scratch()), ::testing::IsEmpty()) << "scratch folders are left";
    bench_->Close();
    std::vector<std::string> left = LiveDescendants();
    for (int i = 0; i < 20 && !left.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      left = LiveDescendants();
    }
    EXPECT_THAT(left, ::testing::IsEmpty()) << "processes are left";
    bench_.reset();
    EXPECT_LE(NumOpenFiles(), files_before_) << "descriptors are left";
  }

  // After every test: nothing of it is left, and the next candidate is judged as if nothing had
  // happened.
  void TearDown() override {
    if (!bench_) return;
    JudgeGood();
    bench_->Settle();
    EXPECT_THAT(Entries(bench_->scratch()),
                ::testing::Each(::testing::StartsWith("davinci-session")))
        << "of a candidate nothing is left; what serves the next one may rest";
  }

  static void JudgeGood() {
    const Stopwatch watch;
    auto good = bench_->Judge(kGood);
    good_seconds_ = watch.Seconds();
    ASSERT_TRUE(good.ok()) << good.status().ToString();
    EXPECT_EQ(good->outcome, Outcome::kOk) << good->message;
  }

  // How many times slower than a quiet one this machine is now, by the last innocent candidate.
  static double Slowness() { return std::max(1.0, 2 * good_seconds_ / kQuietJudgementSeconds); }
  // A crash is seen through the process handle, not at a time limit.
  // `after`: seconds that the candidate itself or a time limit takes. A machine that has become
  // busy since the last innocent candidate is measured again.
  static void ExpectNoticed(const Evaluation& evaluation, double after = 0) {
    const double seconds = SecondsToNotice(evaluation);
    if (seconds >= after + Slowness()) JudgeGood();
    EXPECT_LT(seconds, after + Slowness());
  }

  static Evaluation Judge(const std::string& candidate, std::string_view reference = kReference,
                          const std::string& protocol = "screening") {
    auto evaluation = bench_->Judge(candidate, reference, protocol);
    judged_at_ = MonotonicSeconds();
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().ToString();
    if (!evaluation.ok()) return {};
    EXPECT_LE(evaluation->message.size(), 8192u) << "a message must be bounded";
    if (evaluation->outcome != Outcome::kOk) {
      EXPECT_FALSE(evaluation->speedup.has_value()) << "a failure has no speedup";
      EXPECT_FALSE(evaluation->message.empty());
    }
    return *std::move(evaluation);
  }

  // A module whose forward is `body`, indented by eight.
  static std::string Forward(std::string_view body) {
    return fmt::format(
        "{}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        {}\n        return x * "
        "2 + 1\n",
        kImports, body);
  }

  // Seconds from the mark that the candidate printed until the verdict was in our hands.
  static double SecondsToNotice(const Evaluation& evaluation) {
    const std::string said = evaluation.evidence.value("output_tail", "");
    const size_t at = said.rfind("mark ");
    if (at == std::string::npos) {
      ADD_FAILURE() << "the candidate said no mark: " << said;
      return 1e9;
    }
    return judged_at_ - std::atof(said.c_str() + at + 5);
  }

  static void ExpectCrash(const std::string& statement, const char* says) {
    const Evaluation e = Judge(Forward(fmt::format("{}; {}", kMark, statement)));
    EXPECT_EQ(e.outcome, Outcome::kRuntimeError) << e.message;
    EXPECT_THAT(e.message, ::testing::HasSubstr(says));
    EXPECT_FALSE(e.correct.has_value());
    ExpectNoticed(e);
  }

  // The reference or the call is at fault: a Status, never an Evaluation.
  static Status BadInput(std::string_view reference, std::string_view candidate = kGood) {
    auto evaluation = bench_->Judge(candidate, reference);
    EXPECT_FALSE(evaluation.ok()) << "judged as " << OutcomeName(evaluation->outcome);
    return evaluation.status();
  }

  static inline std::unique_ptr<Workbench> bench_;
  static inline double judged_at_ = 0;
  static inline double good_seconds_ = kQuietJudgementSeconds;
  static inline int files_before_ = 0;
};

// A reference with this forward; its inputs are `x` of 64 x 128 numbers.
inline std::string Reference(std::string_view forward) {
  return fmt::format(
      "import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
      "        {}\n\ndef get_inputs():\n    return [torch.randn(64, 128)]\n\n"
      "def get_init_inputs():\n    return []\n",
      forward);
}

inline std::string Candidate(std::string_view forward) {
  return fmt::format("{}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        {}\n",
                     kImports, forward);
}

// A candidate that returns `expression`.
inline std::string Returning(std::string_view expression) {
  return fmt::format(
      "{}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        y = x * 2 + 1\n        "
      "return {}\n",
      kImports, expression);
}

}  // namespace outcomes
}  // namespace davinci
