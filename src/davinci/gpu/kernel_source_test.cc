// The kernels' text compiles: by NVRTC where there is one, by nvcc where there is one. Neither
// needs a device.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/gpu/kernel_library.h"
#include "davinci/gpu/nvrtc.h"

namespace davinci::gpu {
namespace {

std::vector<std::string> NvrtcDirectories() {
  const char* directory = std::getenv("DAVINCI_NVRTC_DIR");  // NOLINT(concurrency-mt-unsafe)
  return directory == nullptr ? std::vector<std::string>{} : std::vector<std::string>{directory};
}

TEST(KernelSource, CarriesEveryKernelTheHostLooksUp) {
  for (const char* name : {"dv_fill_random",
                           "dv_touch",
                           "dv_poison",
                           "dv_poison_count",
                           "dv_checksum",
                           "dv_checksum_finish",
                           "dv_sample",
                           "dv_compare",
                           "dv_compare_direct",
                           "dv_compare_integers",
                           "dv_compare_finish",
                           "dv_compare_quickly",
                           "dv_compare_quickly_finish",
                           "dv_profile",
                           "dv_profile_finish",
                           "dv_nudge",
                           "dv_stress",
                           "dv_copy",
                           "dv_fma_f32",
                           "dv_empty",
                           "dv_hold"}) {
    EXPECT_NE(KernelSource().find(std::string(" ") + name + "("), std::string::npos) << name;
  }
  EXPECT_EQ(KernelSource().find("#include"), std::string::npos) << "NVRTC has no headers";
}

class NvrtcTest : public testing::TestWithParam<const char*> {};

TEST_P(NvrtcTest, CompilesTheKernelsWithoutHeaders) {
  auto nvrtc = Nvrtc::Load(NvrtcDirectories());
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().ToString();
  const std::vector<std::string> options = {"--std=c++17", "-fmad=false", "-lineinfo"};
  const auto output = nvrtc->Compile(KernelSource(), "judge_kernels.cu", GetParam(), options);
  ASSERT_TRUE(output.ok()) << output.status().ToString();
  EXPECT_TRUE(output->ok) << output->log;
  EXPECT_EQ(output->cubin.substr(0, 4), "\177ELF");
}

INSTANTIATE_TEST_SUITE_P(Architectures, NvrtcTest, testing::Values("sm_80", "sm_90"),
                         [](const auto& one) { return std::string(one.param); });

TEST(Nvrtc, ReportsErrorsOfTheSourceAsAValue) {
  auto nvrtc = Nvrtc::Load(NvrtcDirectories());
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().ToString();
  const auto output = nvrtc->Compile("__global__ void f() { undeclared(); }", "f.cu", "sm_90", {});
  ASSERT_TRUE(output.ok());
  EXPECT_FALSE(output->ok);
  EXPECT_NE(output->log.find("undeclared"), std::string::npos);
  EXPECT_NE(output->log.find("f.cu"), std::string::npos);
}

TEST(Nvcc, CompilesTheKernels) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) {  // NOLINT(concurrency-mt-unsafe)
    GTEST_SKIP() << "no nvcc";
  }
  auto folder = MakeTempDir("kernels");
  ASSERT_TRUE(folder.ok());
  const auto source = folder->path() / "judge_kernels.cu";
  ASSERT_TRUE(WriteFileAtomic(source, KernelSource()).ok());
  const std::string command = "nvcc -cubin -arch=sm_90 -std=c++17 -fmad=false -o " +
                              (folder->path() / "k.cubin").string() + " " + source.string() +
                              " > " + (folder->path() / "log").string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0)  // NOLINT(concurrency-mt-unsafe)
      << ReadFile(folder->path() / "log").value();
}

}  // namespace
}  // namespace davinci::gpu
