#include "davinci/base/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/clock.h"

namespace davinci {
namespace {

using ::testing::ElementsAre;

void WaitUntilQueued(Lane& lane, int64_t queued) {
  while (lane.stats().longest_queue < queued) std::this_thread::yield();
}

TEST(Lane, TheMostUrgentIsServedNextThenTheEarlierTask) {
  Lane lane("judge", 1);
  auto first = lane.Enter(Urgency::kNewWork, 0, {});
  ASSERT_TRUE(first.ok());
  std::mutex mutex;
  std::vector<int> served;
  std::vector<std::jthread> waiting;
  int64_t queued = 0;
  for (const auto& [urgency, order] : {std::pair{Urgency::kNewWork, 5},
                                       {Urgency::kNewWork, 1},
                                       {Urgency::kVerification, 9},
                                       {Urgency::kLaterTurn, 7}}) {
    waiting.emplace_back([&, urgency = urgency, order = order] {
      auto place = lane.Enter(urgency, order, {});
      ASSERT_TRUE(place.ok());
      std::lock_guard lock(mutex);
      served.push_back(order);
    });
    WaitUntilQueued(lane, ++queued);
  }
  first->Leave();
  waiting.clear();
  EXPECT_THAT(served, ElementsAre(9, 7, 1, 5));
}

// Two places, both of task a. Its third comes behind both of b, though it has waited longer.
TEST(Lane, GroupsAreServedSideBySide) {
  Lane lane("judge", 2);
  std::vector<Lane::Place> inside;
  for (int i = 0; i < 2; ++i) {
    auto place = lane.Enter(Urgency::kNewWork, 0, {}, "a");
    ASSERT_TRUE(place.ok());
    inside.push_back(std::move(*place));
  }
  std::mutex mutex;
  std::vector<std::string> served;
  std::vector<std::jthread> waiting;
  int64_t queued = 0;
  for (const std::string group : {"a", "b", "c"}) {
    waiting.emplace_back([&, group] {
      auto place = lane.Enter(Urgency::kNewWork, 0, {}, group);
      ASSERT_TRUE(place.ok());
      std::lock_guard lock(mutex);
      served.push_back(group);
    });
    WaitUntilQueued(lane, ++queued);
  }
  inside.pop_back();
  waiting.clear();
  EXPECT_THAT(served, ElementsAre("b", "c", "a"));
}

TEST(Lane, NoMoreThanItsPlacesAreInside) {
  Lane lane("judge", 3);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 20; ++i)
      threads.emplace_back([&] {
        const auto place = lane.Enter(Urgency::kNewWork, 0, {});
        const int now = ++inside;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        // The first ones stay until there are as many as there may be.
        for (const Stopwatch watch; most < 3 && watch.Seconds() < 60;)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --inside;
      });
  }
  EXPECT_EQ(most, 3);
  EXPECT_EQ(lane.stats().num_served, 20);
}

TEST(Lane, WhoeverIsCancelledLeavesTheQueueToTheOthers) {
  Lane lane("judge", 1);
  auto first = lane.Enter(Urgency::kNewWork, 0, {});
  CancelSource source;
  Status cancelled;
  std::jthread urgent(
      [&] { cancelled = lane.Enter(Urgency::kFinal, 0, source.get_token()).status(); });
  WaitUntilQueued(lane, 1);
  std::atomic<bool> served = false;
  std::jthread patient([&] { served = lane.Enter(Urgency::kNewWork, 0, {}).ok(); });
  WaitUntilQueued(lane, 2);
  source.request_stop();
  urgent.join();
  EXPECT_EQ(cancelled.code(), StatusCode::kCancelled);
  first->Leave();
  patient.join();
  EXPECT_TRUE(served);
}

TEST(Lane, IdleShareIsWhatNobodyUsed) {
  LaneStats stats;
  stats.places = 2;
  stats.open_seconds = 10;
  stats.busy_seconds = 5;
  EXPECT_DOUBLE_EQ(stats.idle_share(), 0.75);
}

}  // namespace
}  // namespace davinci
