#include "davinci/build/diagnostics.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::build {
namespace {

TEST(ParseErrors, UnderstandsEveryCompiler) {
  struct Case {
    const char* line;
    const char* file;
    int number;
    const char* message;
  };
  for (const Case& c :
       {Case{"cpp_sources:3:5: error: expected ';'", "cpp_sources", 3, "expected ';'"},
        Case{"cpp_sources[1]:7:10: fatal error: x.h: No such file or directory", "cpp_sources[1]",
             7, "x.h: No such file or directory"},
        Case{"cuda_sources(12): error: identifier \"foo\" is undefined", "cuda_sources", 12,
             "identifier \"foo\" is undefined"},
        Case{"ptxas error   : Entry function uses too much shared data", "", 0,
             " Entry function uses too much shared data"},
        Case{"main.o: in function `f': undefined reference to `g'", "", 0,
             "undefined reference to `g'"}}) {
    const auto errors = ParseErrors(c.line);
    ASSERT_EQ(errors.size(), 1u) << c.line;
    EXPECT_EQ(errors[0].file, c.file);
    EXPECT_EQ(errors[0].line, c.number);
    EXPECT_EQ(errors[0].message, c.message);
  }
}

TEST(ParseErrors, LeavesOutWarningsAndNotes) {
  EXPECT_TRUE(ParseErrors("a.cpp:1:1: warning: unused\na.cpp:1:1: note: here\n").empty());
}

TEST(ReadableErrors, StartsAtTheFirstErrorAndHidesScratchPaths) {
  const std::string text =
      ReadableErrors("a.cpp:1:1: warning: w\n\x1b[1m/tmp/job/main.cpp:2:1: error: bad\x1b[0m\n",
                     {"/tmp/job/"}, 4096);
  EXPECT_EQ(text, "main.cpp:2:1: error: bad");
}

TEST(ReadableErrors, IsBoundedValidUtf8WithBothEnds) {
  std::string huge = "x:1:1: error: first\n";
  for (int i = 0; i < 5000; ++i) huge += "noise ‘quoted’ \xff\n";
  huge += "the end";
  const std::string text = ReadableErrors(huge, {}, 4096);
  EXPECT_LE(text.size(), 4096u);
  EXPECT_TRUE(text.starts_with("x:1:1: error: first"));
  EXPECT_TRUE(text.ends_with("the end"));
  EXPECT_EQ(text.find('\xff'), std::string::npos);
  EXPECT_NE(text.find("bytes left out"), std::string::npos);
}

class BlameTest : public testing::Test {
 protected:
  Blame Of(const std::string& line) { return WhoIsToBlame(ParseErrors(line), context_); }
  BlameContext context_{.headers_are_real = false,
                        .is_cuda = false,
                        .uses_torch_names_unqualified = false,
                        .is_user_file = [](const std::string& f) { return f == "cpp_sources"; },
                        .torch_mentions =
                            [](const std::string& n) {
                              return n == "AT_FANCY_MACRO" || n == "Generator" || n == "idx" ||
                                     n == "tensor" || n == "fft" || n == "opmath_type";
                            }};
};

TEST_F(BlameTest, SyntaxIsTheSourcesFault) {
  EXPECT_EQ(Of("cpp_sources:3:5: error: expected ';' before 'return'"), Blame::kSource);
}
TEST_F(BlameTest, UnknownOwnNameIsTheSourcesFault) {
  EXPECT_EQ(Of("cpp_sources:3:5: error: 'my_scale' was not declared in this scope"),
            Blame::kSource);
}
TEST_F(BlameTest, UnknownTorchNameMayBeAGap) {
  EXPECT_EQ(Of("cpp_sources:3:5: error: 'Generator' is not a member of 'at'"), Blame::kUnsure);
  EXPECT_EQ(Of("cpp_sources:3:5: error: 'AT_FANCY_MACRO' was not declared in this scope"),
            Blame::kUnsure);
}
TEST_F(BlameTest, NamesInTorchNamespacesMayBeGapsOfSlimHeadersToo) {
  for (const bool real : {false, true}) {
    context_.headers_are_real = real;
    for (const char* line :
         {"cpp_sources:1:49: error: 'tensor' is not a member of 'torch'",
          "cpp_sources:1:49: error: 'torch::fft' has not been declared",
          "cpp_sources:1:9: error: 'opmath_type' in namespace 'at' does not name a template type"})
      EXPECT_EQ(Of(line), Blame::kUnsure) << line;
    EXPECT_EQ(Of("cpp_sources:1:49: error: 'sinus' is not a member of 'torch'"), Blame::kSource);
    EXPECT_EQ(Of("cpp_sources:7:2: error: #error \"torch is too old\""), Blame::kSource);
    EXPECT_EQ(Of("/usr/lib/gcc/x86_64-linux-gnu/12/include/avx512fintrin.h:335:1: error: inlining "
                 "failed in call to 'always_inline' '_mm512_set1_ps': target specific option "
                 "mismatch"),
              Blame::kSource);
  }
}
TEST_F(BlameTest, MissingMemberThatTorchDoesNotHaveIsTheSourcesFault) {
  EXPECT_EQ(Of("cpp_sources:2:5: error: 'class at::Tensor' has no member named 'frobnicate'"),
            Blame::kSource);
}
TEST_F(BlameTest, ErrorInsideACompatHeaderMayBeAGap) {
  EXPECT_EQ(Of("/c/include/davinci_torch/types.h:3:5: error: no matching function"),
            Blame::kUnsure);
}
TEST_F(BlameTest, RealTypesSettleTypeErrors) {
  const char* line = "cpp_sources:2:5: error: cannot convert 'at::Tensor' to 'float*'";
  EXPECT_EQ(Of(line), Blame::kUnsure);
  context_.headers_are_real = true;
  EXPECT_EQ(Of(line), Blame::kSource);
}
TEST_F(BlameTest, TypoInAKernelDoesNotCostAnotherNvccRun) {
  const char* line = "cpp_sources(3): error: identifier \"idx\" is undefined";
  EXPECT_EQ(Of(line), Blame::kUnsure);
  context_.is_cuda = true;
  EXPECT_EQ(Of(line), Blame::kSource);
}

std::string Missing(const char* output, const std::string& cuda_include = "") {
  return MissingHere(ParseErrors(output), cuda_include);
}

TEST(MissingHere, HeadersAndLibrariesOfCuda) {
  EXPECT_EQ(Missing("cuda_sources:2:10: fatal error: cufft.h: No such file or directory"),
            "cufft.h");
  EXPECT_EQ(Missing("cuda_sources(2): catastrophic error: cannot open source file \"cudnn.h\""),
            "cudnn.h");
  EXPECT_EQ(Missing("/usr/bin/ld: cannot find -lcusparse: No such file or directory"),
            "libcusparse");
  EXPECT_EQ(Missing("cuda_sources(7): error: identifier \"curand_init\" is undefined", "/nowhere"),
            "curand_kernel.h");
}
TEST(MissingHere, HeaderThatAHeaderOfTorchIncludes) {
  EXPECT_EQ(Missing("/t/include/ATen/cuda/X.h:5:10: fatal error: nvfoo.h: No such file"),
            "nvfoo.h");
}
TEST(MissingHere, TheSourcesOwnErrorsAreNot) {
  EXPECT_EQ(Missing("cuda_sources:2:10: fatal error: my_kernels.h: No such file or directory"), "");
  EXPECT_EQ(Missing("cuda_sources(3): error: identifier \"scael\" is undefined\n"
                    "cuda_sources(9): error: identifier \"curand_init\" is undefined"),
            "");
  EXPECT_EQ(Missing("/usr/bin/ld: cannot find -lmine: No such file or directory"), "");
}
TEST(MissingHere, AMistakenNameWhereTheHeaderIsThere) {
  auto folder = MakeTempDir("headers");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(WriteFileAtomic(folder->path() / "curand_kernel.h", "").ok());
  EXPECT_EQ(Missing("cuda_sources(7): error: identifier \"curand_initt\" is undefined",
                    folder->path().string()),
            "");
}

}  // namespace
}  // namespace davinci::build
