#include "davinci/judge/roles/shared_process.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::judge {
namespace {

constexpr const char* kKernel = R"(# a comment with import os
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n, other=0.0) * 2, mask=at < n)


class ModelNew(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.block = 1024

    def forward(self, x):
        out = torch.empty_like(x)
        kernel[(triton.cdiv(x.numel(), self.block),)](x, out, x.numel(), BLOCK=self.block)
        return out
)";

std::string With(const std::string& line) { return kKernel + line + "\n"; }

TEST(MayShareProcess, APlainTritonKernelMay) {
  EXPECT_TRUE(MayShareProcess(kKernel, nullptr));
  EXPECT_TRUE(MayShareProcess(With("SIZES = {'os': 1}"), nullptr));
  EXPECT_TRUE(MayShareProcess(With("if x.n <= y.n != z.n == 3: pass"), nullptr));
  EXPECT_TRUE(MayShareProcess(With("    BLOCK: tl.constexpr = 128,"), nullptr));
  EXPECT_TRUE(MayShareProcess(With("f, t = F.relu(x), r'it'"), nullptr)) << "names, no prefixes";
  EXPECT_FALSE(MayShareProcess("import torch\nclass ModelNew: pass\n", nullptr))
      << "no kernel, no reason";
}

TEST(MayShareProcess, WhatReachesBeyondItsModuleMayNot) {
  for (const char* line : {"import os",
                           "from torch.utils import cpp_extension",
                           "x = 1; import gc",
                           "y = __import__('gc')",
                           "torch.relu = torch.abs",
                           "nn.Module.forward = None",
                           "a, torch.relu = 1, 2",
                           "torch.relu: int = 3",
                           "torch.relu += 1",
                           "getattr(torch, 'relu')",
                           "torch.os.getpid()",
                           "torch._C._set_grad_enabled(True)",
                           "f'{x}'",
                           "rf'{x}'",
                           "(F\"{x}\")",
                           "Rt'{x}'",
                           "x.__class__",
                           "torch.backends.cuda.matmul.allow_tf32 = True",
                           "torch.set_num_threads(1)",
                           "triton.knobs.runtime.interpret",
                           "nn.Module.register_forward_hook",
                           "torch.cuda.empty_cache()",
                           "x.set_(y)",
                           "x.data_ptr()",
                           "from triton import runtime",
                           "import triton.runtime",
                           "exec('1')"})
    EXPECT_FALSE(MayShareProcess(With(line), nullptr)) << line;
}

TEST(MayShareProcess, NativeCodeOfTheHostMayNot) {
  EXPECT_FALSE(MayShareProcess(With("m = load_inline(name='m', cpp_sources='')"), nullptr));
  EXPECT_FALSE(MayShareProcess("import davinci_runtime as dv\nm = dv.cpp_module('')\n", nullptr));
  EXPECT_TRUE(MayShareProcess("import davinci_runtime as dv\nm = dv.cuda_module('')\n", nullptr));
}

// A delta reply stands for a file with imports and definitions of the prelude before the reply.
TEST(MayShareProcess, ThePreludeIsKnownAsItStands) {
  const Prelude* prelude = InstalledPrelude(std::string(DAVINCI_SOURCE_DIR) + "/python");
  ASSERT_NE(prelude, nullptr);
  EXPECT_EQ(InstalledPrelude("/nowhere"), nullptr);
  std::string imports, definitions;
  for (const Prelude::Piece& piece : prelude->imports()) imports += piece.text;
  for (const Prelude::Piece& piece : prelude->definitions()) definitions += "\n\n" + piece.text;
  const std::string reply = kKernel;
  EXPECT_TRUE(MayShareProcess(imports + definitions + reply, prelude));
  EXPECT_FALSE(MayShareProcess(imports + definitions + reply, nullptr));
  for (const char* line :
       {"driver.set_active(None)", "inspect.stack()", "    exec('1')", "direct.launch = None"}) {
    const std::string more = std::string(line) + "\n";
    EXPECT_FALSE(MayShareProcess(imports + definitions + more + reply, prelude)) << line;
  }
  EXPECT_FALSE(MayShareProcess(imports + "import os\n" + definitions + reply, prelude));
}

Evaluation From(int served, bool clean, Outcome outcome, double speedup = 0) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.provenance["process"] = {{"served", served}, {"clean", clean}};
  if (speedup > 0) evaluation.speedup = Speedup{speedup, speedup, speedup, true, "eager"};
  return evaluation;
}

TEST(WhyJudgedAlone, SuspiciousVerdictsOfAUsedProcessDoNotStand) {
  EXPECT_EQ(WhyJudgedAlone(Evaluation()), "");
  EXPECT_EQ(WhyJudgedAlone(From(0, false, Outcome::kRuntimeError)), "") << "it came first";
  EXPECT_EQ(WhyJudgedAlone(From(3, true, Outcome::kOk, 2)), "");
  EXPECT_EQ(WhyJudgedAlone(From(3, true, Outcome::kMismatch)), "");
  EXPECT_NE(WhyJudgedAlone(From(3, true, Outcome::kOk, 12)), "");
  EXPECT_NE(WhyJudgedAlone(From(3, false, Outcome::kOk, 2)), "");
  for (const Outcome outcome : {Outcome::kRuntimeError, Outcome::kTimeout, Outcome::kInvalidTiming,
                                Outcome::kPolicyViolation, Outcome::kNondeterministic})
    EXPECT_NE(WhyJudgedAlone(From(1, true, outcome)), "") << OutcomeName(outcome);
}

}  // namespace
}  // namespace davinci::judge
