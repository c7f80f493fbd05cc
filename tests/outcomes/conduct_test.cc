// Rules of conduct, and what breaking them comes to: outputs, inputs, clocks, descriptors,
// processes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "outcomes_fixture.h"
#include "workbench.h"

namespace davinci::outcomes {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;

// --- invalid_timing ---

TEST_F(Outcomes, AClockThatStandsStillIsInvalidTiming) {
  const Evaluation e = Judge(std::string(kImports) + R"(
time.perf_counter_ns = lambda: 0

class ModelNew(nn.Module):
    def forward(self, x):
        time.sleep(0.005)
        return x * 2 + 1
)");
  // Beside other work the clocks of an honest process may differ as much: then ours counts.
  if (e.outcome == Outcome::kOk) {
    ASSERT_TRUE(e.candidate_time.has_value());
    EXPECT_GT(e.candidate_time->median_ms, 4.9);
  } else {
    EXPECT_EQ(e.outcome, Outcome::kInvalidTiming) << e.message;
    EXPECT_EQ(e.evidence.value("rule", ""), "clock_agreement");
  }
  EXPECT_EQ(e.correct, true) << "the answers were right, only the time is worthless";
}

// It spends three milliseconds when its last output is let go, between two calls.
TEST_F(Outcomes, WorkBetweenCallsIsCharged) {
  const Evaluation e = Judge(fmt::format(R"({}
import weakref

def work():
    until = time.thread_time() + 3e-3
    while time.thread_time() < until:
        pass

class ModelNew(nn.Module):
    def forward(self, x):
        y = x * 2 + 1
        weakref.finalize(y, work)
        return y
)",
                                         kImports));
  ASSERT_EQ(e.outcome, Outcome::kOk) << e.message;
  EXPECT_THAT(e.labels, Contains(HasSubstr("work between calls")));
  EXPECT_GT(e.evidence["clocks"].value("arm_charged_ms", 0.0), 2);
  // Three milliseconds of processor time count like as much in forward, on a busy machine too.
  ASSERT_TRUE(e.candidate_time.has_value());
  EXPECT_GT(e.candidate_time->median_ms, 2);
  EXPECT_LT(e.speedup.value().low, 1);
  EXPECT_FALSE(e.speedup.value().significant && e.speedup.value().median > 1);
}

TEST_F(Outcomes, ManyThreadsThatSleepAreNoWorkBetweenCalls) {
  const std::string candidate = fmt::format(R"({}
import threading
for _ in range(100):
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

class ModelNew(nn.Module):
    def forward(self, x):
        return x * 2 + 1
)",
                                            kImports);
  // Waking and stopping them costs a fraction of a millisecond to several, which the judge causes:
  // that is measured, and no reason to refuse a candidate. Beside other work requests without the
  // threads can have waited longer: then nothing is seen, and it is measured again.
  double wall_ms = 0;
  for (int times = 0; times < 3 && wall_ms == 0; ++times) {
    const Evaluation e = Judge(candidate);
    EXPECT_EQ(e.outcome, Outcome::kOk) << e.message;
    EXPECT_GE(e.evidence["waking"].value("threads", 0), 90);
    wall_ms = e.evidence["waking"].value("wall_ms", 0.0);
  }
  EXPECT_GT(wall_ms, 0);
}

// --- policy_violation ---

TEST_F(Outcomes, ChangingAnInputIsAPolicyViolation) {
  const Evaluation e = Judge(Returning("x.mul_(2).add_(1)"));
  EXPECT_EQ(e.outcome, Outcome::kPolicyViolation) << e.message;
  EXPECT_EQ(e.evidence.value("rule", ""), "input_mutation");
}

TEST_F(Outcomes, ATensorSubclassIsAPolicyViolation) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class Agreeable(torch.Tensor):
    pass

class ModelNew(nn.Module):
    def forward(self, x):
        return (x * 2 + 1).as_subclass(Agreeable)
)");
  EXPECT_EQ(e.outcome, Outcome::kPolicyViolation) << e.message;
}

TEST_F(Outcomes, ViewsOfSomethingLargerAreOutputs) {
  for (const char* forward : {"return torch.chunk(x * 2, 8, 1)", "return (x * 2).unbind(0)",
                              "return (x @ x.t()).diagonal()", "return (x * 2).t()[::7, 1::2]"}) {
    const Evaluation evaluation = Judge(Candidate(forward), Reference(forward));
    EXPECT_EQ(evaluation.outcome, Outcome::kOk) << forward << ": " << evaluation.message;
  }
}

TEST_F(Outcomes, AnOutputInTheMemoryOfAnInputIsAPolicyViolation) {
  const Evaluation evaluation = Judge(Candidate("return x[:]"), Reference("return x[:].clone()"));
  EXPECT_EQ(evaluation.outcome, Outcome::kPolicyViolation) << evaluation.message;
  EXPECT_EQ(evaluation.evidence.value("rule", ""), "shared_output");
  // What the reference returns in order is brought into order, and then it is the candidate's own.
  const Evaluation strided =
      Judge(Candidate("return x.t()"), Reference("return x.t().contiguous()"));
  EXPECT_EQ(strided.outcome, Outcome::kOk) << strided.message;
  const Evaluation alike = Judge(Candidate("return x.t()"), Reference("return x.t()"));
  EXPECT_EQ(alike.outcome, Outcome::kOk) << alike.message;
}

// Where freed tensors do not join, some processes move through several holes of the heap and others
// do not, for as long as they live: 2.4 and 1.7 ms for the same calls (worker/fork_server.cc).
TEST_F(Outcomes, ACallGetsTheSameMemoryEveryTime) {
  const char forward[] = "return x.repeat(16, 8).t().contiguous() + 1";
  for (int i = 0; i < 3; ++i) {
    const Evaluation evaluation = Judge(
        Candidate(
            "y = x.repeat(16, 8).t().contiguous() + 1\n"
            "        self.seen = getattr(self, 'seen', []) + [y.data_ptr()]\n"
            "        last = len(set(self.seen[-8:]))\n"
            "        if len(self.seen) > 20 and last > 2: raise RuntimeError(f'{last} places')\n"
            "        return y"),
        Reference(forward), "davinci");
    EXPECT_EQ(evaluation.outcome, Outcome::kOk) << evaluation.message;
  }
}

TEST_F(Outcomes, WhoGoesOnFromItsLastOutputIsWrong) {
  const Evaluation evaluation =
      Judge(Candidate("if not hasattr(self, 'y'): self.y = torch.zeros(64, 128)\n"
                      "        self.y[:, 0] = x[:, 0]\n        return self.y"),
            Reference("y = torch.zeros_like(x)\n        y[:, 0] = x[:, 0]\n        return y"));
  EXPECT_THAT(evaluation.outcome, AnyOf(Outcome::kMismatch, Outcome::kNondeterministic))
      << evaluation.message;
  EXPECT_THAT(evaluation.message, HasSubstr("overwritten"));
}

TEST_F(Outcomes, AReferenceMayReturnWhatIsItsOwn) {
  const char forward[] =
      "if not hasattr(self, 'w'): self.w = torch.ones(64, 128)\n        return self.w";
  const Evaluation evaluation = Judge(Candidate(forward), Reference(forward));
  EXPECT_EQ(evaluation.outcome, Outcome::kOk) << evaluation.message;
}

TEST_F(Outcomes, AReplyOfAnotherTypeEndsOnlyItsCandidate) {
  const Evaluation evaluation =
      Judge(std::string("from davinci_worker import runner\n"
                        "honest = runner.Runner.reply\n"
                        "def reply(self, message, fds):\n"
                        "    if message['op'] != 'profile': return honest(self, message, fds)\n"
                        "    return {'ok': {'operators': [{'op': 5, 'compute': True}],\n"
                        "                   'library_share': 'x'}}\n"
                        "runner.Runner.reply = reply\n") +
            kGood);
  EXPECT_EQ(evaluation.outcome, Outcome::kOk) << evaluation.message;
}

TEST_F(Outcomes, StressInputsOutsideTheReferencesDomainAreMilder) {
  const char forward[] = "return torch.linalg.cholesky(x @ x.t() + 200 * torch.eye(64))";
  const Evaluation evaluation = Judge(Candidate(forward), Reference(forward));
  EXPECT_EQ(evaluation.outcome, Outcome::kOk) << evaluation.message;
}

TEST_F(Outcomes, AReferenceThatKeepsStateIsBadInput) {
  const auto evaluation =
      bench_->Judge(Candidate("return x"),
                    Reference("self.n = getattr(self, 'n', 0) + 1\n        return x * self.n"));
  ASSERT_FALSE(evaluation.ok());
  EXPECT_THAT(evaluation.status().message(), HasSubstr("state from call to call"));
}

TEST_F(Outcomes, WritingToEveryDescriptorIsAPolicyViolation) {
  const Evaluation e = Judge(Forward(R"(
        for fd in range(3, 64):
            try:
                os.write(fd, b"done " * 8)
            except OSError:
                pass)"));
  EXPECT_EQ(e.outcome, Outcome::kPolicyViolation) << e.message;
  EXPECT_EQ(e.evidence.value("rule", ""), "control_channel");
}

// A process that cannot speak any more is given a second to die, because most do.
TEST_F(Outcomes, ClosingEveryDescriptorIsNoticedLongBeforeTheTimeout) {
  const Evaluation e = Judge(Forward(fmt::format("{}; os.closerange(3, 64)", kMark)));
  EXPECT_THAT(e.outcome, AnyOf(Outcome::kPolicyViolation, Outcome::kRuntimeError)) << e.message;
  ExpectNoticed(e, 1);
}

TEST_F(Outcomes, AHelperProcessIsRefused) {
  const Evaluation e = Judge(std::string(kImports) + R"(
if os.fork() == 0:
    time.sleep(600)

class ModelNew(nn.Module):
    def forward(self, x):
        return x * 2 + 1
)");
  EXPECT_THAT(e.outcome, AnyOf(Outcome::kLoadError, Outcome::kPolicyViolation)) << e.message;
}

// --- what does not end an evaluation ---

TEST_F(Outcomes, AFloodedStdoutIsBoundedAndHarmless) {
  const Evaluation e = Judge(Forward("sys.stdout.write('x' * 2000000); sys.stdout.flush()"));
  EXPECT_EQ(e.outcome, Outcome::kOk) << e.message;
  EXPECT_LT(ToJson(e).dump().size(), 100'000u);
}

TEST_F(Outcomes, SignalsToEverybodyReachNobodyElse) {
  const Evaluation e = Judge(Forward(R"(
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
            try:
                os.kill(-1, number)
            except OSError:
                pass)"));
  EXPECT_THAT(e.outcome, AnyOf(Outcome::kOk, Outcome::kRuntimeError, Outcome::kPolicyViolation))
      << e.message;
}

// --- a wrong answer in a timed call is a wrong answer ---

TEST_F(Outcomes, AWrongShapeInATimedCallIsNotCorrect) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        y = x * 2 + 1
        return y if self.calls < 6 else y[1:]
)");
  EXPECT_EQ(e.outcome, Outcome::kWrongShape) << e.message;
  EXPECT_EQ(e.correct, false);
}

}  // namespace
}  // namespace davinci::outcomes
