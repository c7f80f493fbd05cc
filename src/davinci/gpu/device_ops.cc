#include "davinci/gpu/device_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "davinci/base/mutex.h"

namespace davinci::gpu {
namespace {

using numerics::DType;

constexpr unsigned kBufferBlock = 512;
constexpr unsigned kCompareBlock = kCompareThreads;
constexpr unsigned kProfileBlock = kProfileWarps * 32;
// Elements from which on an eighth of them tells how wrong honest ones are.
constexpr uint64_t kProfileSampledFrom = uint64_t{1} << 27;
constexpr int kProfileTablesBytes = kProfileWarps * kProfileTableBytes;

// Scratch: results first, then the tolerance, one profile, then the partial results of the blocks.
constexpr size_t kResultOffset = 0;
constexpr size_t kToleranceOffset = 4096;
constexpr size_t kProfileOffset = 16384;
constexpr size_t kPartialOffset = 32768;
constexpr size_t kPartialBytes = size_t{6} << 20;
constexpr size_t kScratchBytes = kPartialOffset + kPartialBytes;
constexpr size_t kPinnedBytes = size_t{1} << 20;
static_assert(kToleranceBytes <= kProfileOffset - kToleranceOffset);
static_assert(kErrorProfileBytes <= kPartialOffset - kProfileOffset);

bool IsFloat(int dtype) { return dtype >= 0 && dtype <= static_cast<int>(DType::kF64); }
bool IsInteger(int dtype) {
  return dtype >= static_cast<int>(DType::kI8) && dtype <= static_cast<int>(DType::kBool);
}

Status BadDtype(int dtype, const char* wanted) {
  return InvalidArgument(fmt::format("dtype {}: {} wanted here", dtype, wanted));
}

int Aligned(CuDevicePtr data, unsigned bytes) { return data % bytes == 0 ? 1 : 0; }

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

}  // namespace

Result<keyed::PoisonKind> PoisonKindOf(int dtype) {
  switch (static_cast<DType>(dtype)) {
    case DType::kF16:
      return keyed::kPoisonFloat16;
    case DType::kBf16:
      return keyed::kPoisonBfloat16;
    case DType::kF32:
      return keyed::kPoisonFloat32;
    case DType::kF64:
      return keyed::kPoisonFloat64;
    case DType::kI8:
    case DType::kU8:
      return keyed::kPoisonBits8;
    case DType::kI16:
      return keyed::kPoisonBits16;
    case DType::kI32:
      return keyed::kPoisonBits32;
    case DType::kI64:
      return keyed::kPoisonBits64;
    case DType::kBool:
      return keyed::kPoisonBool;
    default:
      break;
  }
  return InvalidArgument(fmt::format("dtype {}: not a known number", dtype));
}

Result<std::unique_ptr<DeviceOps>> DeviceOps::Create(std::shared_ptr<CudaContext> context,
                                                     const KernelLibraryOptions& options) {
  std::unique_ptr<DeviceOps> ops(new DeviceOps());
  ops->context_ = context;
  DAVINCI_ASSIGN_OR_RETURN(ops->kernels_, KernelLibrary::Load(std::move(context), options));
  ScopedCudaContext scope(*ops->context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  Functions& f = ops->functions_;
  const std::array<std::pair<CuFunction*, const char*>, 21> wanted = {{
      {&f.fill_random, "dv_fill_random"},
      {&f.touch, "dv_touch"},
      {&f.poison, "dv_poison"},
      {&f.poison_count, "dv_poison_count"},
      {&f.checksum, "dv_checksum"},
      {&f.checksum_finish, "dv_checksum_finish"},
      {&f.sample, "dv_sample"},
      {&f.compare, "dv_compare"},
      {&f.compare_direct, "dv_compare_direct"},
      {&f.compare_quickly, "dv_compare_quickly"},
      {&f.compare_quickly_finish, "dv_compare_quickly_finish"},
      {&f.compare_integers, "dv_compare_integers"},
      {&f.compare_finish, "dv_compare_finish"},
      {&f.profile, "dv_profile"},
      {&f.profile_finish, "dv_profile_finish"},
      {&f.nudge, "dv_nudge"},
      {&f.stress, "dv_stress"},
      {&f.copy, "dv_copy"},
      {&f.fma_f32, "dv_fma_f32"},
      {&f.empty, "dv_empty"},
      {&f.hold, "dv_hold"},
  }};
  for (const auto& [function, name] : wanted) {
    DAVINCI_ASSIGN_OR_RETURN(*function, ops->kernels_->Find(name));
  }
  const CudaDriver& driver = ops->context_->driver();
  // A part of a KiB is the block's own.
  const int room =
      ops->context_->properties().max_shared_bytes_per_block - kProfileTablesBytes - 1024;
  ops->profile_cells_ = std::clamp(room / kProfileCellBytes, 2, kMostProfileCells);
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.FuncSetAttribute(f.profile, kCuFuncMaxDynamicSharedBytes,
                                           static_cast<int>(ops->ProfileSharedBytes())),
                   "cuFuncSetAttribute"));
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.MemAlloc(&ops->scratch_, kScratchBytes), "cuMemAlloc"));
  return driver.Check(driver.MemAllocHost(&ops->pinned_, kPinnedBytes), "cuMemAllocHost").ok()
             ? Result<std::unique_ptr<DeviceOps>>(std::move(ops))
             : ResourceExhausted("cuMemAllocHost: no pinned memory");
}

DeviceOps::~DeviceOps() {
  if (context_ == nullptr) return;
  ScopedCudaContext scope(*context_);
  if (!scope.status().ok()) return;
  const CudaDriver& driver = context_->driver();
  if (scratch_ != 0) driver.MemFree(scratch_);
  if (flush_buffer_ != 0) driver.MemFree(flush_buffer_);
  if (pinned_ != nullptr) driver.MemFreeHost(pinned_);
}

unsigned DeviceOps::GridFor(uint64_t work_items, unsigned block, unsigned blocks_per_sm) const {
  const uint64_t needed = (work_items + block - 1) / block;
  const auto most = static_cast<uint64_t>(context_->properties().multiprocessors) * blocks_per_sm;
  return static_cast<unsigned>(std::clamp<uint64_t>(needed, 1, std::max<uint64_t>(most, 1)));
}

// The argument types must be exactly the kernel's: the driver copies sizeof(parameter) bytes from
// each address.
template <typename... Args>
Status DeviceOps::Launch(CuFunction function, unsigned grid, unsigned block, unsigned shared_bytes,
                         CuStream stream, Args... args) const {
  std::array<void*, sizeof...(Args) + 1> parameters = {static_cast<void*>(&args)..., nullptr};
  const CudaDriver& driver = context_->driver();
  return driver.Check(driver.LaunchKernel(function, grid, 1, 1, block, 1, 1, shared_bytes, stream,
                                          parameters.data(), nullptr),
                      "cuLaunchKernel");
}

Status DeviceOps::ReadBack(void* to, CuDevicePtr from, size_t bytes, CuStream stream) {
  const CudaDriver& driver = context_->driver();
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.MemcpyDtoHAsync(pinned_, from, bytes, stream), "cuMemcpyDtoHAsync"));
  DAVINCI_RETURN_IF_ERROR(driver.Check(driver.StreamSynchronize(stream), "cuStreamSynchronize"));
  std::memcpy(to, pinned_, bytes);
  return Status::Ok();
}

// The caller must synchronise with the stream before the next use of pinned_; all callers read a
// result back.
Status DeviceOps::Upload(CuDevicePtr to, const void* from, size_t bytes, CuStream stream) {
  std::memcpy(pinned_, from, bytes);
  const CudaDriver& driver = context_->driver();
  return driver.Check(driver.MemcpyHtoDAsync(to, pinned_, bytes, stream), "cuMemcpyHtoDAsync");
}

Status DeviceOps::EnsureFlushBuffer() {
  if (flush_buffer_ != 0) return Status::Ok();
  const CudaDriver& driver = context_->driver();
  // At least 64 MiB, should a driver not report the L2.
  const uint64_t bytes = std::max<uint64_t>(2 * context_->properties().l2_bytes, 64U << 20);
  flush_bytes_ = (bytes + 4095) / 4096 * 4096;
  return driver.Check(driver.MemAlloc(&flush_buffer_, flush_bytes_), "cuMemAlloc (L2 flush)");
}

Status DeviceOps::FlushL2(uint64_t key, bool leave_clean, CuStream stream) {
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  DAVINCI_RETURN_IF_ERROR(EnsureFlushBuffer());
  const uint64_t words = flush_bytes_ / 16;
  const unsigned grid = GridFor(words, kBufferBlock, 8);
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.fill_random, grid, kBufferBlock, 0, stream,
                                 flush_buffer_, uint64_t{words}, key));
  if (!leave_clean) return Status::Ok();
  return Launch(functions_.touch, grid, kBufferBlock, 0, stream, flush_buffer_, uint64_t{words},
                scratch_ + kResultOffset);
}

Status DeviceOps::Hold(CuDevicePtr word, uint32_t value, uint64_t max_ns, CuStream stream) {
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return Launch(functions_.hold, 1, 1, 0, stream, word, value, max_ns);
}

Status DeviceOps::Poison(CuDevicePtr data, uint64_t count, int dtype, uint64_t key,
                         CuStream stream) {
  DAVINCI_ASSIGN_OR_RETURN(const keyed::PoisonKind kind, PoisonKindOf(dtype));
  if (count == 0) return Status::Ok();
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const uint64_t groups = count * static_cast<uint64_t>(keyed::PoisonBytes(kind)) / 16 + 1;
  return Launch(functions_.poison, GridFor(groups, kBufferBlock, 8), kBufferBlock, 0, stream, data,
                count, static_cast<int>(kind), key, Aligned(data, 16));
}

Result<PoisonCount> DeviceOps::CountPoisoned(CuDevicePtr data, uint64_t count, int dtype,
                                             uint64_t key, CuStream stream) {
  DAVINCI_ASSIGN_OR_RETURN(const keyed::PoisonKind kind, PoisonKindOf(dtype));
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CuDevicePtr result = scratch_ + kResultOffset;
  std::array<uint64_t, 2> found = {0, ~uint64_t{0}};
  DAVINCI_RETURN_IF_ERROR(Upload(result, found.data(), sizeof(found), stream));
  if (count > 0) {
    const uint64_t groups = count * static_cast<uint64_t>(keyed::PoisonBytes(kind)) / 8 + 1;
    DAVINCI_RETURN_IF_ERROR(Launch(functions_.poison_count, GridFor(groups, kBufferBlock, 8),
                                   kBufferBlock, 0, stream, data, count, static_cast<int>(kind),
                                   key, Aligned(data, 8), result));
  }
  DAVINCI_RETURN_IF_ERROR(ReadBack(found.data(), result, sizeof(found), stream));
  return PoisonCount{found[0], found[0] > 0 ? found[1] : 0};
}

Status DeviceOps::QueueChecksum(CuDevicePtr data, uint64_t num_bytes, uint64_t key,
                                CuDevicePtr result, CuStream stream) {
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return EnqueueChecksum(data, num_bytes, key, result, stream);
}

Status DeviceOps::EnqueueChecksum(CuDevicePtr data, uint64_t num_bytes, uint64_t key,
                                  CuDevicePtr result, CuStream stream) {
  const CudaDriver& driver = context_->driver();
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.MemsetD8Async(result, 0, sizeof(uint64_t), stream), "cuMemsetD8Async"));
  if (num_bytes > 0) {
    DAVINCI_RETURN_IF_ERROR(Launch(functions_.checksum,
                                   GridFor(num_bytes / 16 + 1, kBufferBlock, 4), kBufferBlock, 0,
                                   stream, data, num_bytes, key, Aligned(data, 16), result));
  }
  return Launch(functions_.checksum_finish, 1, 1, 0, stream, result, num_bytes, key);
}

Result<uint64_t> DeviceOps::Checksum(CuDevicePtr data, uint64_t num_bytes, uint64_t key,
                                     CuStream stream) {
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CuDevicePtr result = scratch_ + kResultOffset;
  DAVINCI_RETURN_IF_ERROR(EnqueueChecksum(data, num_bytes, key, result, stream));
  uint64_t checksum = 0;
  DAVINCI_RETURN_IF_ERROR(ReadBack(&checksum, result, sizeof(checksum), stream));
  return checksum;
}

Status DeviceOps::QueueSample(CuDevicePtr data, uint64_t count, int element_bytes, uint64_t key,
                              uint64_t num_samples, CuDevicePtr bits, CuStream stream) {
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return EnqueueSample(data, count, element_bytes, key, num_samples, bits, stream);
}

Status DeviceOps::EnqueueSample(CuDevicePtr data, uint64_t count, int element_bytes, uint64_t key,
                                uint64_t num_samples, CuDevicePtr bits, CuStream stream) {
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4 && element_bytes != 8) {
    return InvalidArgument(fmt::format("element of {} bytes: 1, 2, 4 or 8 wanted", element_bytes));
  }
  if (num_samples == 0) return Status::Ok();
  if (count == 0) return InvalidArgument("samples of an empty buffer");
  return Launch(functions_.sample, GridFor(num_samples, 256, 8), 256, 0, stream, data, count,
                element_bytes, key, num_samples, bits);
}

Status DeviceOps::Sample(CuDevicePtr data, uint64_t count, int element_bytes, uint64_t key,
                         std::span<uint64_t> bits, CuStream stream) {
  if (bits.size_bytes() > std::min(kPartialBytes, kPinnedBytes)) {
    return InvalidArgument(fmt::format("{} samples: at most {} in one call", bits.size(),
                                       kPinnedBytes / sizeof(uint64_t)));
  }
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CuDevicePtr out = scratch_ + kPartialOffset;
  DAVINCI_RETURN_IF_ERROR(EnqueueSample(data, count, element_bytes, key, bits.size(), out, stream));
  return bits.empty() ? Status::Ok() : ReadBack(bits.data(), out, bits.size_bytes(), stream);
}

Status DeviceOps::AccumulateProfile(CuDevicePtr truth, CuDevicePtr honest, int honest_dtype,
                                    int output_dtype, uint64_t count, void* profile,
                                    CuDevicePtr dont_care, CuStream stream) {
  if (!IsFloat(honest_dtype)) return BadDtype(honest_dtype, "a floating type");
  if (!IsFloat(output_dtype)) return BadDtype(output_dtype, "a floating type");
  if (profile == nullptr) return InvalidArgument("profile: null");
  if (count == 0) return Status::Ok();
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CuDevicePtr total = scratch_ + kProfileOffset;
  const CuDevicePtr partials = scratch_ + kPartialOffset;
  constexpr auto kMaxGrid = static_cast<unsigned>(kPartialBytes / kErrorProfileBytes);
  const unsigned grid = std::min(GridFor((count + 7) / 8, kProfileBlock, 3), kMaxGrid);
  DAVINCI_RETURN_IF_ERROR(Upload(total, profile, kErrorProfileBytes, stream));
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.profile, grid, kProfileBlock, ProfileSharedBytes(),
                                 stream, truth, honest, honest_dtype, output_dtype, count,
                                 count < kProfileSampledFrom ? 1 : 0, dont_care, profile_cells_,
                                 partials));
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.profile_finish, 1, 352, 0, stream, partials,
                                 static_cast<int>(grid), total));
  return ReadBack(profile, total, kErrorProfileBytes, stream);
}

unsigned DeviceOps::ProfileSharedBytes() const {
  return static_cast<unsigned>(kProfileTablesBytes + profile_cells_ * kProfileCellBytes);
}

Status DeviceOps::Nudge(CuDevicePtr from, int dtype, uint64_t count, double eps, uint64_t key,
                        CuDevicePtr to, CuStream stream) {
  if (!IsFloat(dtype)) return BadDtype(dtype, "a floating type");
  if (count == 0) return Status::Ok();
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return Launch(functions_.nudge, GridFor(count, kBufferBlock, 8), kBufferBlock, 0, stream, from,
                dtype, count, eps, key, to);
}

Status DeviceOps::Stress(CuDevicePtr out, uint64_t count, int kind, uint64_t key, CuStream stream) {
  if (kind < keyed::kStressHeavyTailed || kind > keyed::kStressMildLogUniform) {
    return InvalidArgument(fmt::format("stress: no distribution has number {}", kind));
  }
  if (count == 0) return Status::Ok();
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return Launch(functions_.stress, GridFor(count, kBufferBlock, 8), kBufferBlock, 0, stream, out,
                count, kind, key);
}

Result<CompareTotals> DeviceOps::FinishCompare(unsigned grid, CuDevicePtr truth, int truth_dtype,
                                               CuDevicePtr candidate, int dtype, uint64_t count,
                                               CuDevicePtr limits, double factor, CuStream stream) {
  const CuDevicePtr result = scratch_ + kResultOffset;
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.compare_finish, 1, 32, 0, stream,
                                 scratch_ + kPartialOffset, static_cast<int>(grid), count, truth,
                                 truth_dtype, candidate, dtype, limits, factor, result));
  CompareTotals totals{};
  DAVINCI_RETURN_IF_ERROR(ReadBack(&totals, result, sizeof(totals), stream));
  if (totals.tolerance_dtype != -1 && totals.tolerance_dtype != dtype) {
    return InvalidArgument(fmt::format("compare: a tolerance for dtype {} applied to dtype {}",
                                       totals.tolerance_dtype, dtype));
  }
  return totals;
}

namespace {

constexpr unsigned kMaxCompareGrid = kPartialBytes / sizeof(CompareTotals);

CompareTotals EmptyTotals() {
  CompareTotals totals{};
  totals.first_wrong_index = ~0ULL;
  totals.worst_index = ~0ULL;
  totals.tolerance_dtype = -1;
  return totals;
}

}  // namespace

Result<CompareTotals> DeviceOps::Compare(CuDevicePtr truth, CuDevicePtr candidate, int dtype,
                                         uint64_t count, const void* tolerance,
                                         CuDevicePtr dont_care, CuStream stream) {
  if (!IsFloat(dtype)) return BadDtype(dtype, "a floating type");
  if (tolerance == nullptr) return InvalidArgument("tolerance: null");
  if (count == 0) return EmptyTotals();
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CuDevicePtr limits = scratch_ + kToleranceOffset;
  DAVINCI_RETURN_IF_ERROR(Upload(limits, tolerance, kToleranceBytes, stream));
  const unsigned grid = std::min(GridFor(count, kCompareBlock, 3), kMaxCompareGrid);
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.compare, grid, kCompareBlock, 0, stream, truth,
                                 candidate, dtype, count, limits, dont_care,
                                 scratch_ + kPartialOffset));
  return FinishCompare(grid, truth, static_cast<int>(DType::kF64), candidate, dtype, count, limits,
                       1.0, stream);
}

Result<CompareTotals> DeviceOps::CompareDirect(CuDevicePtr baseline, CuDevicePtr candidate,
                                               int dtype, uint64_t count, const void* tolerance,
                                               double factor, CuStream stream) {
  if (!IsFloat(dtype)) return BadDtype(dtype, "a floating type");
  if (tolerance == nullptr) return InvalidArgument("tolerance: null");
  if (count == 0) return EmptyTotals();
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CuDevicePtr limits = scratch_ + kToleranceOffset;
  DAVINCI_RETURN_IF_ERROR(Upload(limits, tolerance, kToleranceBytes, stream));
  const unsigned grid = std::min(GridFor(count, kCompareBlock, 3), kMaxCompareGrid);
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.compare_direct, grid, kCompareBlock, 0, stream,
                                 baseline, candidate, dtype, count, limits, factor,
                                 scratch_ + kPartialOffset));
  return FinishCompare(grid, baseline, dtype, candidate, dtype, count, limits, factor, stream);
}

Status DeviceOps::QueueAcceptsQuickly(CuDevicePtr baseline, CuDevicePtr candidate, int dtype,
                                      uint64_t count, CuDevicePtr tolerance, double factor,
                                      CuDevicePtr accepted, CuStream stream) {
  if (!IsFloat(dtype) || dtype == static_cast<int>(DType::kF64) || count == 0)
    return InvalidArgument(
        fmt::format("{} elements of dtype {}: not for quick acceptance", count, dtype));
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  return EnqueueAcceptsQuickly(baseline, candidate, dtype, count, tolerance, factor, accepted,
                               stream);
}

Status DeviceOps::EnqueueAcceptsQuickly(CuDevicePtr baseline, CuDevicePtr candidate, int dtype,
                                        uint64_t count, CuDevicePtr tolerance, double factor,
                                        CuDevicePtr accepted, CuStream stream) {
  const CuDevicePtr partials = scratch_ + kPartialOffset;
  const unsigned grid = GridFor(count / 4 + 1, kCompareBlock, 8);
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.compare_quickly, grid, kCompareBlock, 0, stream,
                                 baseline, candidate, dtype, count, tolerance, factor, partials));
  return Launch(functions_.compare_quickly_finish, 1, 32, 0, stream, partials,
                static_cast<int>(grid), dtype, tolerance, factor, accepted);
}

Result<bool> DeviceOps::AcceptsQuickly(CuDevicePtr baseline, CuDevicePtr candidate, int dtype,
                                       uint64_t count, const void* tolerance, double factor,
                                       CuStream stream) {
  if (!IsFloat(dtype)) return BadDtype(dtype, "a floating type");
  if (tolerance == nullptr) return InvalidArgument("tolerance: null");
  if (count == 0) return true;
  if (dtype == static_cast<int>(DType::kF64)) return false;
  const CuDevicePtr limits = scratch_ + kToleranceOffset;
  const CuDevicePtr result = scratch_ + kResultOffset;
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  DAVINCI_RETURN_IF_ERROR(Upload(limits, tolerance, kToleranceBytes, stream));
  DAVINCI_RETURN_IF_ERROR(
      EnqueueAcceptsQuickly(baseline, candidate, dtype, count, limits, factor, result, stream));
  uint64_t accepted = 0;
  DAVINCI_RETURN_IF_ERROR(ReadBack(&accepted, result, sizeof accepted, stream));
  return accepted != 0;
}

Result<CompareTotals> DeviceOps::CompareIntegers(CuDevicePtr truth, int truth_dtype,
                                                 CuDevicePtr candidate, int dtype, uint64_t count,
                                                 std::span<const CuDevicePtr> variants,
                                                 CuStream stream) {
  if (!IsInteger(dtype)) return BadDtype(dtype, "an integer type or bool");
  if (!IsInteger(truth_dtype)) return BadDtype(truth_dtype, "an integer type or bool");
  if (variants.size() > 4) return InvalidArgument("at most 4 variants of integer outputs");
  if (count == 0) return EmptyTotals();
  std::array<CuDevicePtr, 4> others{};
  std::copy(variants.begin(), variants.end(), others.begin());
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const unsigned grid = std::min(GridFor(count, kCompareBlock, 8), kMaxCompareGrid);
  DAVINCI_RETURN_IF_ERROR(Launch(functions_.compare_integers, grid, kCompareBlock, 0, stream, truth,
                                 truth_dtype, candidate, dtype, count, others[0], others[1],
                                 others[2], others[3], scratch_ + kPartialOffset));
  return FinishCompare(grid, truth, truth_dtype, candidate, dtype, count, CuDevicePtr{0}, 1.0,
                       stream);
}

Result<Peaks> DeviceOps::MeasurePeaks(const PeakOptions& options, CuStream stream) {
  if (options.repeats < 1 || options.copy_bytes < 4096) {
    return InvalidArgument("peaks: at least 1 repeat of 4096 bytes");
  }
  MutexLock lock(mutex_);
  ScopedCudaContext scope(*context_);
  DAVINCI_RETURN_IF_ERROR(scope.status());
  const CudaDriver& driver = context_->driver();
  const uint64_t bytes = options.copy_bytes / 4096 * 4096;
  struct Resources {
    const CudaDriver& driver;
    CuDevicePtr from = 0;
    CuDevicePtr to = 0;
    CuEvent begin = nullptr;
    CuEvent end = nullptr;
    ~Resources() {
      if (from != 0) driver.MemFree(from);
      if (to != 0) driver.MemFree(to);
      if (begin != nullptr) driver.EventDestroy(begin);
      if (end != nullptr) driver.EventDestroy(end);
    }
  } r{driver};
  DAVINCI_RETURN_IF_ERROR(driver.Check(driver.MemAlloc(&r.from, bytes), "cuMemAlloc (peaks)"));
  DAVINCI_RETURN_IF_ERROR(driver.Check(driver.MemAlloc(&r.to, bytes), "cuMemAlloc (peaks)"));
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.EventCreate(&r.begin, kCuEventDefault), "cuEventCreate"));
  DAVINCI_RETURN_IF_ERROR(
      driver.Check(driver.EventCreate(&r.end, kCuEventDefault), "cuEventCreate"));
  const auto time_ms = [&](auto&& enqueue) -> Result<std::vector<double>> {
    std::vector<double> times;
    for (int i = -2; i < options.repeats; ++i) {  // two to warm up
      DAVINCI_RETURN_IF_ERROR(driver.Check(driver.EventRecord(r.begin, stream), "cuEventRecord"));
      DAVINCI_RETURN_IF_ERROR(enqueue());
      DAVINCI_RETURN_IF_ERROR(driver.Check(driver.EventRecord(r.end, stream), "cuEventRecord"));
      DAVINCI_RETURN_IF_ERROR(driver.Check(driver.EventSynchronize(r.end), "cuEventSynchronize"));
      float ms = 0;
      DAVINCI_RETURN_IF_ERROR(
          driver.Check(driver.EventElapsedTime(&ms, r.begin, r.end), "cuEventElapsedTime"));
      if (i >= 0) times.push_back(ms);
    }
    return times;
  };
  const auto best = [](const std::vector<double>& times) {
    return *std::min_element(times.begin(), times.end());
  };
  const uint64_t words = bytes / 16;
  const unsigned grid = GridFor(words, kBufferBlock, 4);
  Peaks peaks;
  // First, because it also fills the source with noise: copying zeros can run faster than copying
  // data.
  DAVINCI_ASSIGN_OR_RETURN(const auto write_ms, time_ms([&] {
                             return Launch(functions_.fill_random, grid, kBufferBlock, 0, stream,
                                           r.from, words, uint64_t{7});
                           }));
  DAVINCI_ASSIGN_OR_RETURN(const auto read_ms, time_ms([&] {
                             return Launch(functions_.touch, grid, kBufferBlock, 0, stream, r.from,
                                           words, scratch_ + kResultOffset);
                           }));
  DAVINCI_ASSIGN_OR_RETURN(const auto copy_ms, time_ms([&] {
                             return Launch(functions_.copy, grid, kBufferBlock, 0, stream, r.from,
                                           r.to, words);
                           }));
  const double gigabytes = 1e-9 * static_cast<double>(bytes);
  peaks.write_gb_per_s = gigabytes / (1e-3 * best(write_ms));
  peaks.read_gb_per_s = gigabytes / (1e-3 * best(read_ms));
  peaks.copy_gb_per_s = 2 * gigabytes / (1e-3 * best(copy_ms));
  peaks.copy_gb_per_s_median = 2 * gigabytes / (1e-3 * Median(copy_ms));

  constexpr int kSteps = 4096;
  constexpr int kChains = 16;  // as in kernels/probes.cu
  const auto fma_grid = static_cast<unsigned>(context_->properties().multiprocessors) * 4;
  DAVINCI_ASSIGN_OR_RETURN(const auto fma_ms, time_ms([&] {
                             return Launch(functions_.fma_f32, fma_grid, kBufferBlock, 0, stream,
                                           scratch_ + kResultOffset, int{kSteps}, 0.999F, 0.001F);
                           }));
  peaks.fp32_tflops =
      1e-12 * 2.0 * kSteps * kChains * fma_grid * kBufferBlock / (1e-3 * best(fma_ms));
  DAVINCI_ASSIGN_OR_RETURN(const auto empty_ms,
                           time_ms([&] { return Launch(functions_.empty, 1, 32, 0, stream); }));
  peaks.empty_kernel_us = 1e3 * Median(empty_ms);
  return peaks;
}

}  // namespace davinci::gpu
