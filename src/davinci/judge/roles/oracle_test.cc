#include "davinci/judge/roles/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "davinci/judge/request/protocol.h"
#include "davinci/judge/roles/variant_facts.h"
#include "davinci/worker/forked_process.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

using testing::HasSubstr;

// An oracle whose process is played by the test.
struct Played {
  Played() {
    auto pair = worker::Channel::CreatePair();
    int status_ends[2];
    int output_ends[2];
    EXPECT_EQ(pipe(status_ends), 0);
    EXPECT_EQ(pipe(output_ends), 0);
    peer = worker::Channel(std::move(pair->second));
    status = UniqueFd(status_ends[1]);
    output = UniqueFd(output_ends[1]);
    oracle = std::make_unique<Oracle>(
        std::make_shared<worker::ForkedProcess>(std::move(pair->first), UniqueFd(status_ends[0]),
                                                UniqueFd(output_ends[0])),
        "cuda");
    to_oracle::Load load;
    load.path = "tasks/slow.py";
    EXPECT_TRUE(oracle->Post(load).ok());
  }
  ~Played() {
    Die();
    output.Reset();
  }
  void Die() {
    const worker::StatusRecord record{worker::kStatusExit, SIGKILL};
    EXPECT_EQ(write(status.get(), &record, sizeof record), static_cast<ssize_t>(sizeof record));
  }

  worker::Channel peer;
  UniqueFd status;
  UniqueFd output;
  std::unique_ptr<Oracle> oracle;
};

TEST(Oracle, AnImportThatTakesTooLongIsToldWithFileAndRemedy) {
  Played played;
  const Status late = played.oracle->Await("load", 0.01).status();
  EXPECT_EQ(late.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(late.message(), HasSubstr("tasks/slow.py: importing"));
  EXPECT_THAT(late.message(), HasSubstr("--load-timeout"));
}

TEST(Oracle, ACallThatTakesTooLongIsToldWithFileAndRemedy) {
  Played played;
  const Status late = Describe(*played.oracle, 0, 1, 0.01).status();
  EXPECT_EQ(late.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(late.message(), HasSubstr("tasks/slow.py: the reference did not finish within 0.01"));
  EXPECT_THAT(late.message(), HasSubstr("[sizes.cuda] in tasks/slow.toml"));
  EXPECT_THAT(late.message(), HasSubstr("--call-timeout"));
}

TEST(Oracle, FirstCallsMayTakeFiveMinutesByDefaultAndLessWhereCallsMay) {
  EXPECT_EQ(DescribeSeconds(Protocol().call_timeout_seconds), 300);
  EXPECT_EQ(DescribeSeconds(3), 96);
}

TEST(Oracle, OneThatIsKilledMostLikelyWantedMemory) {
  Played played;
  played.Die();
  const Status dead = Describe(*played.oracle, 0, 1, 5).status();
  EXPECT_EQ(dead.code(), StatusCode::kUnavailable);
  EXPECT_THAT(dead.message(), HasSubstr("tasks/slow.py: the oracle was killed by SIGKILL"));
  EXPECT_THAT(dead.message(), HasSubstr("want of memory; use smaller sizes ([sizes.cuda] in "));
}

TEST(Oracle, AKernelThatAssertsEndsTheProcessButNotTheJudgement) {
  Played played;
  EXPECT_FALSE(played.oracle->asserted());
  const nlohmann::json error = {{"kind", "device_assert"}, {"message", "x.py: CUDA error"}};
  EXPECT_TRUE(played.peer.Send({{"error", error}}).ok());
  EXPECT_EQ(played.oracle->Ask(to_oracle::Prepare{}).status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE(played.oracle->asserted());
}

TEST(Oracle, AReferenceThatRaisesIsToldWhatWouldHelp) {
  const auto told = [](const to_oracle::Request& request, const char* message) {
    Played played;
    const nlohmann::json error = {
        {"kind", "reference_error"}, {"op", OpOf(request)}, {"message", message}};
    EXPECT_TRUE(played.peer.Send({{"error", error}}).ok());
    return played.oracle->Ask(request).status().message();
  };
  const to_oracle::Describe describe;
  EXPECT_THAT(told(describe, "x.py:7: ValueError: no"), HasSubstr("no; the reference has to run"));
  EXPECT_THAT(told(describe, "x.py:7: RuntimeError: DefaultCPUAllocator: can't allocate memory"),
              HasSubstr("memory; use smaller sizes ([sizes.cuda] in tasks/slow.toml)"));
  EXPECT_EQ(told(to_oracle::Prepare{}, "x.py:7: TypeError: no"), "x.py:7: TypeError: no");
}

}  // namespace
}  // namespace davinci::judge
