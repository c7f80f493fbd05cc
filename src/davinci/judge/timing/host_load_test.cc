#include "davinci/judge/timing/host_load.h"

#include <gtest/gtest.h>

namespace davinci::judge {
namespace {

CallResult CallOf(int64_t wall_ns, int64_t waited_ns, int64_t ran_ns) {
  CallResult call;
  call.wall_ns = wall_ns;
  call.cores.waited_ns = waited_ns;
  call.cores.ran_ns = ran_ns;
  return call;
}

TEST(HostLoadTest, AnUndisturbedCallCountsAsRecorded) {
  EXPECT_DOUBLE_EQ(LeastSeconds({}, 2, CallOf(3'000'000, 10'000, 3'000'000)), 3e-3);
}

TEST(HostLoadTest, OfADisturbedCallItsWaitsMayBeOthers) {
  CallCosts costs;
  costs.usual_wait_ns = 100'000;
  // 2 ms of waiting, of which 0.1 ms is usual.
  EXPECT_NEAR(LeastSeconds(costs, 2, CallOf(5'000'000, 2'100'000, 2'000'000)), 3e-3, 1e-12);
}

TEST(HostLoadTest, NoCallTakesLessThanItsCpuTimeOnAllThreads) {
  EXPECT_NEAR(LeastSeconds({}, 2, CallOf(5'000'000, 4'500'000, 4'000'000)), 2e-3, 1e-12);
}

}  // namespace
}  // namespace davinci::judge
