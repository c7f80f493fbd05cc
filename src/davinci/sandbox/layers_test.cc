#include "davinci/sandbox/layers.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "davinci/sandbox/landlock.h"

namespace davinci::sandbox {
namespace {

TEST(Layers, DetectionLeavesTheCallerUntouched) {
  const int before = LandlockAbi();
  const LayerReport report = DetectLayers();
  EXPECT_EQ(LandlockAbi(), before);
  EXPECT_EQ(access("/etc", R_OK), 0);
  EXPECT_FALSE(report.kernel.empty());
  EXPECT_EQ(report.as_root, geteuid() == 0);
  errno = 0;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "a probe was left behind";
}

TEST(Layers, WhatIsMissingComesWithAReasonOrAnAdvice) {
  const LayerReport report = DetectLayers();
  const ActiveLayers& active = report.active;
  const bool complete = active.landlock_abi >= 6 && active.private_root && active.seccomp &&
                        active.namespaces.pid && active.namespaces.net &&
                        report.cgroup_version != 0;
  EXPECT_EQ(complete, active.missing.empty() && report.Advice().empty()) << ToJson(report).dump(1);
}

TEST(Layers, ReportSurvivesTheRoundTripThroughJson) {
  ActiveLayers layers;
  layers.landlock_abi = 5;
  layers.namespaces.net = true;
  layers.private_tmp = true;
  layers.lock_immutable = true;
  layers.missing = {"x"};
  const Result<ActiveLayers> back = ActiveLayersFromJson(ToJson(layers));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(ToJson(*back), ToJson(layers));
}

}  // namespace
}  // namespace davinci::sandbox
