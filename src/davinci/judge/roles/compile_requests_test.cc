#include "davinci/judge/roles/compile_requests.h"

#include <gtest/gtest.h>

namespace davinci::judge {
namespace {

using nlohmann::json;

json Built(double seconds, bool cached = false) {
  return {{"ok", true}, {"path", "/x.so"},  {"stage", "full"},
          {"key", "k"}, {"cached", cached}, {"steps", {{{"seconds", seconds}}}}};
}

json Refused(const char* kind) {
  return {{"ok", false}, {"error", {{"kind", kind}, {"message", "no nvcc"}}}};
}

// Returns what becomes of a candidate's failure after its last compilation was answered like this.
Failure After(const json& outcome, const json& request) {
  CompileRequests requests([&](const json&) { return outcome; });
  (void)requests.Answer(request);
  return requests.Explained({Outcome::kCompileError, "said", {}});
}

TEST(CompileRequests, AreCountedAndLimited) {
  CompileRequests requests([](const json&) { return Built(0); });
  requests.set_limits({.seconds = 100, .requests = 2});
  EXPECT_TRUE(requests.Answer({}).at("ok").get<bool>());
  EXPECT_TRUE(requests.Answer({}).at("ok").get<bool>());
  EXPECT_EQ(requests.Answer({}).at("error").at("kind"), "timeout");
  EXPECT_EQ(requests.built().size(), 2u);
}

TEST(CompileRequests, SecondsOfCompilersAtWorkAreLimitedAndTheCacheIsFree) {
  CompileRequests requests([](const json& request) { return Built(60, request == "cached"); });
  requests.set_limits({.seconds = 100, .requests = 99});
  for (const char* one : {"cached", "cached", "new", "new"})
    EXPECT_TRUE(requests.Answer(one).at("ok").get<bool>()) << one;
  EXPECT_EQ(requests.Answer("cached").at("error").at("kind"), "timeout");
}

TEST(CompileRequests, AnotherCandidateBeginsAnew) {
  CompileRequests requests([](const json&) { return Built(60); });
  requests.set_limits({.seconds = 1, .requests = 1});
  (void)requests.Answer({});
  EXPECT_FALSE(requests.Answer({}).at("ok").get<bool>());
  requests.Forget();
  EXPECT_TRUE(requests.built().empty());
  EXPECT_EQ(requests.Explained({Outcome::kCompileError, "said", {}}).outcome,
            Outcome::kCompileError);
  EXPECT_TRUE(requests.Answer({}).at("ok").get<bool>());
}

TEST(CompileRequests, ExplainWhyACandidateCouldNotGoOn) {
  EXPECT_EQ(After(Refused("compile_error"), {}).outcome, Outcome::kCompileError);
  EXPECT_EQ(After(Refused("timeout"), {}).outcome, Outcome::kTimeout);
  EXPECT_EQ(After(Refused("service"), {}).outcome, Outcome::kJudgeError);
  // A missing C++ compiler is ours, a missing CUDA compiler the candidate's.
  EXPECT_EQ(After(Refused("unavailable"), {}).outcome, Outcome::kJudgeError);
  EXPECT_EQ(After(Refused("unavailable"), {{"with_cuda", true}}).outcome, Outcome::kCompileError);
  EXPECT_EQ(After(Refused("unavailable"), {{"kind", "cubin"}}).outcome, Outcome::kCompileError);
}

}  // namespace
}  // namespace davinci::judge
