#include "davinci/training/ahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace davinci::training {
namespace {

TEST(Ahead, NothingIsMadeBeforeTheStepBeforeItIsDone) {
  std::atomic<int> done = 2;
  Ahead<int> ahead(2, 6, 0, [&](int step, int newest, auto&) -> Result<int> {
    EXPECT_EQ(newest, step - 1);
    EXPECT_EQ(done.load(), step - 1);
    return 10 * step;
  });
  for (int step = 3; step <= 6; ++step) {
    const auto next = ahead.Take();
    ASSERT_TRUE(next.made.ok());
    EXPECT_EQ(*next.made, 10 * step);
    done = step;
    ahead.Done(step);
  }
}

// While step 1 is used, exactly `ahead` further ones are made.
TEST(Ahead, IsBoundedByTheCap) {
  for (const int cap : {1, 3}) {
    std::atomic<int> begun = 0;
    Ahead<int> ahead(0, 8, cap, [&](int step, int newest, auto&) -> Result<int> {
      EXPECT_LE(step - 1 - newest, cap);
      begun = step;
      return step;
    });
    for (int step = 1; step <= 8; ++step) {
      EXPECT_EQ(*ahead.Take().made, step);
      while (begun.load() < std::min(8, step + cap)) std::this_thread::yield();
      EXPECT_EQ(begun.load(), std::min(8, step + cap));
      ahead.Done(step);
    }
  }
}

TEST(Ahead, EndsWithAFailureAndWhenItIsGivenUp) {
  Ahead<int> failing(0, 5, 5, [](int step, int, auto&) -> Result<int> {
    if (step == 2) return Internal("broken");
    return step;
  });
  EXPECT_TRUE(failing.Take().made.ok());
  EXPECT_EQ(failing.Take().made.status().message(), "broken");
  std::atomic<int> begun = 0;
  {
    const Ahead<int> unused(0, 5, 0,
                            [&](int step, int, auto&) -> Result<int> { return begun = step; });
  }
  EXPECT_LE(begun.load(), 1);
}

// Allowed to begin at once, step 3 wants what step 2 leaves.
TEST(Ahead, AMakerMayWaitForAnEarlierStep) {
  std::atomic<int> done = 0;
  Ahead<int> ahead(0, 3, 3, [&](int step, int, auto& others) -> Result<int> {
    if (step == 3) {
      EXPECT_TRUE(others.Await(2));
      EXPECT_GE(done.load(), 2);
    }
    return step;
  });
  for (int step = 1; step <= 3; ++step) {
    EXPECT_EQ(*ahead.Take().made, step);
    done = step;
    ahead.Done(step);
  }
}

void WaitFor(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

// Step 2 is made within the making of step 1, and step 3 begins when step 1 is made.
TEST(Ahead, AMakerMayLetTheNextStepBegin) {
  std::atomic<bool> second_made = false;
  std::atomic<bool> first_made = false;
  std::atomic<bool> third_begun = false;
  Ahead<int> ahead(0, 3, 2, [&](int step, int, auto& others) -> Result<int> {
    others.LetNextBegin();
    if (step == 1) {
      WaitFor(second_made);
      EXPECT_FALSE(third_begun);
      first_made = true;
    } else if (step == 2) {
      second_made = true;
    } else {
      EXPECT_TRUE(first_made);
      third_begun = true;
    }
    return step;
  });
  for (int step = 1; step <= 3; ++step) {
    EXPECT_EQ(*ahead.Take().made, step);
    ahead.Done(step);
  }
}

TEST(Ahead, OneStepAheadNoTwoAreMadeAtOnce) {
  std::atomic<int> under_way = 0;
  Ahead<int> ahead(0, 4, 1, [&](int step, int, auto& others) -> Result<int> {
    others.LetNextBegin();
    EXPECT_EQ(++under_way, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --under_way;
    return step;
  });
  for (int step = 1; step <= 4; ++step) {
    EXPECT_EQ(*ahead.Take().made, step);
    ahead.Done(step);
  }
}

TEST(Ahead, AFailureIsTakenBeforeWhatWasMadeBesideIt) {
  std::atomic<bool> second_made = false;
  Ahead<int> ahead(0, 5, 4, [&](int step, int, auto& others) -> Result<int> {
    EXPECT_LE(step, 2);
    if (step == 2) {
      second_made = true;
      return step;
    }
    others.LetNextBegin();
    WaitFor(second_made);
    return Internal("broken");
  });
  EXPECT_EQ(ahead.Take().made.status().message(), "broken");
}

}  // namespace
}  // namespace davinci::training
