#include "davinci/base/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>

#include "davinci/base/cancel.h"

namespace davinci {
namespace {

void Ignore(int) {}

using HandlerOfSignal = void (*)(int);
HandlerOfSignal HandlerOf(int signal) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  return now.sa_handler;
}

TEST(InterruptWatch, FirstSignalAsksForAnOrderlyEnd) {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const InterruptWatch watch;
    EXPECT_FALSE(watch.requested());
    ::raise(signal);
    EXPECT_TRUE(watch.requested());
    watch.Wait();
  }
}

TEST(InterruptWatchDeathTest, SecondSignalEndsTheProcess) {
  for (const int first : {SIGINT, SIGTERM, SIGUSR1})
    for (const int second : {SIGINT, SIGTERM})
      EXPECT_EXIT(
          {
            const InterruptWatch watch;
            ::raise(first);
            ::raise(second);
          },
          testing::KilledBySignal(second), "");
}

TEST(InterruptWatch, SecondSigusr1HasNoEffect) {
  const InterruptWatch watch;
  ::raise(SIGINT);
  ::raise(SIGUSR1);
  ::raise(SIGUSR1);
  EXPECT_TRUE(watch.requested());
}

TEST(InterruptWatch, CallsOnceFromAThreadOfItsOwn) {
  std::atomic<int> calls = 0;
  std::atomic<bool> elsewhere = false;
  const auto here = std::this_thread::get_id();
  {
    const InterruptWatch watch([&] {
      elsewhere = std::this_thread::get_id() != here;
      ++calls;
    });
    ::raise(SIGUSR1);
    while (calls == 0) SleepUnlessCancelled(0.01, {});
    ::raise(SIGUSR1);
  }
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(elsewhere);
}

TEST(InterruptWatch, IsNotCalledWithoutASignal) {
  std::atomic<int> calls = 0;
  {
    const InterruptWatch watch([&] { ++calls; });
  }
  EXPECT_EQ(calls, 0);
}

TEST(InterruptWatch, RestoresTheHandlersItFound) {
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGUSR1, Ignore);
  {
    const InterruptWatch watch;
    EXPECT_NE(HandlerOf(SIGINT), SIG_IGN);
    EXPECT_NE(HandlerOf(SIGUSR1), Ignore);
  }
  EXPECT_EQ(HandlerOf(SIGINT), SIG_IGN);
  EXPECT_EQ(HandlerOf(SIGTERM), SIG_DFL);
  EXPECT_EQ(HandlerOf(SIGUSR1), Ignore);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGUSR1, SIG_DFL);
}

}  // namespace
}  // namespace davinci
