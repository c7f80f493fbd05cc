#include "davinci/judge/machine/machine_state.h"

#include <gtest/gtest.h>

#include "davinci/base/files.h"

namespace davinci::judge {
namespace {

namespace fs = std::filesystem;

class MachineStateTest : public testing::Test {
 protected:
  void Write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_.path() / path).parent_path());
    ASSERT_TRUE(WriteFileAtomic(root_.path() / path, text, Durability::kFastest).ok());
  }

  TempDir root_ = MakeTempDir("machine-state").value();
  std::unique_ptr<gpu::DeviceMonitor> none_ = gpu::DeviceMonitor::Create("/nonexistent/nvml.so");
};

TEST_F(MachineStateTest, TellsTheProcessorItsClockAndItsLoad) {
  Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Test CPU 9000\ncpu MHz\t\t: 2450.500\n");
  Write("proc/loadavg", "3.25 2.00 1.00 2/345 6789\n");
  Write("proc/sys/kernel/osrelease", "6.1.0-test\n");
  const auto identity = MachineIdentity(Target::kCpu, *none_, "", root_.path());
  EXPECT_EQ(identity["name"], "Test CPU 9000");
  EXPECT_EQ(identity["kernel"], "6.1.0-test");
  EXPECT_GE(identity["cores"], 1);
  auto state = MachineState(Target::kCpu, *none_, "", root_.path());
  EXPECT_EQ(state["load_1m"], 3.25);
  EXPECT_EQ(state["mhz"], 2450.5);
  EXPECT_FALSE(state.contains("throttled"));

  Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3100000\n");
  Write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "7\n");
  state = MachineState(Target::kCpu, *none_, "", root_.path());
  EXPECT_EQ(state["mhz"], 3100);
  EXPECT_EQ(state["throttled"], 7);
}

TEST_F(MachineStateTest, WhatTheKernelDoesNotTellIsLeftOut) {
  EXPECT_EQ(MachineState(Target::kCpu, *none_, "", root_.path()), nlohmann::json::object());
  EXPECT_EQ(MachineIdentity(Target::kCuda, *none_, "", root_.path())["name"], "");
}

TEST_F(MachineStateTest, TellsADevicesClocksAndWhatSlowsIt) {
  const auto monitor = gpu::DeviceMonitor::Create(DAVINCI_FAKE_NVML);
  ASSERT_FALSE(monitor->devices().empty()) << monitor->absence_reason();
  EXPECT_EQ(MachineIdentity(Target::kCuda, *monitor, monitor->devices()[1].uuid)["uuid"],
            monitor->devices()[1].uuid);
  const auto state = MachineState(Target::kCuda, *monitor, monitor->devices()[0].uuid);
  EXPECT_EQ(state["sm_mhz"], 1980);
  EXPECT_EQ(state["celsius"], 41);
  EXPECT_FALSE(state.contains("slowed_by")) << "idle is no fault";
}

}  // namespace
}  // namespace davinci::judge
