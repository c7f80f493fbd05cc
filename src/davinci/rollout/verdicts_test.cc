#include "davinci/rollout/verdicts.h"

#include <gtest/gtest.h>

#include <set>

#include "davinci/base/files.h"
#include "davinci/judge/service.h"

namespace davinci::rollout {
namespace {

class Counting final : public judge::Judges {
 public:
  explicit Counting(std::string identity) : identity_(std::move(identity)) {}
  Result<Evaluation> Evaluate(const judge::EvaluationRequest& request,
                              const CancelToken&) override {
    ++calls;
    Evaluation evaluation;
    evaluation.outcome = Outcome::kOk;
    evaluation.correct = true;
    evaluation.speedup = Speedup{2, 1.98, 2.02, true, request.baseline};
    return evaluation;
  }
  std::string Identity() override { return identity_; }

  int calls = 0;

 private:
  const std::string identity_;
};

// Judges one kernel in a run of its own; whether the evaluator was asked.
bool IsJudged(const std::string& identity, const judge::EvaluationRequest& request,
              store::KvCache* cache) {
  static int runs = 0;
  auto folder = MakeTempDir("verdicts");
  EXPECT_TRUE(folder.ok());
  auto run = store::RunStore::Create(folder->path() / std::to_string(++runs), {{"title", "test"}});
  EXPECT_TRUE(run.ok());
  UnitLog log(run->get(), UnitLog::Mode::kLive);
  Lane lane("judge", 1);
  Counting evaluator(identity);
  judge::LocalService service(&evaluator, &lane, cache);
  Verdicts verdicts(&log, &service);
  const UnitId id = UnitOf(UnitKind::kJudgement, 1, TurnId{{"task", 0, 0}, 1});
  EXPECT_TRUE(verdicts.BeginStep(1).ok());
  const auto verdict = verdicts.Judge(id, request, CancelToken());
  EXPECT_TRUE(verdict.ok()) << verdict.status().ToString();
  EXPECT_EQ(verdict->judged_before, evaluator.calls == 0);
  return evaluator.calls > 0;
}

TEST(VerdictCache, ServesTheSameJudgeAlone) {
  auto folder = MakeTempDir("verdicts");
  ASSERT_TRUE(folder.ok());
  auto cache = store::KvCache::Open(folder->path() / "verdicts.db");
  ASSERT_TRUE(cache.ok());
  const judge::JudgeVersions versions{"judge 1", "torch 2.13 triton 3.6", "580.65 13000",
                                      "H200 16"};
  judge::EvaluationRequest question;
  question.candidate = "class ModelNew: ...";
  EXPECT_TRUE(IsJudged(judge::JudgeIdentityOf(versions), question, cache->get()));
  EXPECT_FALSE(IsJudged(judge::JudgeIdentityOf(versions), question, cache->get()));
  judge::JudgeVersions others[] = {versions, versions, versions, versions};
  others[0].judge = "judge 2";
  others[1].libraries = "torch 2.14 triton 3.6";
  others[2].driver = "590.10 13010";
  others[3].device = "H100 16";
  std::set<std::string> identities;
  for (const judge::JudgeVersions& other : others) {
    EXPECT_TRUE(IsJudged(judge::JudgeIdentityOf(other), question, cache->get()));
    identities.insert(judge::JudgeIdentityOf(other));
  }
  EXPECT_EQ(identities.size(), 4u);
  judge::EvaluationRequest compiled = question;
  compiled.baseline = "eager,compile";
  EXPECT_TRUE(IsJudged(judge::JudgeIdentityOf(versions), compiled, cache->get()));
}

// Fields do not run into one another.
TEST(VerdictCache, WhatMovesFromOneFieldToTheNextIsAnotherJudge) {
  EXPECT_NE(judge::JudgeIdentityOf({"a", "bc", "", ""}),
            judge::JudgeIdentityOf({"ab", "c", "", ""}));
  EXPECT_NE(judge::JudgeIdentityOf({"a", "", "b", ""}), judge::JudgeIdentityOf({"a", "b", "", ""}));
}

}  // namespace
}  // namespace davinci::rollout
