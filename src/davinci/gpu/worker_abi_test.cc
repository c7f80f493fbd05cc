// Without a device: what is wrong is said, nothing crashes. With one, tests/gpu/gpu_selftest.py.
#include "davinci/gpu/worker_abi.h"

#include <gtest/gtest.h>

#include <string>

#include "davinci/gpu/driver_api.h"

namespace {

TEST(WorkerAbi, EverythingAsksForInitFirst) {
  uint64_t value = 0;
  size_t needed = 0;
  EXPECT_EQ(dv_cuda_sync(), -1);
  EXPECT_NE(std::string(dv_cuda_last_error()).find("dv_cuda_init"), std::string::npos);
  EXPECT_EQ(dv_cuda_prepare(), -1);
  EXPECT_EQ(dv_cuda_checksum(0, 0, 0, 0, &value), -1);
  EXPECT_EQ(dv_cuda_flush_l2(0, 0, 0), -1);
  EXPECT_EQ(dv_cuda_ipc_close(0), -1);
  EXPECT_EQ(dv_cuda_driver_info(nullptr, 0, &needed), -1);
}

TEST(WorkerAbi, NullArgumentsAreRefused) {
  EXPECT_EQ(dv_cuda_ipc_export(0, nullptr, nullptr, nullptr), -1);
  EXPECT_EQ(dv_cuda_compare(0, 0, 2, 0, nullptr, 0, 0.5, 0, nullptr), -1);
  EXPECT_NE(std::string(dv_cuda_last_error()).find("null"), std::string::npos);
}

TEST(WorkerAbi, AbsentDriverIsNamed) {
  if (davinci::gpu::CudaDriver::Load().ok()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(dv_cuda_init(0, "/nonexistent:/also/not", ""), -1);
  EXPECT_NE(std::string(dv_cuda_last_error()).find("libcuda.so.1"), std::string::npos);
}

TEST(WorkerAbi, HostSidePatternsNeedNoDevice) {
  EXPECT_LT(dv_cuda_sample_position(1, 2, 10), 10U);
  EXPECT_EQ(dv_cuda_poison_pattern(2, 1, 2) & 0x7f800000U, 0x7f800000U);
  EXPECT_EQ(dv_cuda_poison_pattern(99, 1, 2), 0U);
}

}  // namespace
