#include "davinci/gpu/device.h"

#include <gtest/gtest.h>

namespace davinci::gpu {
namespace {

TEST(DeviceMonitor, NoDriverMeansNoDevicesAndAReason) {
  const auto monitor = DeviceMonitor::Create("/nonexistent/libnvidia-ml.so.1");
  EXPECT_TRUE(monitor->devices().empty());
  EXPECT_NE(monitor->absence_reason().find("/nonexistent/libnvidia-ml.so.1"), std::string::npos);
  EXPECT_EQ(monitor->Read(0).status().code(), StatusCode::kNotFound);
}

TEST(DeviceMonitor, AnUnrelatedLibraryIsNotADriver) {
  const auto monitor = DeviceMonitor::Create("libc.so.6");
  EXPECT_TRUE(monitor->devices().empty());
  EXPECT_NE(monitor->absence_reason().find("lacks a function"), std::string::npos);
}

// Whatever this machine has, the two must agree.
TEST(DeviceMonitor, RealDriverEitherListsDevicesOrSaysWhyNot) {
  const auto monitor = DeviceMonitor::Create();
  EXPECT_EQ(monitor->devices().empty(), !monitor->absence_reason().empty());
  for (const DeviceInfo& device : monitor->devices()) {
    EXPECT_FALSE(device.uuid.empty());
    EXPECT_TRUE(monitor->Read(device.index).ok());
  }
}

TEST(DeviceMonitor, ListsReachableDevicesUnderTheDriversIndex) {
  const auto monitor = DeviceMonitor::Create(DAVINCI_FAKE_NVML);
  ASSERT_EQ(monitor->devices().size(), 2U) << monitor->absence_reason();
  EXPECT_EQ(monitor->devices()[0].index, 0);
  EXPECT_EQ(monitor->devices()[1].index, 2);
  EXPECT_EQ(monitor->devices()[1].uuid, "GPU-fake-1");
  EXPECT_EQ(monitor->devices()[0].compute_major, 9);
  EXPECT_EQ(monitor->devices()[0].memory_total_bytes, 1000U);
  EXPECT_EQ(monitor->devices()[0].driver_version, "580.1.2");
}

TEST(DeviceMonitor, ReadsClocksHeatPowerAndProcesses) {
  const auto monitor = DeviceMonitor::Create(DAVINCI_FAKE_NVML);
  const auto state = monitor->Read(0);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->sm_clock_mhz, 1980U);
  EXPECT_EQ(state->memory_clock_mhz, 3201U);
  EXPECT_EQ(state->temperature_celsius, 41U);
  EXPECT_DOUBLE_EQ(state->power_watts, 123.456);
  EXPECT_EQ(state->memory_used_bytes, 400U);
  EXPECT_TRUE(state->throttle.idle);
  EXPECT_FALSE(state->throttle.AffectsTiming());
  ASSERT_EQ(state->processes.size(), 1U);
  EXPECT_EQ(state->processes[0].pid, 100U);
  EXPECT_EQ(state->processes[0].used_memory_bytes, 0U) << "unknown, not 16 EiB";
}

TEST(DeviceMonitor, NamesWhatADeviceDoesNotSupport) {
  const auto monitor = DeviceMonitor::Create(DAVINCI_FAKE_NVML);
  const auto state = monitor->Read(2);
  ASSERT_TRUE(state.ok());
  const std::vector<std::string> expected = {"max_sm_clock_mhz", "max_memory_clock_mhz",
                                             "power_watts", "power_limit_watts"};
  EXPECT_EQ(state->unsupported, expected);
  EXPECT_EQ(state->processes.size(), 100U) << "longer than the first buffer";
  EXPECT_EQ(state->throttle.ToString(), "software_power_cap,hardware_thermal");
  EXPECT_TRUE(state->throttle.AffectsTiming());
}

}  // namespace
}  // namespace davinci::gpu
