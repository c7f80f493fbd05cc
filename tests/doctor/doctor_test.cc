#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "davinci/base/files.h"
#include "davinci/base/table.h"
#include "doctor_host.h"
#include "doctor_report.h"

namespace davinci::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Check Missing(const std::string& name) {
  return {"python", name,   CheckState::kMissing, "not there", "apt-get install " + name, false,
          false,    nullptr};
}

TEST(DoctorReport, MissingThingThatCpuNeedsFailsTheCommand) {
  DoctorReport report;
  report.checks = {Missing("nvcc")};
  EXPECT_EQ(report.ExitCode(), 0);
  report.checks[0].needed_for_cpu = true;
  EXPECT_EQ(report.ExitCode(), 1);
  EXPECT_FALSE(report.CudaWorks()) << "cuda needs all that cpu needs";
}

TEST(DoctorReport, WarningNeverFails) {
  DoctorReport report;
  report.checks = {Missing("load")};
  report.checks[0].state = CheckState::kWarn;
  report.checks[0].needed_for_cpu = true;
  EXPECT_EQ(report.ExitCode(), 0);
}

TEST(DoctorReport, MissingGpuLeavesCpuAlone) {
  DoctorReport report;
  report.checks = {Missing("device")};
  report.checks[0].needed_for_cuda = true;
  EXPECT_TRUE(report.CpuWorks());
  EXPECT_FALSE(report.CudaWorks());
}

TEST(DoctorRendering, NamesSectionOnceAndRemedyBelowTheLine) {
  DoctorReport report;
  report.checks = {{"python", "torch", CheckState::kOk, "2.13.0", "", false, false, nullptr},
                   Missing("triton")};
  EXPECT_EQ(RenderDoctor(report, false, 0),
            "python\n"
            "  ✓ torch              2.13.0\n"
            "  ✗ triton             not there\n"
            "                       → apt-get install triton\n"
            "\n"
            "judging\n"
            "  ✓ davinci judge --target cpu   works here\n"
            "  ✓ davinci judge --target cuda  works here\n");
}

TEST(DoctorRendering, WithoutADeviceCudaCandidatesAreStillChecked) {
  DoctorReport report;
  report.checks = {Missing("device")};
  report.checks[0].needed_for_cuda = true;
  report.no_device = true;
  EXPECT_THAT(RenderDoctor(report, false, 0),
              HasSubstr("  ! davinci judge --target cuda  checks candidates without a device"));
  EXPECT_TRUE(ToJson(report)["targets"]["cuda_compile_only"].get<bool>());
  report.checks[0].needed_for_cpu = true;
  EXPECT_FALSE(report.ChecksCompileOnly());
}

TEST(DoctorRendering, LongTextWrapsInsideTheTerminal) {
  DoctorReport report;
  report.checks = {Missing("x")};
  for (int i = 0; i < 30; ++i) {
    report.checks[0].value += " word";
    report.checks[0].remedy += " word";
  }
  const std::string text = RenderDoctor(report, false, 80);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    EXPECT_LE(DisplayWidth(text.substr(at, end - at)), 80u) << text.substr(at, end - at);
    at = end + 1;
  }
}

TEST(DoctorRendering, TextOfToolsCannotMoveTheCursor) {
  DoctorReport report;
  report.checks = {
      {"compilers", "C++", CheckState::kOk, "g++ \033[2J 12", "", false, false, nullptr}};
  EXPECT_THAT(RenderDoctor(report, false, 0), Not(HasSubstr("\033")));
}

TEST(DoctorJson, CarriesTargetsAndEveryCheck) {
  DoctorReport report;
  report.checks = {Missing("g++")};
  report.checks[0].needed_for_cpu = true;
  report.checks[0].details = {{"looked", 3}};
  EXPECT_EQ(ToJson(report), nlohmann::json::parse(R"({
    "schema": "davinci.doctor/1", "targets": {"cpu": false, "cuda": false, "cuda_compile_only": false},
    "checks": [{"section": "python", "name": "g++", "state": "missing", "value": "not there",
                "remedy": "apt-get install g++", "details": {"looked": 3}}]})"));
}

class HostTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = MakeTempDir("davinci-doctor-test");
    ASSERT_TRUE(made.ok());
    root_ = std::move(*made);
  }
  void Put(const std::string& path, const std::string& content) {
    const auto file = root_.path() / path;
    ASSERT_TRUE(MakeDirs(file.parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(file, content, Durability::kFastest).ok());
  }
  // The check called `name`, or one that says it is absent.
  Check Find(const std::string& name, int cpus = 4) {
    HostOptions options;
    options.root = root_.path();
    options.cpus = cpus;
    options.steal_window_seconds = 0;
    for (const Check& check : HostChecks(options))
      if (check.name == name) return check;
    return {"", "absent", CheckState::kOk, "", "", false, false, nullptr};
  }
  TempDir root_;
};

TEST_F(HostTest, UnknownKernelSaysNothingWrong) {
  EXPECT_EQ(Find("load").name, "absent");
  EXPECT_EQ(Find("CPU frequency").state, CheckState::kOk);
}

TEST_F(HostTest, LoadIsJudgedPerCpu) {
  Put("proc/loadavg", "2.00 1.00 1.00 3/200 4711\n");
  EXPECT_EQ(Find("load", 2).state, CheckState::kWarn);
  EXPECT_EQ(Find("load", 64).state, CheckState::kOk);
}

TEST_F(HostTest, StealOfAnotherVirtualMachineIsNamed) {
  Put("proc/stat", "cpu  100 0 100 700 0 0 0 100 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  const Check check = Find("steal");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_THAT(check.value, HasSubstr("10.0 %"));
}

TEST_F(HostTest, QuotaBelowTheCpusAsksForFewerThreads) {
  Put("sys/fs/cgroup/cpu.max", "250000 100000\n");
  const Check check = Find("CPU quota", 4);
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_THAT(check.remedy, HasSubstr("--threads 2"));
  EXPECT_EQ(Find("CPU quota", 2).state, CheckState::kOk);
  Put("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(Find("CPU quota").name, "absent");
}

TEST_F(HostTest, OneCpuWithAnotherGovernorIsEnoughToWarn) {
  Put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  EXPECT_EQ(Find("CPU frequency").state, CheckState::kOk);
  Put("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave\n");
  EXPECT_EQ(Find("CPU frequency").state, CheckState::kWarn);
}

TEST_F(HostTest, HugePageModeIsTheOneInBrackets) {
  Put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  EXPECT_EQ(Find("huge pages").value, "transparent: madvise");
  Put("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
  EXPECT_EQ(Find("huge pages").state, CheckState::kWarn);
}

TEST_F(HostTest, LittleMemoryIsAWarning) {
  Put("proc/meminfo", "MemTotal: 8000000 kB\nMemAvailable:    1048576 kB\n");
  const Check check = Find("memory");
  EXPECT_EQ(check.state, CheckState::kWarn);
  EXPECT_EQ(check.value, "1.0 GiB available");
}

}  // namespace
}  // namespace davinci::app
