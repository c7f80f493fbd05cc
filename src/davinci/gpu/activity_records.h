// CUPTI activity records, read from their bytes. Kept apart from the client so that it can be
// tested without a device.
//
// CUPTI appends fields to its record types from version to version (CUpti_ActivityKernel4 of CUDA 9
// has 144 bytes, CUpti_ActivityKernel10 of CUDA 13 has 216) and never moves one. Only fields at
// offsets that are equal in all of these are read, and the distance between records is left to
// cuptiActivityGetNextRecord. The offsets are checked against NVIDIA's headers by
// tests/gpu/layout_check.cc where such headers are found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace davinci::gpu {

enum class ActivityKind { kKernel, kMemcpy, kMemset };

struct Activity {
  ActivityKind kind = ActivityKind::kKernel;
  std::string name;  // kernels: demangled; copies: "memcpy HtoD"; sets: "memset"
  // Device time in nanoseconds on CUPTI's clock, comparable only within one process. 0/0: CUPTI
  // lost the times.
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  uint32_t correlation = 0;
  // Kernels only.
  std::array<int32_t, 3> grid{};
  std::array<int32_t, 3> block{};
  uint32_t registers_per_thread = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_bytes = 0;
  uint32_t local_bytes_per_thread = 0;
  uint32_t graph = 0;  // 0: launched directly, else the id of the CUDA graph it ran in
  // Copies and sets only.
  uint64_t bytes = 0;
};

namespace cupti {

constexpr uint32_t kKindMemcpy = 1;
constexpr uint32_t kKindMemset = 2;
constexpr uint32_t kKindKernel = 3;
constexpr uint32_t kKindConcurrentKernel = 10;
constexpr uint32_t kKindMemcpyPeer = 22;

// cuptiGetVersion() of CUDA 12.0, from which on the graph id is present.
constexpr uint32_t kVersionWithGraphId = 18;

namespace kernel_offset {
constexpr size_t kRegisters = 6, kStart = 16, kEnd = 24, kDevice = 40, kContext = 44, kStream = 48,
                 kGrid = 52, kBlock = 64, kStaticShared = 76, kDynamicShared = 80,
                 kLocalPerThread = 84, kCorrelation = 92, kName = 104, kGraph = 156;
constexpr size_t kMinBytes = 112;
}  // namespace kernel_offset
namespace memcpy_offset {
constexpr size_t kCopyKind = 4, kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32, kContext = 36,
                 kStream = 40, kCorrelation = 44, kPeerCorrelation = 60;
}  // namespace memcpy_offset
namespace memset_offset {
constexpr size_t kBytes = 8, kStart = 16, kEnd = 24, kDevice = 32, kContext = 36, kStream = 40,
                 kCorrelation = 44;
}  // namespace memset_offset

}  // namespace cupti

// `record` points at one whole record as CUPTI wrote it. No value for a kind that is not read here.
std::optional<Activity> ParseActivityRecord(const uint8_t* record, uint32_t cupti_version);

// "void f<int>(int*)" for "_Z1fIiEvPT_"; the name itself when it is not a mangled one.
std::string DemangleKernelName(const char* name);

}  // namespace davinci::gpu
