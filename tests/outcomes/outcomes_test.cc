// Every outcome a candidate can earn on the cpu target, each followed by an innocent candidate that
// must not notice.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "davinci/base/clock.h"
#include "leaks.h"
#include "report.h"
#include "workbench.h"

namespace davinci {

// gtest prints outcomes by name.
void PrintTo(Outcome outcome, std::ostream* out) { *out << OutcomeName(outcome); }

namespace outcomes {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr double kNoticedWithinSeconds = 1.0;

// Prints the judge's clock right before something terrible, so that the time to notice it can be
// told.
constexpr char kMark[] = "print('mark', time.monotonic(), flush=True)";

class Outcomes : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    AdoptOrphans();
    files_before_ = NumOpenFiles();
    auto bench = Workbench::Create();
    ASSERT_TRUE(bench.ok()) << bench.status().ToString();
    bench_ = std::move(*bench);
    auto good = bench_->Judge(kGood);  // imports torch
    ASSERT_TRUE(good.ok())
        << good.status().ToString()
        << "\nThis test needs a Python with torch: DAVINCI_PYTHON, .venv or python3";
  }

  static void TearDownTestSuite() {
    if (!bench_) return;
    bench_->LetGo();
    EXPECT_THAT(Entries(bench_->scratch()), IsEmpty()) << "scratch folders are left";
    bench_->Close();
    std::vector<std::string> left = LiveDescendants();
    for (int i = 0; i < 20 && !left.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      left = LiveDescendants();
    }
    EXPECT_THAT(left, IsEmpty()) << "processes are left";
    bench_.reset();
    EXPECT_LE(NumOpenFiles(), files_before_) << "descriptors are left";
  }

  // After every test: nothing of it is left, and the next candidate is judged as if nothing had
  // happened.
  void TearDown() override {
    if (!bench_) return;
    auto good = bench_->Judge(kGood);
    ASSERT_TRUE(good.ok()) << good.status().ToString();
    EXPECT_EQ(good->outcome, Outcome::kOk) << good->message;
    bench_->Settle();
    EXPECT_THAT(Entries(bench_->scratch()), Each(StartsWith("davinci-session")))
        << "of a candidate nothing is left; what serves the next one may rest";
  }

  static Evaluation Judge(const std::string& candidate, std::string_view reference = kReference,
                          const std::string& protocol = "screening") {
    auto evaluation = bench_->Judge(candidate, reference, protocol);
    judged_at_ = MonotonicSeconds();
    EXPECT_TRUE(evaluation.ok()) << evaluation.status().ToString();
    if (!evaluation.ok()) return {};
    EXPECT_LE(evaluation->message.size(), 8192u) << "a message must be bounded";
    if (evaluation->outcome != Outcome::kOk) {
      EXPECT_FALSE(evaluation->speedup.has_value()) << "a failure has no speedup";
      EXPECT_FALSE(evaluation->message.empty());
    }
    return *std::move(evaluation);
  }

  // A module whose forward is `body`, indented by eight.
  static std::string Forward(std::string_view body) {
    return fmt::format(
        "{}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        {}\n        return x * "
        "2 + 1\n",
        kImports, body);
  }

  // Seconds from the mark that the candidate printed until the verdict was in our hands.
  static double SecondsToNotice(const Evaluation& evaluation) {
    const std::string said = evaluation.evidence.value("output_tail", "");
    const size_t at = said.rfind("mark ");
    if (at == std::string::npos) {
      ADD_FAILURE() << "the candidate said no mark: " << said;
      return 1e9;
    }
    return judged_at_ - std::atof(said.c_str() + at + 5);
  }

  static void ExpectCrash(const std::string& statement, const char* says) {
    const Evaluation e = Judge(Forward(fmt::format("{}; {}", kMark, statement)));
    EXPECT_EQ(e.outcome, Outcome::kRuntimeError) << e.message;
    EXPECT_THAT(e.message, HasSubstr(says));
    EXPECT_FALSE(e.correct.has_value());
    EXPECT_LT(SecondsToNotice(e), kNoticedWithinSeconds);
  }

  // The reference or the call is at fault: a Status, never an Evaluation.
  static Status BadInput(std::string_view reference, std::string_view candidate = kGood) {
    auto evaluation = bench_->Judge(candidate, reference);
    EXPECT_FALSE(evaluation.ok()) << "judged as " << OutcomeName(evaluation->outcome);
    return evaluation.status();
  }

  static std::unique_ptr<Workbench> bench_;
  static double judged_at_;
  static int files_before_;
};

std::unique_ptr<Workbench> Outcomes::bench_;
double Outcomes::judged_at_ = 0;
int Outcomes::files_before_ = 0;

// --- ok ---

TEST_F(Outcomes, ACorrectCandidateIsOkWithAnInterval) {
  const Evaluation e = Judge(kGood, kReference, "davinci");
  EXPECT_EQ(e.outcome, Outcome::kOk) << e.message;
  EXPECT_EQ(e.correct, true);
  ASSERT_TRUE(e.speedup.has_value());
  EXPECT_GT(e.speedup->median, 0);
  EXPECT_LE(e.speedup->low, e.speedup->median);
  EXPECT_GE(e.speedup->high, e.speedup->median);
  ASSERT_TRUE(e.candidate_time.has_value());
  EXPECT_GT(e.candidate_time->num_calls, 5);
}

// --- parse_error ---

TEST_F(Outcomes, ASyntaxErrorNamesTheLine) {
  const Evaluation e = Judge("import torch\n\nclass ModelNew(torch.nn.Module:\n    pass\n");
  EXPECT_EQ(e.outcome, Outcome::kParseError);
  EXPECT_THAT(e.message, AllOf(HasSubstr(":3"), HasSubstr("SyntaxError")));
}

TEST_F(Outcomes, AMissingEntryClassIsNamed) {
  const Evaluation e = Judge("import torch\n\nclass Model(torch.nn.Module):\n    pass\n");
  EXPECT_EQ(e.outcome, Outcome::kParseError);
  EXPECT_THAT(e.message, HasSubstr("ModelNew"));
}

TEST_F(Outcomes, AnEntryClassInACommentIsNone) {
  const Evaluation e = Judge("import torch\n# class ModelNew comes later\n");
  EXPECT_EQ(e.outcome, Outcome::kParseError);
  EXPECT_THAT(e.message, HasSubstr("class ModelNew"));
}

// --- compile_error ---

TEST_F(Outcomes, BrokenLoadInlineSourceIsACompileErrorWithTheLine) {
  const Evaluation e = Judge(std::string(kImports) + R"(
from torch.utils.cpp_extension import load_inline
SOURCE = """
#include <torch/extension.h>
torch::Tensor twice(torch::Tensor x) {
  return x * undeclared_name;
}
"""
module = load_inline(name="broken", cpp_sources=[SOURCE], functions=["twice"])

class ModelNew(nn.Module):
    def forward(self, x):
        return module.twice(x)
)");
  EXPECT_EQ(e.outcome, Outcome::kCompileError) << e.message;
  EXPECT_THAT(e.message, HasSubstr("undeclared_name"));
}

TEST_F(Outcomes, BrokenPlainCppIsACompileErrorWithTheLine) {
  const Evaluation e = Judge(std::string(kImports) + R"(
import davinci_runtime as dv
kernel = dv.cpp_module('extern "C" void f(float* x) { missing_semicolon }').get("f", "ptr")

class ModelNew(nn.Module):
    def forward(self, x):
        return x * 2 + 1
)");
  EXPECT_EQ(e.outcome, Outcome::kCompileError) << e.message;
  EXPECT_THAT(e.message, HasSubstr("missing_semicolon"));
}

// --- load_error ---

TEST_F(Outcomes, AnExceptionAtImportIsALoadErrorWithTheLine) {
  const Evaluation e =
      Judge("import torch\nraise RuntimeError('no luck')\nclass ModelNew(torch.nn.Module): pass\n");
  EXPECT_EQ(e.outcome, Outcome::kLoadError);
  EXPECT_THAT(e.message, AllOf(HasSubstr("no luck"), HasSubstr("line 2")));
}

TEST_F(Outcomes, AnExceptionInTheConstructorIsALoadError) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
    def forward(self, x):
        return x * 2 + 1
)");
  EXPECT_EQ(e.outcome, Outcome::kLoadError);
  EXPECT_THAT(e.message, HasSubstr("size"));
}

TEST_F(Outcomes, ACrashAtImportIsALoadErrorNoticedAtOnce) {
  const Evaluation e = Judge(std::string(kImports) + kMark +
                             "\nctypes.string_at(0)\nclass ModelNew(nn.Module): pass\n");
  EXPECT_EQ(e.outcome, Outcome::kLoadError);
  EXPECT_THAT(e.message, HasSubstr("SIGSEGV"));
  EXPECT_LT(SecondsToNotice(e), kNoticedWithinSeconds);
}

// --- runtime_error ---

TEST_F(Outcomes, AnExceptionInForwardIsARuntimeErrorWithTheLine) {
  const Evaluation e = Judge(Forward("raise ValueError('odd shape')"));
  EXPECT_EQ(e.outcome, Outcome::kRuntimeError);
  EXPECT_THAT(e.message, AllOf(HasSubstr("ValueError: odd shape"), HasSubstr("line ")));
  EXPECT_FALSE(e.correct.has_value());
}

TEST_F(Outcomes, SystemExitInForwardIsARuntimeError) {
  const Evaluation e = Judge(Forward("sys.exit(0)"));
  EXPECT_EQ(e.outcome, Outcome::kRuntimeError);
  EXPECT_THAT(e.message, HasSubstr("SystemExit"));
}

TEST_F(Outcomes, ASegmentationFaultIsARuntimeErrorNoticedAtOnce) {
  ExpectCrash("ctypes.string_at(0)", "SIGSEGV");
}
TEST_F(Outcomes, AnExitThatLooksLikeSuccessIsARuntimeErrorNoticedAtOnce) {
  ExpectCrash("os._exit(0)", "exited with code 0");
}
TEST_F(Outcomes, AnExitWithACodeIsARuntimeErrorNoticedAtOnce) {
  ExpectCrash("os._exit(5)", "exited with code 5");
}
// The first process of a namespace ignores its own SIGABRT, so libc ends it with another signal.
TEST_F(Outcomes, AnAbortIsARuntimeErrorNoticedAtOnce) {
  ExpectCrash("os.abort()", "was killed by SIG");
}

TEST_F(Outcomes, ACrashInTheLastTimedCallsIsSeenToo) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
    def forward(self, x):
        self.calls += 1
        if self.calls == 8:
            os._exit(0)
        return x * 2 + 1
)");
  EXPECT_EQ(e.outcome, Outcome::kRuntimeError) << e.message;
}

// --- timeout ---

TEST_F(Outcomes, AnEndlessForwardIsATimeout) {
  const Evaluation e = Judge(Forward(fmt::format("{}\n        while True: pass", kMark)));
  EXPECT_EQ(e.outcome, Outcome::kTimeout);
  EXPECT_THAT(e.message, HasSubstr("forward did not finish within 3 s"));
  EXPECT_LT(SecondsToNotice(e), kCallTimeoutSeconds + kNoticedWithinSeconds);
}

TEST_F(Outcomes, AnEndlessImportIsATimeout) {
  const Evaluation e = Judge(std::string(kImports) + kMark +
                             "\nwhile True: pass\nclass ModelNew(nn.Module): pass\n");
  EXPECT_EQ(e.outcome, Outcome::kTimeout);
  EXPECT_THAT(e.message, HasSubstr("loading the module did not finish"));
  EXPECT_LT(SecondsToNotice(e), kLoadTimeoutSeconds + kNoticedWithinSeconds);
}

// --- out_of_memory ---

TEST_F(Outcomes, TouchingMoreThanTheLimitIsOutOfMemory) {
  const Evaluation e = Judge(Forward("self.hoard = [torch.ones(1 << 26) for _ in range(64)]"));
  EXPECT_EQ(e.outcome, Outcome::kOutOfMemory) << e.message;
}

TEST_F(Outcomes, ATensorNobodyCanHoldIsOutOfMemory) {
  const Evaluation e = Judge(Forward("torch.empty(1 << 48)"));
  EXPECT_EQ(e.outcome, Outcome::kOutOfMemory) << e.message;
}

TEST_F(Outcomes, APythonMemoryErrorIsOutOfMemory) {
  const Evaluation e = Judge(Forward("bytearray(1 << 52)"));
  EXPECT_EQ(e.outcome, Outcome::kOutOfMemory) << e.message;
}

// --- wrong_shape, wrong_dtype ---

std::string Returning(std::string_view expression) {
  return fmt::format(
      "{}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        y = x * 2 + 1\n        "
      "return {}\n",
      kImports, expression);
}

TEST_F(Outcomes, ATransposedOutputIsAWrongShape) {
  const Evaluation e = Judge(Returning("y.t()"));
  EXPECT_EQ(e.outcome, Outcome::kWrongShape);
  EXPECT_THAT(e.message, AllOf(HasSubstr("64"), HasSubstr("128")));
  EXPECT_EQ(e.correct, false);
}

TEST_F(Outcomes, ATupleForATensorIsAWrongShape) {
  EXPECT_EQ(Judge(Returning("(y, y)")).outcome, Outcome::kWrongShape);
}

TEST_F(Outcomes, NothingForATensorIsAWrongShape) {
  EXPECT_EQ(Judge(Returning("None")).outcome, Outcome::kWrongShape);
}

TEST_F(Outcomes, ADoubleForAFloatIsAWrongDtype) {
  const Evaluation e = Judge(Returning("y.double()"));
  EXPECT_EQ(e.outcome, Outcome::kWrongDtype);
  EXPECT_THAT(e.message, AllOf(HasSubstr("f32"), HasSubstr("f64")));
  EXPECT_EQ(e.correct, false);
}

// --- mismatch, nondeterministic ---

TEST_F(Outcomes, AMismatchNamesTheFirstWrongValue) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class ModelNew(nn.Module):
    def forward(self, x):
        y = x * 2 + 1
        y[3, 5] = 1e6
        return y
)");
  EXPECT_EQ(e.outcome, Outcome::kMismatch) << e.message;
  EXPECT_THAT(e.message, AllOf(HasSubstr("1 of 8192"), HasSubstr("[3,5]"), HasSubstr("expected"),
                               HasSubstr("got 1000000")));
  EXPECT_EQ(e.correct, false);
}

TEST_F(Outcomes, NotANumberIsAMismatch) {
  const Evaluation e = Judge(Returning("y * float('nan')"));
  EXPECT_EQ(e.outcome, Outcome::kMismatch) << e.message;
}

TEST_F(Outcomes, OtherWrongValuesEachTimeAreNondeterministic) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class ModelNew(nn.Module):
    def forward(self, x):
        y = x * 2 + 1
        y.view(-1)[: 1 + int.from_bytes(os.urandom(2), "little") % 8000] += 1
        return y
)");
  EXPECT_EQ(e.outcome, Outcome::kNondeterministic) << e.message;
  EXPECT_EQ(e.correct, false);
}

// --- invalid_timing ---

TEST_F(Outcomes, AClockThatStandsStillIsInvalidTiming) {
  const Evaluation e = Judge(std::string(kImports) + R"(
time.perf_counter_ns = lambda: 0

class ModelNew(nn.Module):
    def forward(self, x):
        time.sleep(0.005)
        return x * 2 + 1
)");
  EXPECT_EQ(e.outcome, Outcome::kInvalidTiming) << e.message;
  EXPECT_EQ(e.evidence.value("rule", ""), "clock_agreement");
  EXPECT_EQ(e.correct, true) << "the answers were right, only the time is worthless";
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

// A reference with this forward; its inputs are `x` of 64 x 128 numbers.
std::string Reference(std::string_view forward) {
  return fmt::format(
      "import torch\nimport torch.nn as nn\n\nclass Model(nn.Module):\n    def forward(self, x):\n"
      "        {}\n\ndef get_inputs():\n    return [torch.randn(64, 128)]\n\n"
      "def get_init_inputs():\n    return []\n",
      forward);
}

std::string Candidate(std::string_view forward) {
  return fmt::format("{}\nclass ModelNew(nn.Module):\n    def forward(self, x):\n        {}\n",
                     kImports, forward);
}

TEST_F(Outcomes, ViewsOfSomethingLargerAreOutputs) {
  for (const char* forward : {"return torch.chunk(x * 2, 8, 1)", "return (x * 2).unbind(0)",
                              "return (x @ x.t()).diagonal()", "return (x * 2).t()[::7, 1::2]"}) {
    const Evaluation evaluation = Judge(Candidate(forward), Reference(forward));
    EXPECT_EQ(evaluation.outcome, Outcome::kOk) << forward << ": " << evaluation.message;
  }
}

TEST_F(Outcomes, AnOutputInTheMemoryOfAnInputIsAPolicyViolation) {
  const Evaluation evaluation =
      Judge(Candidate("return x.t()"), Reference("return x.t().contiguous()"));
  EXPECT_EQ(evaluation.outcome, Outcome::kPolicyViolation) << evaluation.message;
  EXPECT_EQ(evaluation.evidence.value("rule", ""), "shared_output");
  const Evaluation alike = Judge(Candidate("return x.t()"), Reference("return x.t()"));
  EXPECT_EQ(alike.outcome, Outcome::kOk) << alike.message;
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
                        "runner.Runner._op_profile = lambda *a: {'ok': {'operators': [{'op': 5, "
                        "'compute': True}], 'library_share': 'x'}}\n") +
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
  EXPECT_LT(SecondsToNotice(e), 1 + kNoticedWithinSeconds);
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

// --- launch_error: on this target only by its text, tests/gpu has the real ones ---

TEST_F(Outcomes, ARefusedLaunchIsALaunchError) {
  const Evaluation by_text =
      Judge(Forward("raise RuntimeError('CUDA error: invalid configuration argument')"));
  EXPECT_EQ(by_text.outcome, Outcome::kLaunchError) << by_text.message;
  EXPECT_THAT(by_text.message, HasSubstr("invalid configuration argument"));
  EXPECT_FALSE(by_text.correct.has_value());
  const Evaluation by_type = Judge(std::string(kImports) + R"(
class OutOfResources(Exception):
    pass

class ModelNew(nn.Module):
    def forward(self, x):
        raise OutOfResources("out of resource: shared memory, Required: 300000, Hardware limit: 232448")
)");
  EXPECT_EQ(by_type.outcome, Outcome::kLaunchError) << by_type.message;
  EXPECT_THAT(by_type.message, HasSubstr("shared memory"));
}

// --- timeout of a compilation ---

TEST_F(Outcomes, AnEndlessCompilationIsATimeout) {
  // A judge of its own with a small limit; templates and memory have other limits, so it is
  // arithmetic that keeps the compiler busy.
  judge::JudgeOptions options = bench_->options();
  options.compile_timeout_seconds = 3;
  auto judge = judge::Judge::Create(options);
  ASSERT_TRUE(judge.ok()) << judge.status().ToString();
  judge::Job job;
  job.reference_path = bench_->Write("task_endless.py", kReference);
  job.candidate_path = bench_->Write("candidate_endless.py", std::string(kImports) + R"(
import davinci_runtime as dv
SOURCE = "constexpr int F(int n) { int s = 0; for (int i = 0; i < 8000000; ++i) s ^= i * n; return s; }\n"
SOURCE += "".join(f"constexpr int v{i} = F({i});\n" for i in range(500))
kernel = dv.cpp_module(SOURCE + 'extern "C" void f(float* x) { x[0] = v1; }').get("f", "ptr")

class ModelNew(nn.Module):
    def forward(self, x):
        return x * 2 + 1
)");
  job.protocol = "screening";
  const Stopwatch watch;
  auto evaluation = (*judge)->Evaluate(job);
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().ToString();
  EXPECT_EQ(evaluation->outcome, Outcome::kTimeout) << evaluation->message;
  EXPECT_LT(watch.Seconds(), 20);
}

TEST_F(Outcomes, AStreamOfSmallCompilationsIsATimeout) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class ModelNew(nn.Module):
    def forward(self, x):
        hooks = sys.modules["davinci_worker.hooks"]
        while True:
            try:
                hooks.build({"kind": "library", "cpp_sources": ['extern "C" int F() { return 1; }']})
            except Exception:
                pass
)");
  EXPECT_EQ(e.outcome, Outcome::kTimeout) << e.message;
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
  int killed() const { return killed_; }

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
  const OracleKiller killer(1);
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
  const OracleKiller killer(2);
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

// --- bad input: ours to report, nobody's verdict ---

TEST_F(Outcomes, AReferenceThatRaisesIsBadInputWithItsLine) {
  const Status status = BadInput(
      "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return "
      "x.no_such_method()\n"
      "def get_inputs():\n    return [torch.rand(4)]\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), AllOf(HasSubstr(".py:4"), HasSubstr("no_such_method")));
}

TEST_F(Outcomes, AReferenceWithoutModelIsBadInput) {
  const Status status = BadInput("import torch\ndef get_inputs():\n    return []\n");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("no class Model"));
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
}  // namespace outcomes
}  // namespace davinci
