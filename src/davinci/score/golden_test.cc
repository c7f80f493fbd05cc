// Against the independent computation of tests/golden/make_score_golden.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "davinci/base/files.h"
#include "davinci/score/comparison.h"
#include "davinci/score/test_support.h"

namespace davinci::score {
namespace {

using nlohmann::json;

const json& Golden() {
  static const json kGolden =
      json::parse(ReadFile(DAVINCI_SOURCE_DIR "/tests/golden/score_golden.json").value());
  return kGolden;
}

ScoreInput ReadLog(const json& log) {
  ScoreInput input;
  for (const auto& [task, content] : log.items()) {
    for (const json& sample : content["samples"]) {
      std::vector<double> speedups;
      for (const json& turn : sample) {
        const double speedup = turn[1].is_null() ? 0 : turn[1].get<double>();
        speedups.push_back(turn[0].get<bool>() ? speedup : -1);
      }
      AddSpeedups(&input, task, speedups, content["level"].get<int>());
      // The independent computation knows no noise.
      for (Turn& turn : input.trajectories.back().turns)
        if (auto& speedup = turn.evaluation.speedup)
          speedup->decided_low = speedup->decided_high = speedup->median;
    }
  }
  return input;
}

void ExpectBound(const std::optional<double>& found, const json& expected) {
  ASSERT_EQ(found.has_value(), !expected.is_null());
  // The quantile of Student's t is a series here, an integral there; both to within 0.2 %.
  if (found) {
    EXPECT_NEAR(*found, expected.get<double>(), 2e-3 * (1 + std::abs(*found)));
  }
}

void ExpectMetrics(const ScoreReport& report, const json& expected, size_t* compared) {
  for (const auto& [key, value] : expected.items()) {
    SCOPED_TRACE(report.protocol + " " + key);
    const MetricValue* found = FindMetric(report.sections.front(), key);
    if (value.is_null()) {
      EXPECT_EQ(found, nullptr);
      continue;
    }
    ASSERT_NE(found, nullptr);
    EXPECT_NEAR(found->estimate.value, value["value"].get<double>(), 1e-12);
    EXPECT_EQ(found->estimate.num_tasks, value["tasks"].get<int>());
    ExpectBound(found->estimate.low, value["low"]);
    ExpectBound(found->estimate.high, value["high"]);
    ++*compared;
  }
}

TEST(ScoreGolden, EveryMetricOfEveryProtocolIsWhatPythonSays) {
  size_t compared = 0;
  for (const json& one : Golden()["logs"]) {
    const ScoreInput input = ReadLog(one["log"]);
    ExpectMetrics(ScoreAs(input, "bench"), one["bench"], &compared);
    for (const auto& [protocol, expected] : one["papers"].items())
      ExpectMetrics(ScoreAs(input, protocol), expected, &compared);
  }
  EXPECT_GT(compared, 700u);
}

TEST(ScoreGolden, PairedTestsAreWhatExactFractionsSay) {
  for (const json& one : Golden()["tests"]) {
    EXPECT_NEAR(SignTest(one["wins"], one["losses"]), one["sign_p"].get<double>(), 1e-10);
    EXPECT_NEAR(SignFlipTest(one["differences"].get<std::vector<double>>()),
                one["flip_p"].get<double>(), 1e-12)
        << one["differences"];
  }
}

}  // namespace
}  // namespace davinci::score
