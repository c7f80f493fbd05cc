// Streams, device guards and checks of c10/cuda and ATen/cuda, declared over the functions
// libc10_cuda and libtorch_cuda export. Layouts match c10::Stream (a device and a 64-bit id).
#pragma once

#include <cuda_runtime_api.h>
#ifdef DAVINCI_NEED_CUBLAS
#include <cublas_v2.h>
#endif

#include <davinci_torch/tensor.h>

namespace c10 {
class Stream final {
 public:
  enum Unsafe { UNSAFE };
  explicit Stream(Unsafe, Device device, StreamId id) : device_(device), id_(id) {}
  Device device() const noexcept { return device_; }
  DeviceType device_type() const noexcept { return device_.type(); }
  DeviceIndex device_index() const noexcept { return device_.index(); }
  StreamId id() const noexcept { return id_; }
  bool operator==(const Stream& o) const noexcept { return device_ == o.device_ && id_ == o.id_; }
  bool operator!=(const Stream& o) const noexcept { return !(*this == o); }

 private:
  Device device_;
  StreamId id_;
};
}  // namespace c10

namespace c10::cuda {
DeviceIndex device_count() noexcept;
DeviceIndex current_device();
void set_device(DeviceIndex device, const bool force);
void device_synchronize();
DeviceIndex ExchangeDevice(DeviceIndex device);
cudaError_t MaybeSetDevice(DeviceIndex device);
void c10_cuda_check_implementation(const int32_t err, const char* filename,
                                   const char* function_name, const uint32_t line_number,
                                   const bool include_device_assertions);

class CUDAStream {
 public:
  enum Unchecked { UNCHECKED };
  explicit CUDAStream(Stream stream) : stream_(stream) {}
  explicit CUDAStream(Unchecked, Stream stream) : stream_(stream) {}
  bool operator==(const CUDAStream& o) const noexcept { return stream_ == o.stream_; }
  bool operator!=(const CUDAStream& o) const noexcept { return stream_ != o.stream_; }
  operator cudaStream_t() const { return stream(); }
  operator Stream() const { return stream_; }
  Stream unwrap() const { return stream_; }
  DeviceIndex device_index() const { return stream_.device_index(); }
  Device device() const { return Device(kCUDA, device_index()); }
  StreamId id() const { return stream_.id(); }
  bool query() const;
  void synchronize() const;
  cudaStream_t stream() const;

 private:
  Stream stream_;
};
CUDAStream getCurrentCUDAStream(DeviceIndex device_index = -1);
CUDAStream getDefaultCUDAStream(DeviceIndex device_index = -1);
CUDAStream getStreamFromPool(const bool is_high_priority = false, DeviceIndex device = -1);
CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device_index);
void setCurrentCUDAStream(CUDAStream stream);

namespace davinci {
inline void Check(cudaError_t error, const char* file, const char* function, unsigned line) {
  c10_cuda_check_implementation(static_cast<int32_t>(error), file, function, line, true);
}
}  // namespace davinci

struct CUDAGuard {
  CUDAGuard() = delete;
  explicit CUDAGuard(DeviceIndex index) : original_(ExchangeDevice(index)), current_(index) {}
  explicit CUDAGuard(Device device) : CUDAGuard(Index(device)) {}
  CUDAGuard(const CUDAGuard&) = delete;
  CUDAGuard& operator=(const CUDAGuard&) = delete;
  ~CUDAGuard() { (void)MaybeSetDevice(original_); }
  void set_device(Device device) { set_index(Index(device)); }
  void set_index(DeviceIndex index) {
    ExchangeDevice(index);
    current_ = index;
  }
  Device original_device() const { return Device(kCUDA, original_); }
  Device current_device() const { return Device(kCUDA, current_); }

 private:
  static DeviceIndex Index(Device device) {
    TORCH_INTERNAL_ASSERT(device.is_cuda());
    return device.has_index() ? device.index() : cuda::current_device();
  }
  DeviceIndex original_, current_;
};

struct OptionalCUDAGuard {
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index) {
    if (index) guard_.emplace(*index);
  }
  OptionalCUDAGuard(const OptionalCUDAGuard&) = delete;
  void set_device(Device device) {
    if (guard_)
      guard_->set_device(device);
    else
      guard_.emplace(device);
  }
  void reset() { guard_.reset(); }

 private:
  std::optional<CUDAGuard> guard_;
};

struct CUDAStreamGuard {
  explicit CUDAStreamGuard(Stream stream)
      : device_(stream.device()),
        original_(getCurrentCUDAStream()),
        current_(CUDAStream(stream)),
        previous_(getCurrentCUDAStream(stream.device_index())) {
    setCurrentCUDAStream(current_);
  }
  CUDAStreamGuard(const CUDAStreamGuard&) = delete;
  ~CUDAStreamGuard() { setCurrentCUDAStream(previous_); }
  CUDAStream original_stream() const { return original_; }
  CUDAStream current_stream() const { return current_; }

 private:
  CUDAGuard device_;
  CUDAStream original_, current_, previous_;
};
}  // namespace c10::cuda

namespace at {
namespace cuda {
using namespace c10::cuda;  // NOLINT: as LibTorch does
using c10::cuda::CUDAGuard;
using c10::cuda::OptionalCUDAGuard;
cudaDeviceProp* getCurrentDeviceProperties();
cudaDeviceProp* getDeviceProperties(c10::DeviceIndex device);
int warp_size();
inline int64_t getNumGPUs() { return c10::cuda::device_count(); }
inline bool is_available() { return c10::cuda::device_count() > 0; }
#ifdef DAVINCI_NEED_CUBLAS
cublasHandle_t getCurrentCUDABlasHandle(bool setup = true);
#endif
}  // namespace cuda
}  // namespace at

#define C10_CUDA_CHECK(EXPR) \
  ::c10::cuda::davinci::Check((EXPR), __FILE__, __func__, static_cast<unsigned>(__LINE__))
#define AT_CUDA_CHECK(EXPR) C10_CUDA_CHECK(EXPR)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define C10_CUDA_CHECK_WARN(EXPR)                                       \
  do {                                                                  \
    const cudaError_t davinci_error_ = EXPR;                            \
    if (davinci_error_ != cudaSuccess) {                                \
      (void)cudaGetLastError();                                         \
      TORCH_WARN("CUDA warning: ", cudaGetErrorString(davinci_error_)); \
    }                                                                   \
  } while (0)
#ifdef DAVINCI_NEED_CUBLAS
#define TORCH_CUDABLAS_CHECK(EXPR)                                                               \
  do {                                                                                           \
    const cublasStatus_t davinci_status_ = EXPR;                                                 \
    TORCH_CHECK(davinci_status_ == CUBLAS_STATUS_SUCCESS,                                        \
                "CUDA error: ", static_cast<int>(davinci_status_), " when calling `" #EXPR "`"); \
  } while (0)
#endif
