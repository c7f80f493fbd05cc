#include "davinci/agent/device_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/base/files.h"
#include "davinci/gpu/visible_devices.h"

namespace davinci::agent {
namespace {

using ::testing::ElementsAre;

class CpuFactsTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeDirs((root_.path() / name).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(root_.path() / name, text).ok());
  }
  TempDir root_ = MakeTempDir().value();
};

TEST_F(CpuFactsTest, ReadsWhatLinuxTells) {
  Write("proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 17\nmodel name\t: Test CPU 9000\n"
        "flags\t\t: fpu sse4_2 avx avx2 fma avx512f\nprocessor\t: 1\nmodel name\t: other\n");
  Write("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
  const std::string cache = "sys/devices/system/cpu/cpu0/cache/index";
  const auto level = [&](const char* index, const char* number, const char* type,
                         const char* size) {
    Write(cache + index + "/level", number);
    Write(cache + index + "/type", type);
    Write(cache + index + "/size", size);
  };
  level("0", "1\n", "Data\n", "48K\n");
  level("1", "1\n", "Instruction\n", "32K\n");
  level("2", "2\n", "Unified\n", "2048K\n");
  level("3", "3\n", "Unified\n", "105M\n");
  const DeviceFacts facts = CpuFacts(8, root_.path());
  EXPECT_EQ(facts.name, "Test CPU 9000");
  EXPECT_EQ(facts.num_cores, 8);
  EXPECT_THAT(facts.isa, ElementsAre("sse4_2", "avx", "fma", "avx2", "avx512f"));
  EXPECT_EQ(facts.memory_bytes, 16384 * 1024);
  EXPECT_EQ(facts.l1_data_bytes, 48 << 10);
  EXPECT_EQ(facts.l2_bytes, 2 << 20);
  EXPECT_EQ(facts.last_level_bytes, 105 << 20);
}

TEST_F(CpuFactsTest, WhatIsMissingIsUnknown) {
  const DeviceFacts facts = CpuFacts(2, root_.path());
  EXPECT_EQ(facts.name, "");
  EXPECT_EQ(facts.l1_data_bytes, 0);
  const auto prompts = PromptSet::Load(std::filesystem::path(DAVINCI_SOURCE_DIR) / "prompts");
  ASSERT_TRUE(prompts.ok()) << prompts.status().ToString();
  EXPECT_EQ(*DescribeDevice(*prompts, facts), "A CPU, 2 cores to use.");
}

TEST_F(CpuFactsTest, NumbersThatDoNotFitAreUnknown) {
  const std::string cache = "sys/devices/system/cpu/cpu0/cache/index0";
  Write("proc/meminfo", "MemTotal: 18446744073709551616 kB\n");
  Write(cache + "/level", "2\n");
  Write(cache + "/size", "18446744073709551616\n");
  const DeviceFacts facts = CpuFacts(2, root_.path());
  EXPECT_EQ(facts.memory_bytes, 0);
  EXPECT_EQ(facts.l2_bytes, 0);
}

DeviceFacts Unknown(Target target) {
  DeviceFacts facts;
  facts.target = target;
  return facts;
}

Evaluation WithPeaks() {
  Evaluation evaluation;
  evaluation.evidence["roofline"]["peaks"] = {
      {"read_gb_per_s", 4100.0}, {"copy_gb_per_s", 3900.0}, {"fp32_tflops", 60.5},
      {"l2_bytes", 52428800},    {"multiprocessors", 132},  {"compute_capability", {9, 0}},
      {"device", "NVIDIA H200"}};
  return evaluation;
}

TEST(LearnFromEvaluation, FillsOnlyWhatIsUnknown) {
  DeviceFacts facts = Unknown(Target::kCuda);
  facts.l2_bytes = 1;
  LearnFromEvaluation(WithPeaks(), &facts);
  EXPECT_EQ(facts.bandwidth_gb_per_s, 4100);
  EXPECT_EQ(facts.fp32_tflops, 60.5);
  EXPECT_EQ(facts.l2_bytes, 1);
  EXPECT_EQ(facts.num_sms, 132);
  EXPECT_EQ(facts.compute_capability, "9.0");
  EXPECT_EQ(facts.name, "NVIDIA H200");
  EXPECT_EQ(facts.memory_bytes, 0);
}

TEST(LearnFromEvaluation, LeavesCpusAlone) {
  DeviceFacts facts = Unknown(Target::kCpu);
  LearnFromEvaluation(WithPeaks(), &facts);
  EXPECT_EQ(facts.bandwidth_gb_per_s, 0);
}

TEST(LearnFromEvaluation, SurvivesForeignEvidence) {
  DeviceFacts facts = Unknown(Target::kCuda);
  Evaluation evaluation;
  for (const char* evidence :
       {"[]", "{\"roofline\": 3}", "{\"roofline\": {\"peaks\": \"x\"}}",
        "{\"roofline\": {\"peaks\": {\"l2_bytes\": \"y\", \"device\": 3}}}",
        "{\"roofline\": {\"peaks\": {\"compute_capability\": [\"a\", 0]}}}"}) {
    evaluation.evidence = nlohmann::json::parse(evidence);
    LearnFromEvaluation(evaluation, &facts);
  }
  EXPECT_EQ(facts.l2_bytes, 0);
}

TEST(GpuFacts, AreThoseOfTheDeviceThatJudges) {
  std::vector<gpu::DeviceInfo> devices(2);
  devices[0].name = "Small GPU";
  devices[0].uuid = "GPU-a";
  devices[1].name = "Large GPU";
  devices[1].uuid = "GPU-b";
  devices[1].compute_major = 9;
  devices[1].memory_total_bytes = uint64_t{1} << 37;
  const auto judging = gpu::DevicesOf(devices, gpu::ChooseDevices(devices, "1").value());
  ASSERT_EQ(judging.size(), 1u);
  const DeviceFacts facts = GpuFacts(judging.front());
  EXPECT_EQ(facts.name, "Large GPU");
  EXPECT_EQ(facts.compute_capability, "9.0");
  EXPECT_EQ(facts.memory_bytes, int64_t{1} << 37);
}

}  // namespace
}  // namespace davinci::agent
