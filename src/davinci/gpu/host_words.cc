#include "davinci/gpu/host_words.h"

namespace davinci::gpu {
namespace {

constexpr unsigned kPortableAndMapped = 3;
constexpr unsigned kWaitEqual = 1;
constexpr unsigned kWriteDefault = 0;

}  // namespace

Result<std::unique_ptr<HostWords>> HostWords::Register(std::shared_ptr<CudaContext> context,
                                                       void* pointer, size_t bytes) {
  ScopedCudaContext scope(*context);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CudaDriver& driver = context->driver();
  DAVINCI_RETURN_IF_ERROR(driver.Check(driver.MemHostRegister(pointer, bytes, kPortableAndMapped),
                                       "cuMemHostRegister"));
  std::unique_ptr<HostWords> words(new HostWords(context, pointer));
  DAVINCI_RETURN_IF_ERROR(driver.Check(driver.MemHostGetDevicePointer(&words->device_, pointer, 0),
                                       "cuMemHostGetDevicePointer"));
  return words;
}

HostWords::~HostWords() {
  ScopedCudaContext scope(*context_);
  if (scope.status().ok()) context_->driver().MemHostUnregister(pointer_);
}

Status WaitForWord(const CudaContext& context, CuDevicePtr word, uint32_t value, CuStream stream) {
  ScopedCudaContext scope(context);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return context.driver().Check(context.driver().StreamWaitValue32(stream, word, value, kWaitEqual),
                                "cuStreamWaitValue32");
}

Status WriteWord(const CudaContext& context, CuDevicePtr word, uint32_t value, CuStream stream) {
  ScopedCudaContext scope(context);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return context.driver().Check(
      context.driver().StreamWriteValue32(stream, word, value, kWriteDefault),
      "cuStreamWriteValue32");
}

}  // namespace davinci::gpu
