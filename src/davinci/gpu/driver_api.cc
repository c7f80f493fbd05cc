#include "davinci/gpu/driver_api.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/gpu/dynamic_library.h"

namespace davinci::gpu {
namespace {

Result<CudaDriver> BindDriver() {
  const std::vector<std::string> names = {"libcuda.so.1"};
  const std::vector<std::string> directories = {};
  auto library = DynamicLibrary::Open(names, directories);
  if (!library.ok()) return library.status().Annotate("CUDA driver");
  CudaDriver driver;
  driver.library_path = library->path();
#define DAVINCI_BIND_(name, symbol, parameters)                                       \
  driver.name = reinterpret_cast<decltype(driver.name)>(library->FindSymbol(symbol)); \
  if (driver.name == nullptr) {                                                       \
    return FailedPrecondition(                                                        \
        fmt::format("CUDA driver {}: no {}; install a driver of CUDA 11 or newer",    \
                    driver.library_path, symbol));                                    \
  }
  DAVINCI_CUDA_DRIVER_FUNCTIONS(DAVINCI_BIND_)
#undef DAVINCI_BIND_
  return driver;
}

std::string UuidText(const std::array<unsigned char, 16>& bytes) {
  std::string text = "GPU-";
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

}  // namespace

Result<const CudaDriver*> CudaDriver::Load() {
  // A success is kept for the life of the process; a failure is retried, since a driver may appear
  // in a long-lived process only through a remount, and trying costs microseconds.
  static Mutex mutex;
  static std::optional<CudaDriver> loaded;
  MutexLock lock(mutex);
  if (!loaded) {
    DAVINCI_ASSIGN_OR_RETURN(loaded, BindDriver());
  }
  return static_cast<const CudaDriver*>(&*loaded);
}

Status CudaDriver::Check(CuResult code, const char* what) const {
  if (code == kCuSuccess) return Status::Ok();
  const char* name = nullptr;
  const char* text = nullptr;
  GetErrorName(code, &name);
  GetErrorString(code, &text);
  std::string message = fmt::format("{}: {} ({})", what, text != nullptr ? text : "unknown error",
                                    name != nullptr ? name : fmt::format("{}", code).c_str());
  if (code == kCuErrorOutOfMemory) return ResourceExhausted(std::move(message));
  // Sticky errors of a crashed kernel (illegal address 700, launch timeout 702, assert 710,
  // hardware stack error and its kin 714–719), a lost device or driver shutdown.
  const bool context_lost = code == 700 || code == 702 || code == 710 ||
                            (code >= 714 && code <= 719) || code == 4 || code == 46 || code == 214;
  if (context_lost) return Unavailable(std::move(message));
  if (code == 100 || code == 3) return FailedPrecondition(std::move(message));
  return Internal(std::move(message));
}

Result<std::shared_ptr<CudaContext>> CudaContext::Retain(int ordinal) {
  DAVINCI_ASSIGN_OR_RETURN(const CudaDriver* driver, CudaDriver::Load());
  DAVINCI_RETURN_IF_ERROR(driver->Check(driver->Init(0), "cuInit"));
  std::shared_ptr<CudaContext> context(new CudaContext());
  context->driver_ = driver;
  context->ordinal_ = ordinal;
  int count = 0;
  DAVINCI_RETURN_IF_ERROR(driver->Check(driver->DeviceGetCount(&count), "cuDeviceGetCount"));
  if (ordinal < 0 || ordinal >= count) {
    return NotFound(fmt::format("CUDA device {}: this process sees {} device(s)", ordinal, count));
  }
  CuDevice& device = context->device_;
  DAVINCI_RETURN_IF_ERROR(driver->Check(driver->DeviceGet(&device, ordinal), "cuDeviceGet"));
  unsigned flags = 0;
  int active = 0;
  driver->DevicePrimaryCtxGetState(device, &flags, &active);
  context->was_active_ = active != 0;

  CudaDeviceProperties& properties = context->properties_;
  std::array<char, 256> name{};
  if (driver->DeviceGetName(name.data(), name.size(), device) == kCuSuccess) {
    properties.name = name.data();
  }
  std::array<unsigned char, 16> uuid{};
  if (driver->DeviceGetUuid(uuid.data(), device) == kCuSuccess) properties.uuid = UuidText(uuid);
  const auto attribute = [&](CuDeviceAttribute which) {
    int value = 0;
    driver->DeviceGetAttribute(&value, which, device);
    return value;
  };
  properties.multiprocessors = attribute(kCuAttributeMultiprocessorCount);
  properties.compute_major = attribute(kCuAttributeComputeMajor);
  properties.compute_minor = attribute(kCuAttributeComputeMinor);
  properties.l2_bytes = static_cast<uint64_t>(attribute(kCuAttributeL2CacheBytes));
  properties.max_threads_per_multiprocessor = attribute(kCuAttributeMaxThreadsPerMultiprocessor);
  properties.max_shared_bytes_per_block = attribute(kCuAttributeMaxSharedBytesPerBlockOptin);
  properties.max_persisting_l2_bytes = attribute(kCuAttributeMaxPersistingL2Bytes);
  properties.memory_bus_width_bits = attribute(kCuAttributeMemoryBusWidthBits);
  size_t total = 0;
  if (driver->DeviceTotalMem(&total, device) == kCuSuccess) properties.memory_total_bytes = total;
  driver->DriverGetVersion(&properties.driver_cuda_version);

  DAVINCI_RETURN_IF_ERROR(driver->Check(driver->DevicePrimaryCtxRetain(&context->context_, device),
                                        "cuDevicePrimaryCtxRetain"));
  return context;
}

CudaContext::~CudaContext() {
  if (context_ != nullptr) driver_->DevicePrimaryCtxRelease(device_);
}

ScopedCudaContext::ScopedCudaContext(const CudaContext& context)
    : driver_(context.driver()),
      status_(driver_.Check(driver_.CtxPushCurrent(context.handle()), "cuCtxPushCurrent")) {}

ScopedCudaContext::~ScopedCudaContext() {
  if (!status_.ok()) return;
  CuContext popped = nullptr;
  driver_.CtxPopCurrent(&popped);
}

}  // namespace davinci::gpu
