#include "davinci/gpu/ipc_memory.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/base/mutex.h"

namespace davinci::gpu {
namespace {

constexpr unsigned kLazyPeerAccess = 1;

}  // namespace

IpcMemory::IpcMemory(std::shared_ptr<CudaContext> context) : context_(std::move(context)) {}

IpcMemory::~IpcMemory() {
  ScopedCudaContext scope(*context_);
  if (!scope.status().ok()) return;
  for (const auto& [handle, mapping] : mappings_) {
    context_->driver().IpcCloseMemHandle(mapping.base);
  }
}

Result<IpcExport> IpcMemory::Export(CuDevicePtr pointer) const {
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CudaDriver& driver = context_->driver();
  CuDevicePtr base = 0;
  size_t bytes = 0;
  DAVINCI_RETURN_IF_ERROR(driver.Check(driver.MemGetAddressRange(&base, &bytes, pointer),
                                       "cuMemGetAddressRange (is it device memory?)"));
  IpcExport exported;
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.IpcGetMemHandle(&exported.handle, base),
                   "cuIpcGetMemHandle (memory of expandable segments cannot be shared)"));
  exported.offset_bytes = pointer - base;
  exported.allocation_bytes = bytes;
  return exported;
}

Result<CuDevicePtr> IpcMemory::Open(const CuIpcMemHandle& handle) {
  MutexLock lock(mutex_);
  if (const auto found = mappings_.find(handle.bytes); found != mappings_.end()) {
    ++found->second.openers;
    return found->second.base;
  }
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CudaDriver& driver = context_->driver();
  CuDevicePtr base = 0;
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.IpcOpenMemHandle(&base, handle, kLazyPeerAccess), "cuIpcOpenMemHandle"));
  mappings_.emplace(handle.bytes, Mapping{base, 1});
  return base;
}

Status IpcMemory::Close(CuDevicePtr base) {
  MutexLock lock(mutex_);
  for (auto it = mappings_.begin(); it != mappings_.end(); ++it) {
    if (it->second.base != base) continue;
    if (--it->second.openers > 0) return Status::Ok();
    mappings_.erase(it);
    ScopedCudaContext scope(*context_);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    const CudaDriver& driver = context_->driver();
    return driver.Check(driver.IpcCloseMemHandle(base), "cuIpcCloseMemHandle");
  }
  return NotFound(fmt::format("IPC memory at {:#x}: not opened here", base));
}

Result<uint64_t> IpcMemory::AllocationBytes(CuDevicePtr pointer) const {
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CudaDriver& driver = context_->driver();
  CuDevicePtr base = 0;
  size_t bytes = 0;
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.MemGetAddressRange(&base, &bytes, pointer), "cuMemGetAddressRange"));
  return uint64_t{bytes};
}

}  // namespace davinci::gpu
