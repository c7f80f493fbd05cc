// Compiled where NVIDIA's headers are found: the declarations davinci makes for itself agree with
// them. Nothing to run.
#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <type_traits>

#include "davinci/gpu/activity_records.h"
#include "davinci/gpu/driver_api.h"

namespace {

namespace gpu = davinci::gpu;
namespace kernel = davinci::gpu::cupti::kernel_offset;
namespace copy = davinci::gpu::cupti::memcpy_offset;
namespace set = davinci::gpu::cupti::memset_offset;

template <typename Record>
constexpr bool KernelFieldsAgree() {
  return offsetof(Record, kind) == 0 &&
         offsetof(Record, registersPerThread) == kernel::kRegisters &&
         offsetof(Record, start) == kernel::kStart && offsetof(Record, end) == kernel::kEnd &&
         offsetof(Record, deviceId) == kernel::kDevice &&
         offsetof(Record, contextId) == kernel::kContext &&
         offsetof(Record, streamId) == kernel::kStream &&
         offsetof(Record, gridX) == kernel::kGrid && offsetof(Record, gridZ) == kernel::kGrid + 8 &&
         offsetof(Record, blockX) == kernel::kBlock &&
         offsetof(Record, blockZ) == kernel::kBlock + 8 &&
         offsetof(Record, staticSharedMemory) == kernel::kStaticShared &&
         offsetof(Record, dynamicSharedMemory) == kernel::kDynamicShared &&
         offsetof(Record, localMemoryPerThread) == kernel::kLocalPerThread &&
         offsetof(Record, correlationId) == kernel::kCorrelation &&
         offsetof(Record, name) == kernel::kName && sizeof(Record) >= kernel::kMinBytes;
}

template <typename Record>
constexpr bool CopyFieldsAgree() {
  return offsetof(Record, copyKind) == copy::kCopyKind && offsetof(Record, bytes) == copy::kBytes &&
         offsetof(Record, start) == copy::kStart && offsetof(Record, end) == copy::kEnd &&
         offsetof(Record, deviceId) == copy::kDevice &&
         offsetof(Record, contextId) == copy::kContext &&
         offsetof(Record, streamId) == copy::kStream;
}

template <typename Record>
constexpr bool SetFieldsAgree() {
  return offsetof(Record, bytes) == set::kBytes && offsetof(Record, start) == set::kStart &&
         offsetof(Record, end) == set::kEnd && offsetof(Record, deviceId) == set::kDevice &&
         offsetof(Record, contextId) == set::kContext &&
         offsetof(Record, streamId) == set::kStream &&
         offsetof(Record, correlationId) == set::kCorrelation;
}

static_assert(KernelFieldsAgree<CUpti_ActivityKernel4>());
static_assert(KernelFieldsAgree<CUpti_ActivityKernel5>());
static_assert(KernelFieldsAgree<CUpti_ActivityKernel6>());
static_assert(KernelFieldsAgree<CUpti_ActivityKernel7>());
static_assert(KernelFieldsAgree<CUpti_ActivityKernel8>());
static_assert(KernelFieldsAgree<CUpti_ActivityKernel9>());
static_assert(offsetof(CUpti_ActivityKernel9, graphId) == kernel::kGraph);
#if CUPTI_API_VERSION >= 130000
static_assert(KernelFieldsAgree<CUpti_ActivityKernel10>());
static_assert(offsetof(CUpti_ActivityKernel10, graphId) == kernel::kGraph);
#endif
static_assert(CopyFieldsAgree<CUpti_ActivityMemcpy4>() &&
              CopyFieldsAgree<CUpti_ActivityMemcpy5>() &&
              CopyFieldsAgree<CUpti_ActivityMemcpy6>() &&
              CopyFieldsAgree<CUpti_ActivityMemcpyPtoP4>());
static_assert(offsetof(CUpti_ActivityMemcpy6, correlationId) == copy::kCorrelation);
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, correlationId) == copy::kPeerCorrelation);
static_assert(SetFieldsAgree<CUpti_ActivityMemset3>() && SetFieldsAgree<CUpti_ActivityMemset4>());
static_assert(CUPTI_ACTIVITY_KIND_MEMCPY == gpu::cupti::kKindMemcpy &&
              CUPTI_ACTIVITY_KIND_MEMSET == gpu::cupti::kKindMemset &&
              CUPTI_ACTIVITY_KIND_KERNEL == gpu::cupti::kKindKernel &&
              CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == gpu::cupti::kKindConcurrentKernel &&
              CUPTI_ACTIVITY_KIND_MEMCPY2 == gpu::cupti::kKindMemcpyPeer);
static_assert(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == 1);

static_assert(sizeof(CUipcMemHandle) == sizeof(gpu::CuIpcMemHandle));
static_assert(sizeof(CUdeviceptr) == sizeof(gpu::CuDevicePtr) &&
              sizeof(CUdevice) == sizeof(gpu::CuDevice));
static_assert(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT ==
              int{gpu::kCuAttributeMultiprocessorCount});
static_assert(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE == int{gpu::kCuAttributeL2CacheBytes});
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR == int{gpu::kCuAttributeComputeMajor});
static_assert(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR == int{gpu::kCuAttributeComputeMinor});
static_assert(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH ==
              int{gpu::kCuAttributeMemoryBusWidthBits});
static_assert(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR ==
              int{gpu::kCuAttributeMaxThreadsPerMultiprocessor});
static_assert(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ==
              int{gpu::kCuAttributeMaxSharedBytesPerBlockOptin});
static_assert(CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE ==
              int{gpu::kCuAttributeMaxPersistingL2Bytes});
static_assert(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES ==
              int{gpu::kCuFuncMaxDynamicSharedBytes});
static_assert(CU_LIMIT_STACK_SIZE == int{gpu::kCuLimitStackBytes} &&
              CU_LIMIT_MALLOC_HEAP_SIZE == int{gpu::kCuLimitMallocHeapBytes} &&
              CU_LIMIT_PERSISTING_L2_CACHE_SIZE == int{gpu::kCuLimitPersistingL2Bytes});
static_assert(CUDA_ERROR_OUT_OF_MEMORY == gpu::kCuErrorOutOfMemory &&
              CUDA_ERROR_NOT_READY == gpu::kCuErrorNotReady);
static_assert(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ==
              gpu::kCuLaunchProgrammaticSerialization);
static_assert(sizeof(CUlaunchAttribute) == sizeof(gpu::CuLaunchAttribute) &&
              offsetof(CUlaunchAttribute, value) == offsetof(gpu::CuLaunchAttribute, value));
static_assert(sizeof(CUlaunchConfig) == sizeof(gpu::CuLaunchConfig) &&
              offsetof(CUlaunchConfig, sharedMemBytes) ==
                  offsetof(gpu::CuLaunchConfig, dynamic_shared_bytes) &&
              offsetof(CUlaunchConfig, hStream) == offsetof(gpu::CuLaunchConfig, stream) &&
              offsetof(CUlaunchConfig, attrs) == offsetof(gpu::CuLaunchConfig, attributes) &&
              offsetof(CUlaunchConfig, numAttrs) == offsetof(gpu::CuLaunchConfig, num_attributes));
static_assert(CU_EVENT_DISABLE_TIMING == unsigned{gpu::kCuEventDisableTiming});

// The signatures: same number of parameters, each of the same size, as in cuda.h. (Opaque handles
// differ in name only.)
template <typename... A, typename... B>
constexpr bool SameShape(CUresult (*)(A...), gpu::CuResult (*)(B...)) {
  if constexpr (sizeof...(A) == sizeof...(B)) {
    return ((sizeof(A) == sizeof(B)) && ...);
  } else {
    return false;
  }
}
#define DAVINCI_SAME_(mine, theirs) \
  static_assert(SameShape(decltype(&theirs){}, decltype(gpu::CudaDriver::mine){}), #theirs)
DAVINCI_SAME_(Init, cuInit);
DAVINCI_SAME_(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain);
DAVINCI_SAME_(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease);
DAVINCI_SAME_(DevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState);
DAVINCI_SAME_(CtxGetLimit, cuCtxGetLimit);
DAVINCI_SAME_(CtxSetLimit, cuCtxSetLimit);
DAVINCI_SAME_(ModuleLoadData, cuModuleLoadData);
DAVINCI_SAME_(ModuleGetFunction, cuModuleGetFunction);
DAVINCI_SAME_(FuncSetAttribute, cuFuncSetAttribute);
DAVINCI_SAME_(FuncGetAttribute, cuFuncGetAttribute);
DAVINCI_SAME_(LaunchKernel, cuLaunchKernel);
DAVINCI_SAME_(LaunchKernelEx, cuLaunchKernelEx);
DAVINCI_SAME_(MemAlloc, cuMemAlloc);
DAVINCI_SAME_(MemFree, cuMemFree);
DAVINCI_SAME_(MemGetInfo, cuMemGetInfo);
DAVINCI_SAME_(MemAllocHost, cuMemAllocHost);
DAVINCI_SAME_(MemGetAddressRange, cuMemGetAddressRange);
DAVINCI_SAME_(IpcGetMemHandle, cuIpcGetMemHandle);
DAVINCI_SAME_(IpcOpenMemHandle, cuIpcOpenMemHandle);
DAVINCI_SAME_(IpcCloseMemHandle, cuIpcCloseMemHandle);
DAVINCI_SAME_(MemcpyHtoDAsync, cuMemcpyHtoDAsync);
DAVINCI_SAME_(MemcpyDtoHAsync, cuMemcpyDtoHAsync);
DAVINCI_SAME_(MemcpyDtoDAsync, cuMemcpyDtoDAsync);
DAVINCI_SAME_(MemsetD8Async, cuMemsetD8Async);
DAVINCI_SAME_(MemsetD32Async, cuMemsetD32Async);
DAVINCI_SAME_(StreamCreate, cuStreamCreate);
DAVINCI_SAME_(EventCreate, cuEventCreate);
DAVINCI_SAME_(EventRecord, cuEventRecord);
DAVINCI_SAME_(EventElapsedTime, cuEventElapsedTime);

}  // namespace
