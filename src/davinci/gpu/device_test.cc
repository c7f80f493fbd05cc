#include "davinci/gpu/device.h"

#include <gtest/gtest.h>

#include "davinci/gpu/visible_devices.h"

namespace davinci::gpu {
namespace {

std::vector<DeviceInfo> Devices(const std::vector<std::string>& uuids) {
  std::vector<DeviceInfo> devices(uuids.size());
  for (size_t i = 0; i < uuids.size(); ++i) devices[i].uuid = uuids[i];
  return devices;
}

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

TEST(VisibleDevices, FollowTheEnvironmentVariableAsCudaReadsIt) {
  const std::vector<DeviceInfo> all = Devices({"GPU-aa1", "GPU-ab2"});
  const auto uuids = [&](const char* visible) {
    std::vector<std::string> found;
    for (const DeviceInfo& device : VisibleDevices(all, visible)) found.push_back(device.uuid);
    return found;
  };
  using Uuids = std::vector<std::string>;
  EXPECT_EQ(uuids(nullptr), (Uuids{"GPU-aa1", "GPU-ab2"}));
  EXPECT_EQ(uuids(""), Uuids{});
  EXPECT_EQ(uuids("1,0"), (Uuids{"GPU-ab2", "GPU-aa1"}));
  EXPECT_EQ(uuids("GPU-ab"), Uuids{"GPU-ab2"});
  EXPECT_EQ(uuids("1,7,0"), Uuids{"GPU-ab2"}) << "what follows an unknown one is not visible";
}

TEST(ChooseDevices, TakesAllPositionsAndUuidsEachOnce) {
  const std::vector<DeviceInfo> visible = Devices({"GPU-b", "GPU-a"});
  using Uuids = std::vector<std::string>;
  EXPECT_EQ(*ChooseDevices(visible, "all"), (Uuids{"GPU-b", "GPU-a"}));
  EXPECT_EQ(*ChooseDevices(visible, "1"), Uuids{"GPU-a"});
  EXPECT_EQ(*ChooseDevices(visible, "GPU-a, 1,0"), (Uuids{"GPU-a", "GPU-b"}));
  EXPECT_EQ(*ChooseDevices({}, "all"), Uuids{});
  EXPECT_EQ(*ChooseDevices(visible, "none"), Uuids{});
  EXPECT_EQ(ChooseDevices(visible, "2").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ChooseDevices(visible, "").status().code(), StatusCode::kInvalidArgument);
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
