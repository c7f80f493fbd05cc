// Device memory shared between two processes. Exported: any pointer into a cudaMalloc'ed allocation
// (torch's caching allocator makes such, unless expandable segments are on). Opened: mapped into
// this process's context, counted, because one allocation holds many tensors and a driver may
// refuse to map it twice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/gpu/driver_api.h"

namespace davinci::gpu {

struct IpcExport {
  CuIpcMemHandle handle;          // of the whole allocation
  uint64_t offset_bytes = 0;      // of the pointer inside it
  uint64_t allocation_bytes = 0;  // so that the other side can check what it receives
};

// Thread-safe. Unmaps what is still open when destroyed.
class IpcMemory {
 public:
  explicit IpcMemory(std::shared_ptr<CudaContext> context);
  ~IpcMemory();
  IpcMemory(const IpcMemory&) = delete;
  IpcMemory& operator=(const IpcMemory&) = delete;

  Result<IpcExport> Export(CuDevicePtr pointer) const;
  // Address of the allocation's start here; the same one for the same handle until all its openers
  // closed it. The handle comes from a process that may be hostile: a forged one is the driver's to
  // refuse, and offset and size have to be checked by the caller against AllocationBytes. A handle
  // of this very process cannot be opened.
  Result<CuDevicePtr> Open(const CuIpcMemHandle& handle);
  Status Close(CuDevicePtr base);
  // Size of the allocation that contains `pointer`, as the driver of this process knows it.
  Result<uint64_t> AllocationBytes(CuDevicePtr pointer) const;

 private:
  struct Mapping {
    CuDevicePtr base = 0;
    int openers = 0;
  };
  std::shared_ptr<CudaContext> context_;
  Mutex mutex_;
  std::map<std::array<unsigned char, 64>, Mapping> mappings_ DAVINCI_GUARDED_BY(mutex_);
};

}  // namespace davinci::gpu
