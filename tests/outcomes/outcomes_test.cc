// Outcomes that a candidate earns by what it computes, or fails to compute, on the cpu target.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "davinci/base/clock.h"
#include "outcomes_fixture.h"
#include "workbench.h"

namespace davinci::outcomes {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::SizeIs;

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

TEST_F(Outcomes, SeveralLaunchesAreTimedWithTheSameWeights) {
  const auto module = [](std::string_view name) {
    return fmt::format(R"({}
class {}(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)

    def forward(self, x):
        return self.layer(x)
)",
                       kImports, name);
  };
  const std::string inputs =
      "\ndef get_inputs():\n    return [torch.randn(64, 64)]\n\ndef get_init_inputs():\n"
      "    return []\n";
  const Evaluation e = Judge(module("ModelNew"), module("Model") + inputs, "davinci");
  EXPECT_EQ(e.outcome, Outcome::kOk) << e.message;
  // A launch that does not start in time on a busy machine is left out.
  EXPECT_THAT(e.evidence["launches"], SizeIs(::testing::Ge(2u)))
      << "weights change while they are timed";
  const Evaluation screened = Judge(module("ModelNew"), module("Model") + inputs);
  EXPECT_EQ(screened.outcome, Outcome::kOk) << screened.message;
  EXPECT_FALSE(screened.evidence.contains("launches"));
}

// A process in two answers wrongly. Where the first launch is right, a later one is wrong in three
// of four cases; the next candidate of the task has the first launch's processes of the baseline.
TEST_F(Outcomes, AFailureOfALaterLaunchLeavesTheTaskAsItWas) {
  for (int i = 0; i < 6; ++i) {
    const Evaluation e = Judge(fmt::format(R"({}
import time

WRONG = time.time_ns() // 1000 % 2  # try {}


class ModelNew(nn.Module):
    def forward(self, x):
        return x * 2 + 1 + WRONG
)",
                                           kImports, i),
                               kReference, "davinci");
    EXPECT_NE(e.outcome, Outcome::kJudgeError) << e.message;
  }
  const Evaluation good = Judge(kGood, kReference, "davinci");
  EXPECT_EQ(good.outcome, Outcome::kOk) << good.message;
}

// Calls of this length are timed in pairs, each armed before its first call; in half of them the
// candidate's call comes first, and the baseline waits for its own.
TEST_F(Outcomes, ADeathInATimedCallLeavesTheTaskAsItWas) {
  const auto module = [](std::string_view name, int fatal) {
    return fmt::format(R"({}
import os

calls = 0


class {}(nn.Module):
    def forward(self, x):
        global calls
        calls += 1
        if calls == {}:
            os._exit(3)
        return x @ x
)",
                       kImports, name, fatal);
  };
  const std::string reference = module("Model", 0) +
                                "\ndef get_inputs():\n    return [torch.randn(512, 512)]\n\n"
                                "def get_init_inputs():\n    return []\n";
  // Seven calls are checks. How many follow depends on how steady the machine is: a judgement of
  // few pairs has hardly twenty.
  constexpr int kDeaths = 4;
  int deaths = 0;
  for (int fatal = 12; fatal < 64 && deaths < kDeaths; ++fatal) {
    const Evaluation e = Judge(module("ModelNew", fatal), reference, "davinci");
    if (e.outcome != Outcome::kRuntimeError) continue;
    ++deaths;
    const Evaluation next = Judge(module("ModelNew", -fatal), reference, "davinci");
    EXPECT_EQ(next.outcome, Outcome::kOk) << next.message;
  }
  EXPECT_EQ(deaths, kDeaths);
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

TEST_F(Outcomes, ARequestThatMakesNoSenseIsACompileError) {
  const Evaluation e = Judge(std::string(kImports) + R"(
from torch.utils.cpp_extension import load_inline
module = load_inline(name="no name; #", cpp_sources="int one() { return 1; }", functions=["one"])
class ModelNew(nn.Module):
    def forward(self, x):
        return x * 2 + 1
)");
  EXPECT_EQ(e.outcome, Outcome::kCompileError) << e.message;
  EXPECT_THAT(e.message, HasSubstr("must be a C identifier"));
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
  ExpectNoticed(e);
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
TEST_F(Outcomes, AnAbortIsARuntimeErrorNoticedAtOnce) {
  ExpectCrash("os.abort()", "abort() (SIGABRT)");
}

TEST_F(Outcomes, TheLastWordsOfAProcessAreQuoted) {
  const Evaluation e =
      Judge(Forward(R"(os.write(2, b"first\n\xfffree(): double free\n\n"); os.abort())"));
  EXPECT_EQ(e.outcome, Outcome::kRuntimeError);
  EXPECT_THAT(e.message, EndsWith("its last words: \xEF\xBF\xBD"
                                  "free(): double free"));
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
  EXPECT_THAT(e.message, HasSubstr("forward did not finish within 8 s"));
  ExpectNoticed(e, 10 * kCallTimeoutSeconds);
}

TEST_F(Outcomes, AnEndlessImportIsATimeout) {
  const Evaluation e = Judge(std::string(kImports) + kMark +
                             "\nwhile True: pass\nclass ModelNew(nn.Module): pass\n");
  EXPECT_EQ(e.outcome, Outcome::kTimeout);
  EXPECT_THAT(e.message, HasSubstr("loading the module did not finish"));
  ExpectNoticed(e, 10 * kLoadTimeoutSeconds);
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

TEST_F(Outcomes, ComplexNumbersAreJudgedByTheirParts) {
  const std::string reference = Reference("return torch.fft.fft(x + 0j) * 0.5");
  const auto judge = [&](std::string_view forward) { return Judge(Candidate(forward), reference); };
  const Evaluation right = judge("return torch.fft.fft(x.to(torch.complex64)) / 2");
  EXPECT_EQ(right.outcome, Outcome::kOk) << right.message;
  const Evaluation lazy = judge("return (torch.fft.fft(x + 0j).conj() * 0.5).conj()");
  EXPECT_EQ(lazy.outcome, Outcome::kOk) << "conjugated on reading: " << lazy.message;
  const Evaluation conjugate = judge("return torch.fft.fft(x + 0j).conj() * 0.5");
  EXPECT_EQ(conjugate.outcome, Outcome::kMismatch) << conjugate.message;
  const Evaluation parts = judge("return torch.view_as_real(torch.fft.fft(x + 0j) * 0.5)");
  EXPECT_EQ(parts.outcome, Outcome::kWrongShape) << parts.message;
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

TEST_F(Outcomes, WrongValuesOfWhichAFewComeAndGoAreAMismatch) {
  const Evaluation e = Judge(std::string(kImports) + R"(
class ModelNew(nn.Module):
    def forward(self, x):
        y = x * 2 + 1
        y.view(-1)[: 4000 + os.urandom(1)[0] % 30] += 1
        return y
)");
  EXPECT_EQ(e.outcome, Outcome::kMismatch) << e.message;
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
  judge::JudgePool judges(options, {});
  judge::JobFiles job;
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
  const auto request = judge::ReadRequest(job);
  ASSERT_TRUE(request.ok()) << request.status().ToString();
  auto evaluation = judges.Evaluate(*request, {});
  ASSERT_TRUE(evaluation.ok()) << evaluation.status().ToString();
  EXPECT_EQ(evaluation->outcome, Outcome::kTimeout) << evaluation->message;
  EXPECT_LT(watch.Seconds(), 20 * Slowness());
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

}  // namespace
}  // namespace davinci::outcomes
