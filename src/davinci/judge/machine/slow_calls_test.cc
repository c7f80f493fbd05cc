#include "davinci/judge/machine/slow_calls.h"

#include <gtest/gtest.h>

namespace davinci::judge {
namespace {

TEST(SlowCallsTest, ACallIsSlowUntilItsHandleGoes) {
  SlowCalls calls;
  EXPECT_FALSE(calls.LongestSeconds("GPU-1"));
  {
    const auto one = calls.Add("GPU-1");
    EXPECT_GE(calls.LongestSeconds("GPU-1").value_or(-1), 0);
    EXPECT_FALSE(calls.LongestSeconds("GPU-2"));
  }
  EXPECT_FALSE(calls.LongestSeconds("GPU-1"));
}

TEST(SlowCallsTest, OnlyOldCallsOfTheDeviceMustEnd) {
  SlowCalls calls;
  const auto here = calls.Add("GPU-1");
  const auto there = calls.Add("GPU-2");
  calls.EndThoseOf("GPU-1", 60);
  EXPECT_FALSE(here->must_end());
  calls.EndThoseOf("GPU-1", 0);
  EXPECT_TRUE(here->must_end());
  EXPECT_FALSE(there->must_end());
}

TEST(SlowCallsTest, TheUsualTurnIsTheShortest) {
  SlowCalls calls;
  EXPECT_EQ(calls.UsualTurn("GPU-1", 3e-4), 3e-4);
  EXPECT_EQ(calls.UsualTurn("GPU-1", 1e-4), 1e-4);
  EXPECT_EQ(calls.UsualTurn("GPU-1", 2e-3), 1e-4);
  EXPECT_EQ(calls.UsualTurn("GPU-2", 2e-3), 2e-3);
}

}  // namespace
}  // namespace davinci::judge
