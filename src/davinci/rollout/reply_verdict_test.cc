#include "davinci/rollout/reply_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/judge/service.h"

namespace davinci::rollout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Candidates with "f2(" are wrong; with "Forged", too, they break a rule. Right ones are faster
// than the baseline, but with "f3(" slower.
class Watching final : public judge::Judges {
 public:
  Result<Evaluation> Evaluate(const judge::EvaluationRequest& request,
                              const CancelToken&) override {
    candidates.push_back(request.candidate);
    const auto has = [&](const char* text) {
      return request.candidate.find(text) != std::string::npos;
    };
    Evaluation evaluation;
    if (captures_nothing && has("@replay")) {
      evaluation.outcome = Outcome::kRuntimeError;
      evaluation.message = "Cannot copy between CPU and CUDA tensors during CUDA graph capture";
      return evaluation;
    }
    if (has("f2(")) {
      evaluation.outcome = has("Forged") ? Outcome::kPolicyViolation : Outcome::kMismatch;
      return evaluation;
    }
    evaluation.outcome = Outcome::kOk;
    evaluation.correct = true;
    const double speedup = timed && has("f3(") ? 0.5 : 2.0;
    evaluation.speedup = Speedup{speedup, speedup, speedup, true, "eager", speedup, speedup};
    return evaluation;
  }
  std::string Identity() override { return "watching"; }

  bool timed = false;  // "f3(" is slow
  bool captures_nothing = false;
  std::vector<std::string> candidates;
};

std::string StepOf(const std::string& number, const std::string& of) {
  return "@kernel\ndef f" + number + "(x, o, N):\n    st(o, ld(x, N) * 2, N)\n\nt" + number +
         " = torch.empty_like(x)\nf" + number + "(" + of + ", t" + number + ")\n\n\n";
}

class ReplyVerdictTest : public ::testing::Test {
 protected:
  ReplyVerdictTest()
      : folder_(MakeTempDir("replies").value()),
        store_(store::RunStore::Create(folder_.path() / "run", {{"title", "test"}}).value()),
        prompts_(
            agent::PromptSet::Load(std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts").value()) {
    task_.id = "task";
    task_.brief.reply = ReplyForm::kDelta;
    task_.brief.reference = "import torch\n\n\nclass Model:\n    pass\n";
    task_.brief.plain.code =
        "class ModelNew(Model):\n    def forward(self, x):\n        t1 = x * 2\n"
        "        t2 = t1 * 3\n        t3 = t2 * 2\n        return t3\n";
  }

  // Judges `code` as the turn of a run.
  Result<Verdict> Judge(const std::string& code, CandidateFile* candidate,
                        UnitLog::Mode mode = UnitLog::Mode::kLive) {
    UnitLog log(store_.get(), mode);
    Lane lane("judge", 1);
    judge::LocalService service(&judge_, &lane, nullptr);
    Verdicts verdicts(&log, mode == UnitLog::Mode::kLive ? &service : nullptr);
    DAVINCI_RETURN_IF_ERROR(verdicts.BeginStep(1));
    StopFlag stop;
    StepContext context;
    context.log = &log;
    context.prompts = &prompts_;
    context.verdicts = &verdicts;
    context.stop = &stop;
    StepRun run(context, settings_, 1);
    const TurnId turn{{"task", 0, 0}, 1};
    TaskRun task{task_};
    DAVINCI_ASSIGN_OR_RETURN(*candidate,
                             run.CandidateOf(UnitOf(UnitKind::kGeneration, 1, turn), task_, code));
    return JudgeReply(run, task, turn, code, candidate);
  }

  const TempDir folder_;
  const std::unique_ptr<store::RunStore> store_;
  const agent::PromptSet prompts_;
  TaskInput task_;
  StepSettings settings_;
  Watching judge_;
};

const std::string kKernels = StepOf("1", "x") + StepOf("2", "t1") + StepOf("3", "t2");
const std::string kClass = "class ModelNew(Model):\n    def forward(self, x):\n        ...\n";

TEST_F(ReplyVerdictTest, RightKernelsStayWhereOneIsWrong) {
  CandidateFile candidate;
  const auto verdict = Judge(kKernels + kClass, &candidate);
  ASSERT_TRUE(verdict.ok()) << verdict.status().ToString();
  EXPECT_EQ(verdict->evaluation.outcome, Outcome::kOk);
  EXPECT_THAT(candidate.kernels.launched, ElementsAre("f1", "f3"));
  EXPECT_THAT(candidate.kernels.left_out,
              ElementsAre(agent::LeftOut{"f2", "with it the answer has other values"}));
  EXPECT_THAT(
      candidate.source,
      HasSubstr("        f1(x, t1)\n        t3 = torch.empty_like(x)\n        t2 = t1 * 3\n"));
  EXPECT_EQ(candidate.source, judge_.candidates.back());

  // A run that goes on, or is replayed, takes all of it from the journal.
  const size_t asked = judge_.candidates.size();
  for (const UnitLog::Mode mode : {UnitLog::Mode::kLive, UnitLog::Mode::kReplay}) {
    CandidateFile again;
    const auto known = Judge(kKernels + kClass, &again, mode);
    ASSERT_TRUE(known.ok()) << known.status().ToString();
    EXPECT_EQ(known->evaluation.outcome, Outcome::kOk);
    EXPECT_EQ(again.source, candidate.source);
  }
  EXPECT_EQ(judge_.candidates.size(), asked);
}

TEST_F(ReplyVerdictTest, SlowKernelsGoAfterWrongOnes) {
  judge_.timed = true;
  CandidateFile candidate;
  const auto verdict = Judge(kKernels + kClass, &candidate);
  ASSERT_TRUE(verdict.ok()) << verdict.status().ToString();
  EXPECT_EQ(verdict->evaluation.speedup->median, 2.0);
  EXPECT_THAT(candidate.kernels.launched, ElementsAre("f1"));
  EXPECT_THAT(candidate.kernels.left_out,
              ElementsAre(agent::LeftOut{"f2", "with it the answer has other values"},
                          agent::LeftOut{"f3", "the reply is faster without it"}));
}

TEST_F(ReplyVerdictTest, WhatAGraphCannotCaptureIsNotReplayed) {
  judge_.captures_nothing = true;
  CandidateFile candidate;
  const std::string replayed =
      "class ModelNew(Model):\n    @replay\n    def forward(self, x):\n        ...\n";
  const auto verdict = Judge(kKernels + replayed, &candidate);
  ASSERT_TRUE(verdict.ok()) << verdict.status().ToString();
  EXPECT_EQ(verdict->evaluation.outcome, Outcome::kOk);
  EXPECT_THAT(candidate.kernels.launched, ElementsAre("f1", "f3"));
  EXPECT_THAT(candidate.kernels.left_out,
              UnorderedElementsAre(agent::LeftOut{"@replay", "a graph cannot capture the call"},
                                   agent::LeftOut{"f2", "with it the answer has other values"}));
}

TEST_F(ReplyVerdictTest, SettingBoundsTheJudgements) {
  settings_.isolate = 0;
  CandidateFile candidate;
  const auto verdict = Judge(kKernels + kClass, &candidate);
  ASSERT_TRUE(verdict.ok()) << verdict.status().ToString();
  EXPECT_EQ(verdict->evaluation.outcome, Outcome::kMismatch);
  EXPECT_THAT(candidate.source, HasSubstr("f2("));
  EXPECT_EQ(judge_.candidates.size(), 1u);
  // The journal of such a run is replayed by one that would have asked.
  settings_.isolate = 8;
  const auto replayed = Judge(kKernels + kClass, &candidate, UnitLog::Mode::kReplay);
  ASSERT_TRUE(replayed.ok()) << replayed.status().ToString();
  EXPECT_EQ(replayed->evaluation.outcome, Outcome::kMismatch);
}

TEST_F(ReplyVerdictTest, BrokenRulesStand) {
  CandidateFile candidate;
  const auto verdict = Judge("Forged = 1\n\n\n" + kKernels + kClass, &candidate);
  ASSERT_TRUE(verdict.ok()) << verdict.status().ToString();
  EXPECT_EQ(verdict->evaluation.outcome, Outcome::kPolicyViolation);
  EXPECT_EQ(judge_.candidates.size(), 1u);
}

}  // namespace
}  // namespace davinci::rollout
