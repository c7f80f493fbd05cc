// Who may have a session, and when. What a session does for its candidates is tested by
// tests/outcomes, where real ones serve.
#include "davinci/judge/roles/session_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "davinci/judge/roles/baseline_profiles.h"

namespace davinci::judge {
namespace {

// What a trial that ended before its roles were up gives back.
void GiveBackNothing(SessionPool* pool, const std::string& key) {
  pool->Return(key, nullptr, PrewarmedRunner());
  pool->Settle();
}

TEST(SessionPool, LetsAsManyMakeASessionOfAKeyAsItWasToldTo) {
  SessionPool pool(4, 2);
  EXPECT_TRUE(pool.Claim("task", "", ClaimWait::kNone).may_make);
  EXPECT_TRUE(pool.Claim("task", "", ClaimWait::kNone).may_make);
  EXPECT_FALSE(pool.Claim("task", "", ClaimWait::kNone).granted());
  EXPECT_TRUE(pool.Claim("another task", "", ClaimWait::kNone).may_make);
  GiveBackNothing(&pool, "task");
  EXPECT_TRUE(pool.Claim("task", "", ClaimWait::kNone).may_make);
  for (const char* key : {"task", "task", "another task"}) GiveBackNothing(&pool, key);
}

TEST(SessionPool, WhoWaitsIsServedWhenOneIsGivenBack) {
  SessionPool pool(4, 1);
  ASSERT_TRUE(pool.Claim("task", "", ClaimWait::kNone).may_make);
  std::atomic<bool> served = false;
  std::thread waiting([&] { served = pool.Claim("task", "", ClaimWait::kGranted).may_make; });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_FALSE(served);
  GiveBackNothing(&pool, "task");
  waiting.join();
  EXPECT_TRUE(served);
  GiveBackNothing(&pool, "task");
}

TEST(SessionPool, ProcessesAboutToComeBackAreWaitedForRatherThanMadeAnew) {
  SessionPool pool(4, 4);
  ASSERT_TRUE(pool.Claim("task", "host", ClaimWait::kNone).may_make);
  // Taking it back fails at once, for it has no processes; until then it may serve.
  auto session = std::make_unique<Session>();
  session->key = "task";
  pool.Return("task", std::move(session), PrewarmedRunner());
  EXPECT_TRUE(pool.Claim("another task", "host", ClaimWait::kSoon).may_make);
  pool.Settle();
  EXPECT_TRUE(pool.Claim("task", "host", ClaimWait::kNone).may_make);
  for (const char* key : {"task", "another task"}) GiveBackNothing(&pool, key);
}

// Nothing is granted while it is taken back, and leave to make one when nothing came of it.
TEST(SessionPool, OnesOwnSessionIsWaitedForWithoutAHostToo) {
  SessionPool pool(4, 4);
  ASSERT_TRUE(pool.Claim("task", "", ClaimWait::kNone).may_make);
  for (int i = 0; i < 20; ++i) {
    pool.Return("task", nullptr, PrewarmedRunner());
    EXPECT_TRUE(pool.Claim("task", "", ClaimWait::kSoon).may_make);
  }
  EXPECT_TRUE(pool.Claim("another task", "", ClaimWait::kNone).may_make);
  for (const char* key : {"task", "another task"}) GiveBackNothing(&pool, key);
}

TEST(SessionPool, ALimitHoldsForItsKeyAndNeverShutsItOut) {
  SessionPool pool(4, 3);
  pool.Limit("large", 0);
  EXPECT_TRUE(pool.Claim("large", "", ClaimWait::kNone).may_make);
  EXPECT_FALSE(pool.Claim("large", "", ClaimWait::kNone).granted());
  pool.Limit("small", 100);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(pool.Claim("small", "", ClaimWait::kNone).may_make);
  EXPECT_FALSE(pool.Claim("small", "", ClaimWait::kNone).granted());
  for (const char* key : {"large", "small", "small", "small"}) GiveBackNothing(&pool, key);
}

// So that the next candidate of a task finds its session, and no task keeps others out.
TEST(SessionPool, WithDeviceMemoryRestsLessTheLongerOthersWaitForIt) {
  EXPECT_EQ(MostRestWithMemory({}), 3);
  EXPECT_EQ(MostRestWithMemory(0.0), 1);
  EXPECT_EQ(MostRestWithMemory(7.9), 1);
  EXPECT_EQ(MostRestWithMemory(8.1), 0);
}

TEST(SessionPool, AHalfMadeSessionServesNobody) {
  SessionPool pool(4, 1);
  ASSERT_TRUE(pool.Claim("task", "", ClaimWait::kNone).may_make);
  auto session = std::make_unique<Session>();
  session->key = "task";
  pool.Return("task", std::move(session), PrewarmedRunner());
  pool.Settle();
  const SessionClaim claim = pool.Claim("task", "", ClaimWait::kNone);
  EXPECT_EQ(claim.session, nullptr);
  EXPECT_TRUE(claim.may_make);
  GiveBackNothing(&pool, "task");
}

TEST(BaselineProfiles, RememberWhatABaselineLaunches) {
  BaselineProfiles profiles;
  EXPECT_TRUE(profiles.Of("task").is_null());
  profiles.Keep("task", {{"kernels", 3}});
  EXPECT_EQ(profiles.Of("task")["kernels"], 3);
}

}  // namespace
}  // namespace davinci::judge
