// The part of the CUDA driver interface davinci uses inside worker processes, bound at run time
// from libcuda.so.1. The types are declared here: no CUDA header is needed to build.
//
// Everything runs in the device's primary context, which is the one PyTorch uses, so pointers,
// streams and events of the two are interchangeable. Nothing here runs in the supervisor: a process
// that called cuInit cannot fork CUDA children.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "davinci/base/status.h"

namespace davinci::gpu {

using CuResult = int;
using CuDevice = int;
using CuDevicePtr = unsigned long long;
using CuContext = struct CuContextOpaque*;
using CuModule = struct CuModuleOpaque*;
using CuFunction = struct CuFunctionOpaque*;
using CuStream = struct CuStreamOpaque*;  // nullptr is the legacy default stream
using CuEvent = struct CuEventOpaque*;

constexpr CuResult kCuSuccess = 0;
constexpr CuResult kCuErrorOutOfMemory = 2;
constexpr CuResult kCuErrorNotReady = 600;

enum CuDeviceAttribute : int {
  kCuAttributeMultiprocessorCount = 16,
  kCuAttributeClockRateKhz = 13,
  kCuAttributePciBusId = 33,
  kCuAttributePciDeviceId = 34,
  kCuAttributeMemoryClockRateKhz = 36,
  kCuAttributeMemoryBusWidthBits = 37,
  kCuAttributeL2CacheBytes = 38,
  kCuAttributeMaxThreadsPerMultiprocessor = 39,
  kCuAttributePciDomainId = 50,
  kCuAttributeComputeMajor = 75,
  kCuAttributeComputeMinor = 76,
  kCuAttributeMaxSharedBytesPerBlockOptin = 97,
  kCuAttributeMaxPersistingL2Bytes = 108,
};
enum CuFunctionAttribute : int {
  kCuFuncNumRegisters = 4,
  kCuFuncLocalBytes = 3,
  kCuFuncMaxDynamicSharedBytes = 8,
};
enum CuLimit : int {
  kCuLimitStackBytes = 0,
  kCuLimitMallocHeapBytes = 2,
  kCuLimitPersistingL2Bytes = 6
};
enum CuEventFlags : unsigned { kCuEventDefault = 0, kCuEventDisableTiming = 2 };

// cuLaunchKernelEx's arguments.
struct CuLaunchAttribute {
  int id = 0;
  alignas(8) union {
    int flag;
    char bytes[64];
  } value{};
};
// 1: the kernel may begin while the one ahead of it on the stream runs; it waits for that one's end
// itself (griddepcontrol.wait). Devices of compute capability 9.0 and later.
constexpr int kCuLaunchProgrammaticSerialization = 6;
struct CuLaunchConfig {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned dynamic_shared_bytes = 0;
  CuStream stream = nullptr;
  CuLaunchAttribute* attributes = nullptr;
  unsigned num_attributes = 0;
};

// What cuIpcGetMemHandle fills; opaque bytes that may be sent to another process of this machine.
struct CuIpcMemHandle {
  std::array<unsigned char, 64> bytes{};
};

// name in this struct, symbol in the library, parameters. All exported since CUDA 11.8.
#define DAVINCI_CUDA_DRIVER_FUNCTIONS(X)                                                        \
  X(Init, "cuInit", (unsigned flags))                                                           \
  X(DriverGetVersion, "cuDriverGetVersion", (int* version))                                     \
  X(GetErrorName, "cuGetErrorName", (CuResult code, const char** text))                         \
  X(GetErrorString, "cuGetErrorString", (CuResult code, const char** text))                     \
  X(DeviceGetCount, "cuDeviceGetCount", (int* count))                                           \
  X(DeviceGet, "cuDeviceGet", (CuDevice * device, int ordinal))                                 \
  X(DeviceGetName, "cuDeviceGetName", (char* name, int length, CuDevice device))                \
  X(DeviceGetUuid, "cuDeviceGetUuid", (unsigned char* uuid16, CuDevice device))                 \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, CuDevice device))   \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, CuDevice device))                   \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CuContext * context, CuDevice device)) \
  X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CuDevice device))                 \
  X(DevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState",                                     \
    (CuDevice device, unsigned* flags, int* active))                                            \
  X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CuContext context))                                 \
  X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CuContext * context))                                 \
  X(CtxSynchronize, "cuCtxSynchronize", ())                                                     \
  X(CtxResetPersistingL2Cache, "cuCtxResetPersistingL2Cache", ())                               \
  X(CtxGetLimit, "cuCtxGetLimit", (size_t * value, int limit))                                  \
  X(CtxSetLimit, "cuCtxSetLimit", (int limit, size_t value))                                    \
  X(ModuleLoadData, "cuModuleLoadData", (CuModule * module, const void* image))                 \
  X(ModuleUnload, "cuModuleUnload", (CuModule module))                                          \
  X(ModuleGetFunction, "cuModuleGetFunction",                                                   \
    (CuFunction * function, CuModule module, const char* name))                                 \
  X(FuncSetAttribute, "cuFuncSetAttribute", (CuFunction function, int attribute, int value))    \
  X(FuncGetAttribute, "cuFuncGetAttribute", (int* value, int attribute, CuFunction function))   \
  X(LaunchKernel, "cuLaunchKernel",                                                             \
    (CuFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
     unsigned block_y, unsigned block_z, unsigned dynamic_shared_bytes, CuStream stream,        \
     void** parameters, void** extra))                                                          \
  X(LaunchKernelEx, "cuLaunchKernelEx",                                                         \
    (const CuLaunchConfig* config, CuFunction function, void** parameters, void** extra))       \
  X(MemAlloc, "cuMemAlloc_v2", (CuDevicePtr * pointer, size_t bytes))                           \
  X(MemFree, "cuMemFree_v2", (CuDevicePtr pointer))                                             \
  X(MemGetInfo, "cuMemGetInfo_v2", (size_t * free_bytes, size_t * total_bytes))                 \
  X(MemAllocHost, "cuMemAllocHost_v2", (void** pointer, size_t bytes))                          \
  X(MemFreeHost, "cuMemFreeHost", (void* pointer))                                              \
  X(MemGetAddressRange, "cuMemGetAddressRange_v2",                                              \
    (CuDevicePtr * base, size_t * bytes, CuDevicePtr pointer))                                  \
  X(IpcGetMemHandle, "cuIpcGetMemHandle", (CuIpcMemHandle * handle, CuDevicePtr pointer))       \
  X(IpcOpenMemHandle, "cuIpcOpenMemHandle_v2",                                                  \
    (CuDevicePtr * pointer, CuIpcMemHandle handle, unsigned flags))                             \
  X(IpcCloseMemHandle, "cuIpcCloseMemHandle", (CuDevicePtr pointer))                            \
  X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                                    \
    (CuDevicePtr to, const void* from, size_t bytes, CuStream stream))                          \
  X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                                    \
    (void* to, CuDevicePtr from, size_t bytes, CuStream stream))                                \
  X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                                    \
    (CuDevicePtr to, CuDevicePtr from, size_t bytes, CuStream stream))                          \
  X(MemsetD8Async, "cuMemsetD8Async",                                                           \
    (CuDevicePtr to, unsigned char value, size_t bytes, CuStream stream))                       \
  X(MemsetD32Async, "cuMemsetD32Async",                                                         \
    (CuDevicePtr to, unsigned value, size_t words, CuStream stream))                            \
  X(StreamCreate, "cuStreamCreate", (CuStream * stream, unsigned flags))                        \
  X(StreamDestroy, "cuStreamDestroy_v2", (CuStream stream))                                     \
  X(StreamSynchronize, "cuStreamSynchronize", (CuStream stream))                                \
  X(StreamQuery, "cuStreamQuery", (CuStream stream))                                            \
  X(EventCreate, "cuEventCreate", (CuEvent * event, unsigned flags))                            \
  X(EventDestroy, "cuEventDestroy_v2", (CuEvent event))                                         \
  X(EventRecord, "cuEventRecord", (CuEvent event, CuStream stream))                             \
  X(EventSynchronize, "cuEventSynchronize", (CuEvent event))                                    \
  X(EventElapsedTime, "cuEventElapsedTime", (float* milliseconds, CuEvent begin, CuEvent end))

// The bound functions, called directly: driver.MemAlloc(&p, n). Immutable once loaded; as
// thread-safe as the driver.
struct CudaDriver {
#define DAVINCI_DECLARE_(name, symbol, parameters) CuResult(*name) parameters = nullptr;
  DAVINCI_CUDA_DRIVER_FUNCTIONS(DAVINCI_DECLARE_)
#undef DAVINCI_DECLARE_
  std::string library_path;

  // The process's one copy. kNotFound when there is no driver library, kFailedPrecondition when it
  // is too old. Does not call cuInit.
  static Result<const CudaDriver*> Load();

  // "cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY)". kResourceExhausted for exhausted
  // memory, kUnavailable for errors after which the context is lost (a crashed kernel, a device
  // gone), kInternal otherwise; Ok for kCuSuccess.
  Status Check(CuResult code, const char* what) const;
};

struct CudaDeviceProperties {
  std::string name;
  std::string uuid;  // "GPU-…", NVML's spelling
  int multiprocessors = 0;
  int compute_major = 0;
  int compute_minor = 0;
  uint64_t l2_bytes = 0;
  uint64_t memory_total_bytes = 0;
  int max_threads_per_multiprocessor = 0;
  int max_shared_bytes_per_block = 0;
  int max_persisting_l2_bytes = 0;
  int memory_bus_width_bits = 0;
  int driver_cuda_version = 0;
};

// The retained primary context of one device. Thread-safe.
class CudaContext {
 public:
  // `ordinal` counts CUDA's visible devices, as torch.cuda does.
  static Result<std::shared_ptr<CudaContext>> Retain(int ordinal);
  ~CudaContext();
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  const CudaDriver& driver() const { return *driver_; }
  CuContext handle() const { return context_; }
  int ordinal() const { return ordinal_; }
  const CudaDeviceProperties& properties() const { return properties_; }
  // Whether something else in this process (torch) had made the context before us.
  bool was_active() const { return was_active_; }

 private:
  CudaContext() = default;
  const CudaDriver* driver_ = nullptr;
  CuDevice device_ = 0;
  CuContext context_ = nullptr;
  int ordinal_ = 0;
  bool was_active_ = false;
  CudaDeviceProperties properties_;
};

// Makes a context current on this thread for a scope and restores what was current before, so that
// PyTorch's notion of the current device is never disturbed. Check status() before calling the
// driver.
class ScopedCudaContext {
 public:
  explicit ScopedCudaContext(const CudaContext& context);
  ~ScopedCudaContext();
  ScopedCudaContext(const ScopedCudaContext&) = delete;
  ScopedCudaContext& operator=(const ScopedCudaContext&) = delete;
  Status status() const { return status_; }

 private:
  const CudaDriver& driver_;
  Status status_;
};

}  // namespace davinci::gpu
