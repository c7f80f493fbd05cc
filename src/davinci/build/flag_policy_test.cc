#include "davinci/build/flag_policy.h"

#include <gtest/gtest.h>

namespace davinci::build {
namespace {

using Flags = std::vector<std::string>;
const std::vector<std::filesystem::path> kDirs = {"/usr/include"};

bool Accepted(FlagTarget target, const Flags& flags) {
  return std::holds_alternative<Flags>(CheckFlags(target, flags, kDirs));
}

TEST(FlagPolicy, AcceptsWhatCandidatesUse) {
  for (const Flags& flags :
       {Flags{"-O3", "-march=native", "-fopenmp", "-ffast-math", "-funroll-loops", "-std=c++17",
              "-Wall", "-DN=4", "-mavx512f"},
        Flags{"-O3 -march=native -fopenmp"}, Flags{"-I/usr/include/x86_64-linux-gnu"},
        Flags{"-I", "/usr/include"},
        Flags{"-g0", "-w", "-fno-strict-aliasing", "-fPIC", "-Wno-unused"},
        Flags{"--std=c++20", "-fdiagnostics-color=always"}, Flags{"--param", "max-unroll-times=8"},
        Flags{"--param=l1-cache-size=32"}, Flags{"-Wl,-rpath,/usr/include"},
        Flags{"-static-libstdc++"}}) {
    EXPECT_TRUE(Accepted(FlagTarget::kHostCompiler, flags)) << flags[0];
  }
  for (const Flags& flags :
       {Flags{"-O3", "--use_fast_math", "-lineinfo"},
        Flags{"-gencode", "arch=compute_90,code=sm_90"},
        Flags{"-gencode=arch=compute_90a,code=sm_90a"}, Flags{"-arch=sm_90"},
        Flags{"-Xcompiler", "-fopenmp,-O3"}, Flags{"-Xptxas=-v,-O3"},
        Flags{"--expt-relaxed-constexpr", "-std=c++17"}, Flags{"--maxrregcount=64"},
        Flags{"-U__CUDA_NO_HALF_OPERATORS__"}, Flags{"--ptxas-options=-v"}}) {
    EXPECT_TRUE(Accepted(FlagTarget::kNvcc, flags)) << flags[0];
  }
  EXPECT_TRUE(Accepted(FlagTarget::kLinker, {"-static-libstdc++", "-Wl,-rpath=/usr/include"}));
  EXPECT_TRUE(Accepted(FlagTarget::kLinker, {"-lm", "-lcublas", "-fopenmp", "-Wl,--as-needed"}));
}

TEST(FlagPolicy, SplitsLikeAShell) {
  const auto result = CheckFlags(FlagTarget::kHostCompiler, {" -O3   -march=native "}, kDirs);
  EXPECT_EQ(std::get<Flags>(result), (Flags{"-O3", "-march=native"}));
}

struct Hostile {
  FlagTarget target;
  Flags flags;
};
class HostileFlags : public testing::TestWithParam<Hostile> {};

TEST_P(HostileFlags, AreRefusedWithAMessageThatNamesThem) {
  const auto result = CheckFlags(GetParam().target, GetParam().flags, kDirs);
  const auto* refusal = std::get_if<FlagRefusal>(&result);
  ASSERT_NE(refusal, nullptr) << GetParam().flags[0];
  EXPECT_NE(refusal->message.find("is not allowed"), std::string::npos);
}

constexpr FlagTarget kHost = FlagTarget::kHostCompiler;
INSTANTIATE_TEST_SUITE_P(
    All, HostileFlags,
    testing::Values(
        Hostile{kHost, {"-fplugin=/tmp/x.so"}}, Hostile{kHost, {"-O3 -fplugin=/tmp/x.so"}},
        Hostile{kHost, {"-B/tmp"}}, Hostile{kHost, {"-wrapper", "sh"}},
        Hostile{kHost, {"@/etc/passwd"}}, Hostile{kHost, {"-o", "/tmp/x"}},
        Hostile{kHost, {"-include", "/etc/passwd"}}, Hostile{kHost, {"-specs=/tmp/s"}},
        Hostile{kHost, {"-I/root"}}, Hostile{kHost, {"-I/usr/include/../../root"}},
        Hostile{kHost, {"-Wl,-rpath,/tmp"}}, Hostile{kHost, {"-Wl,-rpath,/usr/include/,-T,/tmp/x"}},
        Hostile{kHost, {"--param", "-B/tmp"}}, Hostile{kHost, {"--param"}},
        Hostile{kHost, {"--param=x=/tmp"}}, Hostile{kHost, {"-fdiagnostics-format=sarif-file"}},
        Hostile{kHost, {"-Wa,-a=/tmp/x"}}, Hostile{kHost, {"-Xlinker", "-T/tmp/x"}},
        Hostile{kHost, {"-fdump-tree-all"}}, Hostile{kHost, {"-fuse-ld=/tmp/ld"}},
        Hostile{kHost, {"-DX=$(id)"}}, Hostile{kHost, {"-O3;id"}}, Hostile{kHost, {"-x", "c"}},
        Hostile{kHost, {"evil.o"}}, Hostile{kHost, {"-save-temps"}},
        Hostile{kHost, {"-dumpdir", "/tmp"}}, Hostile{kHost, {"-MF", "/tmp/x"}},
        Hostile{kHost, {"--sysroot=/tmp"}}, Hostile{kHost, {"-isystem", "relative"}},
        Hostile{kHost, {"-I"}}, Hostile{FlagTarget::kNvcc, {"-ccbin", "/tmp/sh"}},
        Hostile{FlagTarget::kNvcc, {"--compiler-bindir=/tmp"}},
        Hostile{FlagTarget::kNvcc, {"-Xcompiler", "-fplugin=/tmp/x.so"}},
        Hostile{FlagTarget::kNvcc, {"-Xcompiler=-O3,-B/tmp"}},
        Hostile{FlagTarget::kNvcc, {"--options-file", "/tmp/x"}},
        Hostile{FlagTarget::kNvcc, {"-optf", "/tmp/x"}},
        Hostile{FlagTarget::kNvcc, {"--keep-dir", "/tmp"}},
        Hostile{FlagTarget::kNvcc, {"-Xptxas", "--output-file,/tmp/x"}},
        Hostile{FlagTarget::kNvcc, {"-Xlinker", "x"}}, Hostile{FlagTarget::kNvcc, {"--run"}},
        Hostile{FlagTarget::kNvrtc, {"--include-path=/root"}},
        Hostile{FlagTarget::kNvrtc, {"-pch-dir=/tmp"}}, Hostile{FlagTarget::kLinker, {"-l/tmp/x"}},
        Hostile{FlagTarget::kLinker, {"-l:../../x.so"}},
        Hostile{FlagTarget::kLinker, {"-Wl,-T,/tmp/x"}}, Hostile{FlagTarget::kLinker, {"-L/tmp"}},
        Hostile{FlagTarget::kLinker, {"/tmp/evil.o"}}));

TEST(FlagPolicy, KnowsWhatDependsOnTheCpu) {
  EXPECT_TRUE(DependsOnHostCpu({"-O3 -march=native"}));
  EXPECT_TRUE(DependsOnHostCpu({"-Xcompiler=-mtune=native"}));
  EXPECT_FALSE(DependsOnHostCpu({"-O3", "-march=x86-64-v3"}));
}

}  // namespace
}  // namespace davinci::build
