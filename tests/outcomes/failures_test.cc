// Failures that are no verdict: ours, which is tried again, and bad input.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "davinci/base/clock.h"
#include "leaks.h"
#include "outcomes_fixture.h"
#include "report.h"
#include "workbench.h"

namespace davinci::outcomes {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// --- judge_error: our failure is tried again, then reported as ours ---

// Kills oracles, `most` of them, as soon as they show up. Those that are there already are left
// alone: they wait for the next candidate of another test's task.
class OracleKiller {
 public:
  explicit OracleKiller(int most)
      : seen_(Oracles()), thread_([this, most](std::stop_token stop) {
          while (!stop.stop_requested() && killed_ < most) {
            for (const int pid : Oracles())
              if (killed_ < most && seen_.insert(pid).second && kill(pid, SIGKILL) == 0) ++killed_;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
          }
        }) {}
  // How many it killed; no further one from now on. A judgement may end between a kill and its
  // count.
  int killed() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    return killed_;
  }

 private:
  static std::set<int> Oracles() {
    const std::vector<int> pids = DescendantsIn("oracle");
    return {pids.begin(), pids.end()};
  }

  std::set<int> seen_;
  std::atomic<int> killed_{0};
  std::jthread thread_;
};

TEST_F(Outcomes, AnOracleThatIsKilledIsReplacedOnce) {
  bench_->LetGo();  // an oracle at rest would be killed in its sleep, and replaced without a word
  OracleKiller killer(1);
  const Evaluation e = Judge(kGood, std::string(kReference) + "# killed once\n");
  EXPECT_EQ(killer.killed(), 1);
  EXPECT_EQ(e.outcome, Outcome::kOk) << e.message;
  EXPECT_EQ(e.provenance.value("attempts", 1), 2);
}

TEST_F(Outcomes, AnOracleThatDiesBetweenCandidatesIsReplacedUnseen) {
  EXPECT_EQ(Judge(kGood).outcome, Outcome::kOk);
  for (const int pid : DescendantsIn("oracle")) kill(pid, SIGKILL);
  const Evaluation e = Judge(kGood);
  EXPECT_EQ(e.outcome, Outcome::kOk) << e.message;
}

TEST_F(Outcomes, AnOracleThatIsKilledTwiceIsOurFailure) {
  bench_->LetGo();
  OracleKiller killer(2);
  auto evaluation = bench_->Judge(kGood, std::string(kReference) + "# killed twice\n");
  EXPECT_EQ(killer.killed(), 2);
  ASSERT_FALSE(evaluation.ok()) << OutcomeName(evaluation->outcome);
  EXPECT_EQ(evaluation.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(evaluation.status().message(), HasSubstr("oracle"));
  const Evaluation as_value = app::FailedEvaluation(evaluation.status());
  EXPECT_EQ(as_value.outcome, Outcome::kJudgeError);
  EXPECT_FALSE(as_value.correct.has_value());
  EXPECT_EQ(as_value.evidence["kind"], "internal");
}

// --- bad input: ours to report, no verdict ---

TEST_F(Outcomes, AReferenceThatRaisesIsBadInputWithItsLine) {
  const Status status = BadInput(
      "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return "
      "x.no_such_method()\n"
      "def get_inputs():\n    return [torch.rand(4)]\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(".py:4"), HasSubstr("no_such_method")));
}

TEST_F(Outcomes, AReferenceWhoseImportDoesNotEndIsBadInput) {
  const double started = MonotonicSeconds();
  const Status status = BadInput(Reference("return x * 2 + 1") + "\nwhile True: pass\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("importing the reference did not finish within 8 s"));
  EXPECT_LT(MonotonicSeconds() - started, 10 * kLoadTimeoutSeconds);
}

TEST_F(Outcomes, AReferenceWithoutModelIsBadInput) {
  const Status status = BadInput("import torch\ndef get_inputs():\n    return []\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("no class Model"));
}

TEST_F(Outcomes, AReferenceMayNameItsModelByAssignment) {
  std::string reference = Reference("return x * 2 + 1") + "\nModel = Net\n";
  reference.replace(reference.find("class Model"), 11, "class Net");
  const Evaluation e = Judge(kGood, reference);
  EXPECT_EQ(e.outcome, Outcome::kOk) << e.message;
}

TEST_F(Outcomes, InputsThatAreNoListAreBadInput) {
  const Status status =
      BadInput(Reference("return x * 2 + 1") + "\ndef get_inputs():\n    return 4\n");
  EXPECT_THAT(status.message(), HasSubstr("it returned int"));
}

TEST_F(Outcomes, AReferenceThatExitsIsBadInputWithItsLine) {
  const Status status = BadInput(Reference("raise SystemExit(3)"));
  EXPECT_THAT(status.message(), AllOf(HasSubstr(":6"), HasSubstr("SystemExit")));
}

TEST_F(Outcomes, AReferenceWithASyntaxErrorIsBadInputWithItsLine) {
  const Status status =
      BadInput("import torch\nclass Model(torch.nn.Module:\n    pass\ndef get_inputs(): pass\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(".py:2"));
}

TEST_F(Outcomes, AReferenceThatCrashesIsNotTheCandidatesFault) {
  const Status status = BadInput(
      "import ctypes, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        "
      "ctypes.string_at(0)\n"
      "def get_inputs():\n    return [torch.rand(4)]\n");
  EXPECT_THAT(status.message(), HasSubstr("SIGSEGV"));
}

TEST_F(Outcomes, MissingFilesAreNotFoundByName) {
  const std::string task = bench_->Write("present_task.py", kReference);
  const std::string candidate = bench_->Write("present_candidate.py", kGood);
  const Status no_reference = bench_->JudgeFiles(task + ".gone", candidate).status();
  EXPECT_EQ(no_reference.code(), StatusCode::kNotFound);
  EXPECT_THAT(no_reference.message(), HasSubstr("present_task.py.gone"));
  const Status no_candidate = bench_->JudgeFiles(task, candidate + ".gone").status();
  EXPECT_EQ(no_candidate.code(), StatusCode::kNotFound);
  EXPECT_THAT(no_candidate.message(), HasSubstr("present_candidate.py.gone"));
}

}  // namespace
}  // namespace davinci::outcomes
