#include "davinci/judge/service.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "davinci/base/files.h"

namespace davinci::judge {
namespace {

void SleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

// Answers from a script, the last entry for ever; each answer waits until Open() was called.
class Scripted final : public Judges {
 public:
  explicit Scripted(std::vector<Result<Evaluation>> answers) : answers_(std::move(answers)) {}
  Result<Evaluation> Evaluate(const EvaluationRequest& request, const CancelToken&) override {
    const auto call = static_cast<size_t>(num_calls++);
    while (!open_) SleepMs(1);
    {
      std::lock_guard lock(mutex_);
      asked.push_back(request.candidate);
    }
    return answers_[std::min(call, answers_.size() - 1)];
  }
  std::string Identity() override { return "scripted"; }
  void Close() { open_ = false; }
  void Open() { open_ = true; }

  std::atomic<int> num_calls = 0;
  std::vector<std::string> asked;

 private:
  const std::vector<Result<Evaluation>> answers_;
  std::atomic<bool> open_ = true;
  std::mutex mutex_;  // guards asked
};

Evaluation Of(Outcome outcome, double spread = 1.01) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  if (outcome == Outcome::kOk)
    evaluation.speedup = Speedup{2, 2 / spread, 2 * spread, true, "eager"};
  return evaluation;
}

EvaluationRequest Asking(const std::string& candidate) {
  EvaluationRequest request;
  request.candidate = candidate;
  return request;
}

TEST(EvaluationRequest, TheHashIsOfWhatIsAskedNotOfHowItIsServed) {
  const EvaluationRequest request = Asking("a");
  EvaluationRequest same = request;
  same.order = 7;
  same.urgency = Urgency::kFinal;
  same.device = "GPU-1";
  same.candidate_path = "elsewhere.py";
  EXPECT_EQ(request.Hash(), same.Hash());
  std::vector<EvaluationRequest> others(5, request);
  others[0].candidate = "b";
  others[1].baseline = "compile";
  others[2].protocol = "screening";
  others[3].repetition = 1;
  others[4].target = Target::kCuda;
  for (const EvaluationRequest& other : others) EXPECT_NE(request.Hash(), other.Hash());
}

TEST(EvaluationRequest, CandidatesThatDifferInCommentsAreOneWhereTheProtocolLeavesThemOut) {
  EvaluationRequest numbered = Asking("# 0001\nx = 1  # one\n");
  EvaluationRequest other = Asking("# 0002\nx = 1\n");
  EXPECT_NE(numbered.Hash(), other.Hash());
  EXPECT_EQ(numbered.Text(), numbered.candidate);
  numbered.protocol = other.protocol = "staged";
  EXPECT_EQ(numbered.Hash(), other.Hash());
  EXPECT_EQ(numbered.Text(), "\nx = 1\n") << "what is hashed is what runs, on the same lines";
  other.candidate = "# 0002\nx = 2\n";
  EXPECT_NE(numbered.Hash(), other.Hash());
}

TEST(LocalService, OnlyWhatIsOursIsTriedAgainAndOnce) {
  Lane lane("judge", 1);
  Scripted recovers({Unavailable("died"), Of(Outcome::kOk)});
  auto reply = LocalService(&recovers, &lane, nullptr).Evaluate(Asking("a"));
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->attempts, 2);
  EXPECT_EQ(reply->evaluation.provenance.value("attempts", 1), 2);

  Scripted judge_errors({Of(Outcome::kJudgeError)});
  EXPECT_EQ(LocalService(&judge_errors, &lane, nullptr).Evaluate(Asking("a")).status().code(),
            StatusCode::kInternal);
  EXPECT_EQ(judge_errors.num_calls, kServiceAttempts);

  Scripted bad_task({InvalidArgument("no class Model")});
  EXPECT_EQ(LocalService(&bad_task, &lane, nullptr).Evaluate(Asking("a")).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(bad_task.num_calls, 1);
}

TEST(LocalService, IdenticalRequestsUnderWayAreJudgedOnce) {
  Lane lane("judge", 4);
  Scripted judges({Of(Outcome::kOk)});
  LocalService service(&judges, &lane, nullptr);
  judges.Close();
  std::atomic<int> judged = 0;
  std::atomic<int> taken_over = 0;
  std::atomic<int> told = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        EvaluationRequest request = Asking("a");
        request.on_judged = [&](const ServiceReply&) { ++told; };
        const auto reply = service.Evaluate(request);
        ASSERT_TRUE(reply.ok());
        // Who takes over finds that the one it waited for has been told.
        EXPECT_EQ(told, 1);
        ++(reply->source == ServiceReply::Source::kJudged ? judged : taken_over);
      });
    while (judges.num_calls == 0) SleepMs(1);
    SleepMs(20);  // the others come meanwhile; one that comes later is judged anew
    judges.Open();
  }
  EXPECT_EQ(judged + taken_over, 4);
  EXPECT_EQ(judges.num_calls, judged);
  EXPECT_EQ(judged, 1);
  EXPECT_EQ(lane.stats().num_served, 1) << "who waits for an identical request takes no place";
}

TEST(LocalService, AFailureIsNotTakenOver) {
  Lane lane("judge", 4);
  Scripted judges({Internal("1"), Internal("2"), Of(Outcome::kOk)});
  LocalService service(&judges, &lane, nullptr);
  judges.Close();
  std::atomic<int> num_ok = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&] { num_ok += service.Evaluate(Asking("a")).ok() ? 1 : 0; });
    while (judges.num_calls == 0) SleepMs(1);
    judges.Open();
  }
  EXPECT_EQ(num_ok, 1);
  EXPECT_EQ(judges.num_calls, 3);
}

TEST(LocalService, AfreshIsJudgedWhateverIsKnown) {
  auto folder = MakeTempDir("service");
  ASSERT_TRUE(folder.ok());
  auto cache = store::KvCache::Open(folder->path() / "cache.db");
  ASSERT_TRUE(cache.ok());
  Lane lane("judge", 1);
  Scripted judges({Of(Outcome::kMismatch)});
  LocalService service(&judges, &lane, cache->get());
  EvaluationRequest request = Asking("a");
  EXPECT_EQ(service.Evaluate(request)->source, ServiceReply::Source::kJudged);
  EXPECT_EQ(service.Evaluate(request)->source, ServiceReply::Source::kCache);
  request.afresh = true;
  EXPECT_EQ(service.Evaluate(request)->source, ServiceReply::Source::kJudged);
  EXPECT_EQ(judges.num_calls, 2);
}

TEST(LocalService, TheCacheKeepsWhatRepeatsAlone) {
  auto folder = MakeTempDir("service");
  ASSERT_TRUE(folder.ok());
  auto cache = store::KvCache::Open(folder->path() / "cache.db");
  ASSERT_TRUE(cache.ok());
  Lane lane("judge", 1);
  const auto is_kept = [&](const Evaluation& evaluation, const std::string& candidate) {
    Scripted judges({evaluation});
    LocalService service(&judges, &lane, cache->get());
    return service.Evaluate(Asking(candidate)).ok() &&
           service.Evaluate(Asking(candidate))->source == ServiceReply::Source::kCache;
  };
  EXPECT_TRUE(is_kept(Of(Outcome::kOk), "narrow"));
  EXPECT_FALSE(is_kept(Of(Outcome::kOk, 1.5), "wide"));
  EXPECT_TRUE(is_kept(Of(Outcome::kCompileError), "compile"));
  EXPECT_FALSE(is_kept(Of(Outcome::kTimeout), "timeout"));
  EXPECT_FALSE(is_kept(Of(Outcome::kNondeterministic), "race"));
}

TEST(LocalService, CancellationEndsTheWaitForAPlaceAndForAnIdenticalRequest) {
  Lane lane("judge", 1);
  Scripted judges({Of(Outcome::kOk)});
  LocalService service(&judges, &lane, nullptr);
  judges.Close();
  std::jthread first([&] { EXPECT_TRUE(service.Evaluate(Asking("a")).ok()); });
  while (judges.num_calls == 0) SleepMs(1);
  CancelSource stop;
  std::atomic<int> num_cancelled = 0;
  {
    std::vector<std::jthread> threads;
    for (const char* candidate : {"a", "b"})
      threads.emplace_back([&, candidate] {
        const auto reply = service.Evaluate(Asking(candidate), stop.get_token());
        num_cancelled += reply.status().code() == StatusCode::kCancelled ? 1 : 0;
      });
    SleepMs(20);
    stop.request_stop();
  }
  EXPECT_EQ(num_cancelled, 2);
  EXPECT_EQ(judges.num_calls, 1);
  judges.Open();
}

TEST(LocalService, TheMostUrgentIsServedFirst) {
  Lane lane("judge", 1);
  Scripted judges({Of(Outcome::kOk)});
  LocalService service(&judges, &lane, nullptr);
  judges.Close();
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { (void)service.Evaluate(Asking("first")); });
    while (judges.num_calls == 0) SleepMs(1);
    for (const auto& [name, urgency] :
         {std::pair{"new", Urgency::kNewWork}, std::pair{"final", Urgency::kFinal}})
      threads.emplace_back([&service, name = name, urgency = urgency] {
        EvaluationRequest request = Asking(name);
        request.urgency = urgency;
        (void)service.Evaluate(request);
      });
    while (lane.stats().longest_queue < 2) SleepMs(1);
    judges.Open();
  }
  EXPECT_EQ(judges.asked, (std::vector<std::string>{"first", "final", "new"}));
}

gpu::DeviceInfo FakeGpu(const std::string& name, const std::string& uuid) {
  gpu::DeviceInfo device;
  device.name = name;
  device.uuid = uuid;
  return device;
}

TEST(JudgeIdentity, IsThatOfTheDevicesThatJudge) {
  const gpu::DeviceInfo small = FakeGpu("Small GPU", "GPU-a");
  const gpu::DeviceInfo large = FakeGpu("Large GPU", "GPU-b");
  const gpu::DeviceInfo twin = FakeGpu("Small GPU", "GPU-c");
  const auto identity = [](const std::vector<gpu::DeviceInfo>& judging) {
    JudgeVersions versions;
    versions.device = DeviceVersion(judging);
    return JudgeIdentityOf(versions);
  };
  EXPECT_NE(identity({small}), identity({large}));
  EXPECT_NE(identity({small}), identity({small, large}));
  EXPECT_EQ(identity({small, large}), identity({large, small}));
  EXPECT_EQ(identity({small}), identity({twin})) << "of one kind";
  EXPECT_EQ(identity({small, twin}), identity({small}));
}

}  // namespace
}  // namespace davinci::judge
