#include "davinci/gpu/activity_records.h"

#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace davinci::gpu {
namespace {

template <typename T>
T At(const uint8_t* record, size_t offset) {
  T value;
  std::memcpy(&value, record + offset, sizeof(T));
  return value;
}

const char* CopyKindName(uint8_t kind) {
  switch (kind) {
    case 1:
      return "memcpy HtoD";
    case 2:
      return "memcpy DtoH";
    case 3:
      return "memcpy HtoA";
    case 4:
      return "memcpy AtoH";
    case 5:
      return "memcpy AtoA";
    case 6:
      return "memcpy AtoD";
    case 7:
      return "memcpy DtoA";
    case 8:
      return "memcpy DtoD";
    case 9:
      return "memcpy HtoH";
    case 10:
      return "memcpy PtoP";
    default:
      return "memcpy";
  }
}

}  // namespace

std::string DemangleKernelName(const char* name) {
  if (name == nullptr) return "";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  // A C name that happens to be a mangled type ("f", "i") must stay what it is.
  if (status != 0 || text == nullptr || std::strncmp(name, "_Z", 2) != 0) return name;
  return text.get();
}

std::optional<Activity> ParseActivityRecord(const uint8_t* record, uint32_t cupti_version) {
  Activity activity;
  const auto kind = At<uint32_t>(record, 0);
  switch (kind) {
    case cupti::kKindKernel:
    case cupti::kKindConcurrentKernel: {
      namespace at = cupti::kernel_offset;
      activity.kind = ActivityKind::kKernel;
      activity.registers_per_thread = At<uint16_t>(record, at::kRegisters);
      activity.start_ns = At<uint64_t>(record, at::kStart);
      activity.end_ns = At<uint64_t>(record, at::kEnd);
      activity.device = At<uint32_t>(record, at::kDevice);
      activity.context = At<uint32_t>(record, at::kContext);
      activity.stream = At<uint32_t>(record, at::kStream);
      for (size_t axis = 0; axis < 3; ++axis) {
        activity.grid[axis] = At<int32_t>(record, at::kGrid + 4 * axis);
        activity.block[axis] = At<int32_t>(record, at::kBlock + 4 * axis);
      }
      activity.static_shared_bytes = At<uint32_t>(record, at::kStaticShared);
      activity.dynamic_shared_bytes = At<uint32_t>(record, at::kDynamicShared);
      activity.local_bytes_per_thread = At<uint32_t>(record, at::kLocalPerThread);
      activity.correlation = At<uint32_t>(record, at::kCorrelation);
      activity.name = DemangleKernelName(At<const char*>(record, at::kName));
      if (cupti_version >= cupti::kVersionWithGraphId) {
        activity.graph = At<uint32_t>(record, at::kGraph);
      }
      return activity;
    }
    case cupti::kKindMemcpy:
    case cupti::kKindMemcpyPeer: {
      namespace at = cupti::memcpy_offset;
      activity.kind = ActivityKind::kMemcpy;
      activity.name = CopyKindName(At<uint8_t>(record, at::kCopyKind));
      activity.bytes = At<uint64_t>(record, at::kBytes);
      activity.start_ns = At<uint64_t>(record, at::kStart);
      activity.end_ns = At<uint64_t>(record, at::kEnd);
      activity.device = At<uint32_t>(record, at::kDevice);
      activity.context = At<uint32_t>(record, at::kContext);
      activity.stream = At<uint32_t>(record, at::kStream);
      activity.correlation = At<uint32_t>(
          record, kind == cupti::kKindMemcpyPeer ? at::kPeerCorrelation : at::kCorrelation);
      return activity;
    }
    case cupti::kKindMemset: {
      namespace at = cupti::memset_offset;
      activity.kind = ActivityKind::kMemset;
      activity.name = "memset";
      activity.bytes = At<uint64_t>(record, at::kBytes);
      activity.start_ns = At<uint64_t>(record, at::kStart);
      activity.end_ns = At<uint64_t>(record, at::kEnd);
      activity.device = At<uint32_t>(record, at::kDevice);
      activity.context = At<uint32_t>(record, at::kContext);
      activity.stream = At<uint32_t>(record, at::kStream);
      activity.correlation = At<uint32_t>(record, at::kCorrelation);
      return activity;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace davinci::gpu
