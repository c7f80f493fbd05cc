#include "davinci/judge/machine/timing_cores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "davinci/judge/machine/test_support.h"

namespace davinci::judge {
namespace {

// `count` cores of two hardware threads each, numbered as Linux does on many machines.
std::vector<std::vector<int>> Cores(int count) {
  std::vector<std::vector<int>> cores;
  for (int i = 0; i < count; ++i) cores.push_back({i, count + i});
  return cores;
}

TEST(TimingCores, EachDeviceHasItsOwnAndTheRestIsForOthers) {
  const auto plan = PlanTimingCores(Cores(16), 2);
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->places.size(), 2U);
  EXPECT_EQ(plan->places[0].runner, (std::vector<int>{15, 31}));
  EXPECT_EQ(plan->places[0].oracle, 14);
  EXPECT_EQ(plan->places[0].supervisor, 30);
  EXPECT_EQ(plan->places[1].runner, (std::vector<int>{13, 29}));
  EXPECT_EQ(plan->others.size(), 24U);
  for (const int core : {12, 13, 14, 15, 28, 29, 30, 31})
    EXPECT_EQ(std::ranges::count(plan->others, core), 0) << core;
}

TEST(TimingCores, WithoutSecondThreadsThreeCoresAreTaken) {
  const std::vector<std::vector<int>> cores = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}};
  const auto plan = PlanTimingCores(cores, 1);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->places[0].runner, std::vector<int>{8});
  EXPECT_NE(plan->places[0].oracle, plan->places[0].supervisor);
  EXPECT_EQ(plan->others, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(TimingCores, SmallMachinesShareAll) {
  EXPECT_FALSE(PlanTimingCores(Cores(1), 1).has_value());
  EXPECT_FALSE(PlanTimingCores(Cores(5), 1).has_value());
  EXPECT_TRUE(PlanTimingCores(Cores(6), 1).has_value());
  EXPECT_FALSE(PlanTimingCores(Cores(8), 2).has_value());
  EXPECT_FALSE(PlanTimingCores({}, 1).has_value());
}

TEST(TimingCores, NeighboursOfAVirtualMachineCountAsOneCore) {
  const std::vector<std::vector<int>> pairs = {{0, 1}, {2, 3}, {4}};
  EXPECT_EQ(PairNeighbours({{0}, {1}, {2}, {3}, {4}}), pairs);
  EXPECT_EQ(PairNeighbours(Cores(3)), Cores(3));
}

TEST(TimingCores, OfThisMachineAreThoseThatMayBeUsed) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int count = 0;
  for (const std::vector<int>& core : HostCores())
    for (const int thread : core) {
      EXPECT_TRUE(CPU_ISSET(thread, &allowed)) << thread;
      ++count;
    }
  EXPECT_EQ(count, CPU_COUNT(&allowed));
}

std::vector<int> CoresOfThread(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(thread, sizeof set, &set), 0);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

TEST(TimingCores, AreTakenAndGivenBack) {
  const std::vector<int> all = CoresOfThread(0);
  if (all.size() < 2) GTEST_SKIP() << "one core";
  const ScriptedChild runner([](int) {});
  const ScriptedChild oracle([](int) {});
  TimingPlan plan;
  plan.places.push_back({{all[0], all[1]}, all[1], all[0]});
  plan.others = all;
  const TimingCores cores(0, plan);
  worker::Process* const runners[] = {runner.process().get()};
  {
    const TimingCores::Taken taken(cores, runners, oracle.process().get());
    EXPECT_EQ(CoresOfThread(runner.process()->pid()), std::vector<int>{all[0]});
    EXPECT_EQ(CoresOfThread(oracle.process()->pid()), std::vector<int>{all[1]});
    EXPECT_EQ(CoresOfThread(0), std::vector<int>{all[0]});
  }
  EXPECT_EQ(CoresOfThread(runner.process()->pid()), all);
  EXPECT_EQ(CoresOfThread(oracle.process()->pid()), all);
  EXPECT_EQ(CoresOfThread(0), all);
}

}  // namespace
}  // namespace davinci::judge
