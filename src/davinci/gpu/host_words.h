// HostWords: host memory that several processes and the device share, and stream operations on its
// 32-bit words. A waiting stream leaves the device to other contexts; a kernel that spins does not.
//
// The memory is the caller's (a mapping of a memfd) and must outlive the object. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "davinci/base/status.h"
#include "davinci/gpu/driver_api.h"

namespace davinci::gpu {

class HostWords {
 public:
  // `pointer`: aligned to a page. Fails when it is registered already.
  static Result<std::unique_ptr<HostWords>> Register(std::shared_ptr<CudaContext> context,
                                                     void* pointer, size_t bytes);
  ~HostWords();
  HostWords(const HostWords&) = delete;
  HostWords& operator=(const HostWords&) = delete;

  CuDevicePtr device_pointer() const { return device_; }
  void* pointer() const { return pointer_; }

 private:
  HostWords(std::shared_ptr<CudaContext> context, void* pointer)
      : context_(std::move(context)), pointer_(pointer) {}

  std::shared_ptr<CudaContext> context_;
  void* pointer_;
  CuDevicePtr device_ = 0;
};

// What is queued on `stream` from here on runs once the word is `value`. [async]
Status WaitForWord(const CudaContext& context, CuDevicePtr word, uint32_t value, CuStream stream);
// The word becomes `value` once everything queued on `stream` so far is done. [async]
Status WriteWord(const CudaContext& context, CuDevicePtr word, uint32_t value, CuStream stream);

}  // namespace davinci::gpu
