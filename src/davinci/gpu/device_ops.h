// What the judge does to device memory: cold caches, poisoned outputs, checksums, samples,
// comparison, peak probes. The work happens on the device, near its memory bandwidth; results come
// back as small host structs.
//
// Pointers are device addresses valid in the context (torch's data_ptr(), or memory opened through
// IPC), aligned to their element. Counts are in elements and may exceed 2^32. `stream` is a CUDA
// stream handle; nullptr is the legacy default stream. Functions that return data synchronise with
// that stream; FlushL2, Poison and Touch only enqueue.
//
// dtype: DTypeNumber (kernels/compare_layout.h): f16 0, bf16 1, f32 2, f64 3, i8 4, u8 5, i16 6,
// i32 7, i64 8, bool 9.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/gpu/driver_api.h"
#include "davinci/gpu/kernel_library.h"
#include "davinci/gpu/kernels/compare_layout.h"
#include "davinci/gpu/kernels/keyed.h"

namespace davinci::gpu {

// The pattern an element of this dtype is poisoned with; kInvalidArgument for an unknown number.
Result<keyed::PoisonKind> PoisonKindOf(int dtype);

struct PoisonCount {
  uint64_t num_poisoned = 0;  // elements that still hold their pattern: never written
  uint64_t first_index = 0;   // of the first such element; meaningful when num_poisoned > 0
};

struct PeakOptions {
  uint64_t copy_bytes =
      uint64_t{1}
      << 30;  // per buffer; two are allocated. Several times the L2, or the cache is measured
  int repeats = 10;
};

struct Peaks {
  double copy_gb_per_s = 0;  // bytes read + bytes written, best repeat
  double copy_gb_per_s_median = 0;
  double write_gb_per_s = 0;
  double read_gb_per_s = 0;
  double fp32_tflops = 0;
  double empty_kernel_us = 0;  // between two events around a kernel that does nothing, median
};

// Thread-safe; calls on one object are serialised. Device memory it holds: the flush buffer (2 x
// L2, made at the first flush) and about 4 MiB of scratch.
class DeviceOps {
 public:
  static Result<std::unique_ptr<DeviceOps>> Create(std::shared_ptr<CudaContext> context,
                                                   const KernelLibraryOptions& options);
  ~DeviceOps();
  DeviceOps(const DeviceOps&) = delete;
  DeviceOps& operator=(const DeviceOps&) = delete;

  const CudaContext& context() const { return *context_; }
  const KernelLibrary& kernels() const { return *kernels_; }

  // Evicts everything from the L2 by writing twice its size of keyed noise; with `leave_clean` the
  // noise is then read back, so that the next kernel does not pay for writing it to memory.
  Status FlushL2(uint64_t key, bool leave_clean, CuStream stream);

  // Every element gets a pattern that is a signalling NaN for floats (kernels/keyed.h).
  Status Poison(CuDevicePtr data, uint64_t count, int dtype, uint64_t key, CuStream stream);
  Result<PoisonCount> CountPoisoned(CuDevicePtr data, uint64_t count, int dtype, uint64_t key,
                                    CuStream stream);
  // Equal to numerics::KeyedChecksum of the same bytes on the host.
  Result<uint64_t> Checksum(CuDevicePtr data, uint64_t num_bytes, uint64_t key, CuStream stream);
  // bits[j] = the element at keyed::SamplePosition(key, j, count), zero-extended. element_bytes: 1,
  // 2, 4 or 8.
  Status Sample(CuDevicePtr data, uint64_t count, int element_bytes, uint64_t key,
                std::span<uint64_t> bits, CuStream stream);

  // The same of Checksum, Sample and AcceptsQuickly, with the result left in device memory:
  // `result` and `accepted` (0 or 1) one word, `bits` num_samples words, `tolerance` a copy of it
  // on the device. Many are read back at once. [async]
  Status QueueChecksum(CuDevicePtr data, uint64_t num_bytes, uint64_t key, CuDevicePtr result,
                       CuStream stream);
  Status QueueSample(CuDevicePtr data, uint64_t count, int element_bytes, uint64_t key,
                     uint64_t num_samples, CuDevicePtr bits, CuStream stream);
  // Of some elements of a floating type other than fp64.
  Status QueueAcceptsQuickly(CuDevicePtr baseline, CuDevicePtr candidate, int dtype, uint64_t count,
                             CuDevicePtr tolerance, double factor, CuDevicePtr accepted,
                             CuStream stream);

  // Adds to the numerics::ErrorProfile at `profile` (host memory). truth: fp64. dont_care: device
  // bytes or 0. From 2^27 elements on every eighth is a sample (kernels/profile.cu).
  Status AccumulateProfile(CuDevicePtr truth, CuDevicePtr honest, int honest_dtype,
                           int output_dtype, uint64_t count, void* profile, CuDevicePtr dont_care,
                           CuStream stream);
  // to[i] (fp64) = from[i] moved by a keyed share of it, up to eps / 2; infinities and NaN stay.
  Status Nudge(CuDevicePtr from, int dtype, uint64_t count, double eps, uint64_t key,
               CuDevicePtr to, CuStream stream);
  // out: `count` floats of keyed::StressKind `kind`, the same for the same key.
  Status Stress(CuDevicePtr out, uint64_t count, int kind, uint64_t key, CuStream stream);
  // `tolerance`: a numerics::Tolerance in host memory, built for `dtype` (kInvalidArgument
  // otherwise). truth: fp64.
  Result<CompareTotals> Compare(CuDevicePtr truth, CuDevicePtr candidate, int dtype, uint64_t count,
                                const void* tolerance, CuDevicePtr dont_care, CuStream stream);
  // Against a baseline of the same dtype; every limit is multiplied by `factor`.
  Result<CompareTotals> CompareDirect(CuDevicePtr baseline, CuDevicePtr candidate, int dtype,
                                      uint64_t count, const void* tolerance, double factor,
                                      CuStream stream);
  // Whether quick acceptance (element_rules.h) says that CompareDirect would pass. Reads each side
  // once, at the rate of memory; false says nothing, and is all there is for fp64.
  Result<bool> AcceptsQuickly(CuDevicePtr baseline, CuDevicePtr candidate, int dtype,
                              uint64_t count, const void* tolerance, double factor,
                              CuStream stream);
  // Integers and bool: equal to the truth (of `truth_dtype`) or to one of at most 4 variants stored
  // like the candidate.
  Result<CompareTotals> CompareIntegers(CuDevicePtr truth, int truth_dtype, CuDevicePtr candidate,
                                        int dtype, uint64_t count,
                                        std::span<const CuDevicePtr> variants, CuStream stream);

  // Keeps the device from other contexts until the word of mapped host memory is `value`, `max_ns`
  // at most. [async]
  Status Hold(CuDevicePtr word, uint32_t value, uint64_t max_ns, CuStream stream);

  Result<Peaks> MeasurePeaks(const PeakOptions& options, CuStream stream);

 private:
  struct Functions {
    CuFunction fill_random, touch, poison, poison_count, checksum, checksum_finish, sample;
    CuFunction compare, compare_direct, compare_integers, compare_finish, compare_quickly,
        compare_quickly_finish, profile, profile_finish, nudge, stress, copy, fma_f32, empty, hold;
  };

  DeviceOps() = default;
  unsigned GridFor(uint64_t work_items, unsigned block, unsigned blocks_per_sm) const;
  template <typename... Args>
  Status Launch(CuFunction function, unsigned grid, unsigned block, unsigned shared_bytes,
                CuStream stream, Args... args) const;
  // With mutex_ held and the context current.
  Status EnqueueChecksum(CuDevicePtr data, uint64_t num_bytes, uint64_t key, CuDevicePtr result,
                         CuStream stream);
  Status EnqueueSample(CuDevicePtr data, uint64_t count, int element_bytes, uint64_t key,
                       uint64_t num_samples, CuDevicePtr bits, CuStream stream);
  Status EnqueueAcceptsQuickly(CuDevicePtr baseline, CuDevicePtr candidate, int dtype,
                               uint64_t count, CuDevicePtr tolerance, double factor,
                               CuDevicePtr accepted, CuStream stream);
  Status ReadBack(void* to, CuDevicePtr from, size_t bytes, CuStream stream)
      DAVINCI_REQUIRES(mutex_);
  Status Upload(CuDevicePtr to, const void* from, size_t bytes, CuStream stream)
      DAVINCI_REQUIRES(mutex_);
  Status EnsureFlushBuffer() DAVINCI_REQUIRES(mutex_);
  unsigned ProfileSharedBytes() const;
  Result<CompareTotals> FinishCompare(unsigned grid, CuDevicePtr truth, int truth_dtype,
                                      CuDevicePtr candidate, int dtype, uint64_t count,
                                      CuDevicePtr limits, double factor, CuStream stream)
      DAVINCI_REQUIRES(mutex_);

  std::shared_ptr<CudaContext> context_;
  std::unique_ptr<KernelLibrary> kernels_;
  Functions functions_{};
  Mutex mutex_;  // scratch and pinned memory are shared by all calls
  CuDevicePtr scratch_ = 0;
  void* pinned_ = nullptr;
  int profile_cells_ = 0;
  CuDevicePtr flush_buffer_ DAVINCI_GUARDED_BY(mutex_) = 0;
  uint64_t flush_bytes_ DAVINCI_GUARDED_BY(mutex_) = 0;
};

}  // namespace davinci::gpu
