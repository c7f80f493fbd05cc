#include "davinci/gpu/worker_abi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/gpu/activity.h"
#include "davinci/gpu/device_ops.h"
#include "davinci/gpu/ipc_memory.h"
#include "davinci/gpu/kernels/keyed.h"

namespace {

using davinci::FailedPrecondition;
using davinci::InvalidArgument;
using davinci::Mutex;
using davinci::MutexLock;
using davinci::Result;
using davinci::Status;
using davinci::StatusCode;
using davinci::gpu::ActivityRecorder;
using davinci::gpu::CompareTotals;
using davinci::gpu::CudaContext;
using davinci::gpu::CuDevicePtr;
using davinci::gpu::CuStream;
using davinci::gpu::DeviceOps;
using davinci::gpu::IpcMemory;
using davinci::gpu::ScopedCudaContext;

// The factor of limits against a baseline, as in numerics::CompareDirect.
constexpr double kDirectFactor = 2.0;
constexpr int kFailedElements = 1;
constexpr int kFailedRms = 2;
constexpr int kFailedUnverified = 4;

thread_local std::string last_error;

// The process's device. Never destroyed: at exit the driver may already be gone.
struct Worker {
  Mutex mutex;
  std::shared_ptr<CudaContext> context
      DAVINCI_GUARDED_BY(mutex);  // null until dv_cuda_init; set once
  davinci::gpu::KernelLibraryOptions options DAVINCI_GUARDED_BY(mutex);
  std::unique_ptr<IpcMemory> ipc DAVINCI_GUARDED_BY(mutex);
  std::unique_ptr<DeviceOps> ops DAVINCI_GUARDED_BY(mutex);  // null until first needed
  std::string activity_json DAVINCI_GUARDED_BY(mutex);
};

Worker& TheWorker() {
  static auto* worker = new Worker();
  return *worker;
}

int Fail(const Status& status) {
  last_error = status.ToString();
  switch (status.code()) {
    case StatusCode::kResourceExhausted:
      return -2;
    case StatusCode::kUnavailable:
      return -3;
    default:
      return -1;
  }
}

// The C boundary: no exception may leave (std::bad_alloc of a message, for one).
template <typename Body>
int Guarded(const Body& body) {
  try {
    const Status status = body();
    return status.ok() ? 0 : Fail(status);
  } catch (const std::bad_alloc&) {
    return Fail(davinci::ResourceExhausted("out of memory"));
  } catch (const std::exception& error) {
    return Fail(davinci::Internal(error.what()));
  }
}

Result<std::shared_ptr<CudaContext>> Context() {
  Worker& worker = TheWorker();
  MutexLock lock(worker.mutex);
  if (worker.context == nullptr) return FailedPrecondition("call dv_cuda_init first");
  return worker.context;
}

Result<IpcMemory*> Ipc() {
  Worker& worker = TheWorker();
  MutexLock lock(worker.mutex);
  if (worker.context == nullptr) return FailedPrecondition("call dv_cuda_init first");
  return worker.ipc.get();
}

Result<ActivityRecorder*> Activity() {
  Worker& worker = TheWorker();
  MutexLock lock(worker.mutex);
  return ActivityRecorder::Get(worker.options.library_directories);
}

Result<DeviceOps*> Ops() {
  Worker& worker = TheWorker();
  MutexLock lock(worker.mutex);
  if (worker.context == nullptr) return FailedPrecondition("call dv_cuda_init first");
  if (worker.ops == nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(worker.ops, DeviceOps::Create(worker.context, worker.options));
  }
  return worker.ops.get();
}

std::vector<std::string> SplitPaths(const char* paths) {
  std::vector<std::string> parts;
  for (const char* at = paths; at != nullptr && *at != '\0';) {
    const size_t length = std::strcspn(at, ":");
    if (length > 0) parts.emplace_back(at, length);
    at += length + (at[length] == ':' ? 1 : 0);
  }
  return parts;
}

Status StoreText(const std::string& text, char* out, size_t capacity, size_t* needed) {
  if (needed != nullptr) *needed = text.size() + 1;
  if (out == nullptr || capacity < text.size() + 1) {
    return InvalidArgument(fmt::format("buffer of {} bytes: {} wanted", capacity, text.size() + 1));
  }
  std::memcpy(out, text.c_str(), text.size() + 1);
  return Status::Ok();
}

// NOLINTNEXTLINE(performance-no-int-to-ptr): Python holds the handle as a number
CuStream Stream(uint64_t handle) { return reinterpret_cast<CuStream>(handle); }

int64_t IndexOf(unsigned long long index) {
  return index == ~0ULL ? -1 : static_cast<int64_t>(index);
}

dv_result CommonResult(const CompareTotals& totals) {
  dv_result result;
  std::memset(&result, 0, sizeof(result));
  result.n = static_cast<int64_t>(totals.num_elements);
  result.num_wrong = static_cast<int64_t>(totals.num_wrong);
  result.num_dont_care = static_cast<int64_t>(totals.num_dont_care);
  result.num_special_match = static_cast<int64_t>(totals.num_special_match);
  result.num_nan_truth = static_cast<int64_t>(totals.num_nan_truth);
  result.num_nan_candidate = static_cast<int64_t>(totals.num_nan_candidate);
  result.num_unexpected_nan = static_cast<int64_t>(totals.num_unexpected_nan);
  result.first_wrong_index = IndexOf(totals.first_wrong_index);
  result.first_wrong_truth = totals.first_wrong_truth;
  result.first_wrong_candidate = totals.first_wrong_candidate;
  result.worst_index = IndexOf(totals.worst_index);
  result.worst_err = totals.worst_err;
  result.worst_tol = totals.worst_tol;
  result.worst_truth = totals.worst_truth;
  result.worst_candidate = totals.worst_candidate;
  for (int bin = 0; bin < davinci::numerics::kNumRatioBins; ++bin) {
    result.ratio_histogram[bin] = static_cast<int64_t>(totals.ratio_histogram[bin]);
  }
  return result;
}

// The criteria of numerics::Compare; tests/gpu/gpu_selftest.py holds the two results against each
// other.
dv_result FloatResult(const CompareTotals& totals, double max_unverified_fraction) {
  dv_result result = CommonResult(totals);
  result.max_ratio = totals.worst_ratio;
  result.rms_limit = totals.rms_limit;
  if (totals.num_normalised > 0) {
    result.rms_ratio =
        std::sqrt(totals.sum_normalised_sq / static_cast<double>(totals.num_normalised));
  }
  if (result.num_wrong > 0) result.failed_criteria |= kFailedElements;
  if (!(result.rms_ratio <= result.rms_limit)) result.failed_criteria |= kFailedRms;
  if (static_cast<double>(result.num_dont_care) >
      max_unverified_fraction * static_cast<double>(result.n)) {
    result.failed_criteria |= kFailedUnverified;
  }
  result.passed = result.failed_criteria == 0 ? 1 : 0;
  return result;
}

dv_result IntegerResult(const CompareTotals& totals, double max_wrong_fraction) {
  dv_result result = CommonResult(totals);
  result.max_ratio = result.num_wrong > 0 ? HUGE_VAL : 0.0;
  if (static_cast<double>(result.num_wrong) > max_wrong_fraction * static_cast<double>(result.n)) {
    result.failed_criteria |= kFailedElements;
  }
  result.passed = result.failed_criteria == 0 ? 1 : 0;
  return result;
}

}  // namespace

extern "C" {

int dv_cuda_abi_version(void) { return 1; }

const char* dv_cuda_last_error(void) { return last_error.c_str(); }

int dv_cuda_init(int ordinal, const char* library_directories, const char* cache_directory) {
  return Guarded([&]() -> Status {
    Worker& worker = TheWorker();
    MutexLock lock(worker.mutex);
    if (worker.context != nullptr) {
      if (worker.context->ordinal() == ordinal) return Status::Ok();
      return FailedPrecondition(
          fmt::format("this process already uses device {}", worker.context->ordinal()));
    }
    DAVINCI_ASSIGN_OR_RETURN(worker.context, CudaContext::Retain(ordinal));
    worker.options.library_directories = SplitPaths(library_directories);
    worker.options.cache_directory = cache_directory == nullptr ? "" : cache_directory;
    worker.ipc = std::make_unique<IpcMemory>(worker.context);
    return Status::Ok();
  });
}

int dv_cuda_prepare(void) {
  return Guarded([&] { return Ops().status(); });
}

int dv_cuda_driver_info(char* json, size_t capacity, size_t* needed) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    const auto& device = context->properties();
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    context->driver().MemGetInfo(&free_bytes, &total_bytes);
    nlohmann::json info = {{"name", device.name},
                           {"uuid", device.uuid},
                           {"driver_library", context->driver().library_path},
                           {"cuda_driver_version", device.driver_cuda_version},
                           {"compute_capability", {device.compute_major, device.compute_minor}},
                           {"multiprocessors", device.multiprocessors},
                           {"l2_bytes", device.l2_bytes},
                           {"memory_total_bytes", device.memory_total_bytes},
                           {"memory_free_bytes", free_bytes},
                           {"memory_bus_width_bits", device.memory_bus_width_bits},
                           {"max_shared_bytes_per_block", device.max_shared_bytes_per_block},
                           {"max_persisting_l2_bytes", device.max_persisting_l2_bytes},
                           {"context_was_active", context->was_active()},
                           {"kernels", nullptr}};
    Worker& worker = TheWorker();
    MutexLock lock(worker.mutex);
    if (worker.ops != nullptr) {
      const auto& kernels = worker.ops->kernels();
      info["kernels"] = {{"architecture", kernels.architecture()},
                         {"from_cache", kernels.from_cache()},
                         {"compile_ms", kernels.compile_ms()},
                         {"nvrtc_version", kernels.nvrtc_version()}};
    }
    return StoreText(davinci::JsonText(info), json, capacity, needed);
  });
}

int dv_cuda_sync(void) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    return context->driver().Check(context->driver().CtxSynchronize(), "cuCtxSynchronize");
  });
}

int dv_cuda_stream_sync(uint64_t stream) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    return context->driver().Check(context->driver().StreamSynchronize(Stream(stream)),
                                   "cuStreamSynchronize");
  });
}

int dv_cuda_set_limit(int limit, uint64_t value) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    return context->driver().Check(context->driver().CtxSetLimit(limit, value), "cuCtxSetLimit");
  });
}

int dv_cuda_get_limit(int limit, uint64_t* value) {
  return Guarded([&]() -> Status {
    if (value == nullptr) return InvalidArgument("dv_cuda_get_limit: null argument");
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    size_t read = 0;
    DAVINCI_RETURN_IF_ERROR(
        context->driver().Check(context->driver().CtxGetLimit(&read, limit), "cuCtxGetLimit"));
    *value = read;
    return Status::Ok();
  });
}

int dv_cuda_ipc_export(uint64_t pointer, unsigned char* handle64, uint64_t* offset_bytes,
                       uint64_t* allocation_bytes) {
  return Guarded([&]() -> Status {
    if (handle64 == nullptr || offset_bytes == nullptr || allocation_bytes == nullptr) {
      return InvalidArgument("dv_cuda_ipc_export: null argument");
    }
    DAVINCI_ASSIGN_OR_RETURN(IpcMemory * ipc, Ipc());
    DAVINCI_ASSIGN_OR_RETURN(const auto exported, ipc->Export(pointer));
    std::memcpy(handle64, exported.handle.bytes.data(), exported.handle.bytes.size());
    *offset_bytes = exported.offset_bytes;
    *allocation_bytes = exported.allocation_bytes;
    return Status::Ok();
  });
}

int dv_cuda_ipc_open(const unsigned char* handle64, uint64_t* base, uint64_t* allocation_bytes) {
  return Guarded([&]() -> Status {
    if (handle64 == nullptr || base == nullptr) {
      return InvalidArgument("dv_cuda_ipc_open: null argument");
    }
    DAVINCI_ASSIGN_OR_RETURN(IpcMemory * ipc, Ipc());
    davinci::gpu::CuIpcMemHandle handle;
    std::memcpy(handle.bytes.data(), handle64, handle.bytes.size());
    DAVINCI_ASSIGN_OR_RETURN(const CuDevicePtr opened, ipc->Open(handle));
    if (allocation_bytes != nullptr) {
      auto bytes = ipc->AllocationBytes(opened);
      if (!bytes.ok()) {
        [[maybe_unused]] const Status closed = ipc->Close(opened);
        return bytes.status();
      }
      *allocation_bytes = *bytes;
    }
    *base = opened;
    return Status::Ok();
  });
}

int dv_cuda_ipc_close(uint64_t base) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(IpcMemory * ipc, Ipc());
    return ipc->Close(base);
  });
}

int dv_cuda_malloc(uint64_t num_bytes, uint64_t* pointer) {
  return Guarded([&]() -> Status {
    if (pointer == nullptr) return InvalidArgument("dv_cuda_malloc: null argument");
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    CuDevicePtr allocated = 0;
    DAVINCI_RETURN_IF_ERROR(
        context->driver().Check(context->driver().MemAlloc(&allocated, num_bytes), "cuMemAlloc"));
    *pointer = allocated;
    return Status::Ok();
  });
}

int dv_cuda_free(uint64_t pointer) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    return context->driver().Check(context->driver().MemFree(pointer), "cuMemFree");
  });
}

int dv_cuda_hold(uint64_t word, uint32_t value, uint64_t max_ns, uint64_t stream) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->Hold(word, value, max_ns, Stream(stream));
  });
}

int dv_cuda_flush_l2(uint64_t key, int leave_clean, uint64_t stream) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->FlushL2(key, leave_clean != 0, Stream(stream));
  });
}

int dv_cuda_persisting_reset(void) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    ScopedCudaContext scope(*context);
    DAVINCI_RETURN_IF_ERROR(scope.status());
    return context->driver().Check(context->driver().CtxResetPersistingL2Cache(),
                                   "cuCtxResetPersistingL2Cache");
  });
}

int dv_cuda_poison(uint64_t pointer, uint64_t n, int dtype, uint64_t key, uint64_t stream) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->Poison(pointer, n, dtype, key, Stream(stream));
  });
}

int dv_cuda_poison_count(uint64_t pointer, uint64_t n, int dtype, uint64_t key, uint64_t stream,
                         uint64_t* num_poisoned, uint64_t* first_index) {
  return Guarded([&]() -> Status {
    if (num_poisoned == nullptr || first_index == nullptr) {
      return InvalidArgument("dv_cuda_poison_count: null argument");
    }
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    DAVINCI_ASSIGN_OR_RETURN(const auto counted,
                             ops->CountPoisoned(pointer, n, dtype, key, Stream(stream)));
    *num_poisoned = counted.num_poisoned;
    *first_index = counted.first_index;
    return Status::Ok();
  });
}

int dv_cuda_checksum(uint64_t pointer, uint64_t num_bytes, uint64_t key, uint64_t stream,
                     uint64_t* checksum) {
  return Guarded([&]() -> Status {
    if (checksum == nullptr) return InvalidArgument("dv_cuda_checksum: null argument");
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    DAVINCI_ASSIGN_OR_RETURN(*checksum, ops->Checksum(pointer, num_bytes, key, Stream(stream)));
    return Status::Ok();
  });
}

int dv_cuda_sample(uint64_t pointer, uint64_t n, int element_bytes, uint64_t key,
                   uint64_t num_samples, uint64_t stream, uint64_t* bits) {
  return Guarded([&]() -> Status {
    if (bits == nullptr && num_samples > 0) return InvalidArgument("dv_cuda_sample: null argument");
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->Sample(pointer, n, element_bytes, key, {bits, num_samples}, Stream(stream));
  });
}

int dv_cuda_queue_checksum(uint64_t pointer, uint64_t num_bytes, uint64_t key, uint64_t stream,
                           uint64_t checksum) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->QueueChecksum(pointer, num_bytes, key, checksum, Stream(stream));
  });
}

int dv_cuda_queue_sample(uint64_t pointer, uint64_t n, int element_bytes, uint64_t key,
                         uint64_t num_samples, uint64_t stream, uint64_t bits) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->QueueSample(pointer, n, element_bytes, key, num_samples, bits, Stream(stream));
  });
}

int dv_cuda_queue_accepts(uint64_t baseline, uint64_t candidate, int dtype, uint64_t n,
                          uint64_t tolerance, uint64_t stream, uint64_t accepted) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->QueueAcceptsQuickly(baseline, candidate, dtype, n, tolerance, kDirectFactor,
                                    accepted, Stream(stream));
  });
}

uint64_t dv_cuda_sample_position(uint64_t key, uint64_t j, uint64_t n) {
  return davinci::gpu::keyed::SamplePosition(key, j, n);
}

uint64_t dv_cuda_poison_pattern(int dtype, uint64_t key, uint64_t index) {
  auto kind = davinci::gpu::PoisonKindOf(dtype);
  return kind.ok() ? davinci::gpu::keyed::PoisonAt(*kind, key, index) : 0;
}

int dv_cuda_profile_accumulate(uint64_t truth, uint64_t honest, int honest_dtype, int output_dtype,
                               uint64_t n, void* profile, uint64_t dont_care, uint64_t stream) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->AccumulateProfile(truth, honest, honest_dtype, output_dtype, n, profile, dont_care,
                                  Stream(stream));
  });
}

int dv_cuda_nudge(uint64_t from, int dtype, uint64_t n, double eps, uint64_t key, uint64_t to,
                  uint64_t stream) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->Nudge(from, dtype, n, eps, key, to, Stream(stream));
  });
}

int dv_cuda_stress(uint64_t out, uint64_t n, int kind, uint64_t key, uint64_t stream) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    return ops->Stress(out, n, kind, key, Stream(stream));
  });
}

int dv_cuda_compare(uint64_t truth, uint64_t candidate, int dtype, uint64_t n,
                    const void* tolerance, uint64_t dont_care, double max_unverified_fraction,
                    uint64_t stream, dv_result* result) {
  return Guarded([&]() -> Status {
    if (result == nullptr) return InvalidArgument("compare: null result");
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    DAVINCI_ASSIGN_OR_RETURN(
        const CompareTotals totals,
        ops->Compare(truth, candidate, dtype, n, tolerance, dont_care, Stream(stream)));
    *result = FloatResult(totals, max_unverified_fraction);
    return Status::Ok();
  });
}

int dv_cuda_compare_direct(uint64_t baseline, uint64_t candidate, int dtype, uint64_t n,
                           const void* tolerance, double max_unverified_fraction, uint64_t stream,
                           dv_result* result) {
  return Guarded([&]() -> Status {
    if (result == nullptr) return InvalidArgument("compare: null result");
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    DAVINCI_ASSIGN_OR_RETURN(const CompareTotals totals,
                             ops->CompareDirect(baseline, candidate, dtype, n, tolerance,
                                                kDirectFactor, Stream(stream)));
    *result = FloatResult(totals, max_unverified_fraction);
    return Status::Ok();
  });
}

int dv_cuda_accepts(uint64_t baseline, uint64_t candidate, int dtype, uint64_t n,
                    const void* tolerance, uint64_t stream, int* accepted) {
  return Guarded([&]() -> Status {
    if (accepted == nullptr) return InvalidArgument("dv_cuda_accepts: null result");
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    DAVINCI_ASSIGN_OR_RETURN(const bool said,
                             ops->AcceptsQuickly(baseline, candidate, dtype, n, tolerance,
                                                 kDirectFactor, Stream(stream)));
    *accepted = said ? 1 : 0;
    return Status::Ok();
  });
}

int dv_cuda_compare_integers(uint64_t truth, int truth_dtype, const uint64_t* honest,
                             int num_honest, uint64_t candidate, int dtype, uint64_t n,
                             double max_wrong_fraction, uint64_t stream, dv_result* result) {
  return Guarded([&]() -> Status {
    if (result == nullptr || num_honest < 0 || (num_honest > 0 && honest == nullptr)) {
      return InvalidArgument("dv_cuda_compare_integers: null argument");
    }
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    const std::vector<CuDevicePtr> variants(honest, honest + num_honest);
    DAVINCI_ASSIGN_OR_RETURN(
        const CompareTotals totals,
        ops->CompareIntegers(truth, truth_dtype, candidate, dtype, n, variants, Stream(stream)));
    *result = IntegerResult(totals, max_wrong_fraction);
    return Status::Ok();
  });
}

int dv_cuda_activity_prepare(void) {
  return Guarded([&]() -> Status { return Activity().status(); });
}

int dv_cuda_activity_start(void) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(ActivityRecorder * recorder, Activity());
    return recorder->Start();
  });
}

int dv_cuda_activity_stop(char* json, size_t capacity, size_t* needed) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const auto context, Context());
    DAVINCI_ASSIGN_OR_RETURN(ActivityRecorder * recorder, Activity());
    Status synced;
    {
      ScopedCudaContext scope(*context);
      DAVINCI_RETURN_IF_ERROR(scope.status());
      synced = context->driver().Check(context->driver().CtxSynchronize(), "cuCtxSynchronize");
    }
    // A lost context still ends the recording, or no later one could start.
    auto result = recorder->Stop();
    DAVINCI_RETURN_IF_ERROR(synced);
    if (!result.ok()) return result.status();
    std::string text = davinci::gpu::ActivityJson(*result, recorder->cupti_version());
    Worker& worker = TheWorker();
    MutexLock lock(worker.mutex);
    worker.activity_json = std::move(text);
    return StoreText(worker.activity_json, json, capacity, needed);
  });
}

int dv_cuda_activity_result(char* json, size_t capacity, size_t* needed) {
  return Guarded([&]() -> Status {
    Worker& worker = TheWorker();
    MutexLock lock(worker.mutex);
    if (worker.activity_json.empty()) return FailedPrecondition("activity: nothing was recorded");
    return StoreText(worker.activity_json, json, capacity, needed);
  });
}

int dv_cuda_peaks(uint64_t copy_bytes, int repeats, uint64_t stream, char* json, size_t capacity,
                  size_t* needed) {
  return Guarded([&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(DeviceOps * ops, Ops());
    davinci::gpu::PeakOptions options;
    if (copy_bytes != 0) options.copy_bytes = copy_bytes;
    if (repeats != 0) options.repeats = repeats;
    DAVINCI_ASSIGN_OR_RETURN(const auto peaks, ops->MeasurePeaks(options, Stream(stream)));
    const nlohmann::json text = {{"copy_gb_per_s", peaks.copy_gb_per_s},
                                 {"copy_gb_per_s_median", peaks.copy_gb_per_s_median},
                                 {"read_gb_per_s", peaks.read_gb_per_s},
                                 {"write_gb_per_s", peaks.write_gb_per_s},
                                 {"fp32_tflops", peaks.fp32_tflops},
                                 {"empty_kernel_us", peaks.empty_kernel_us}};
    return StoreText(davinci::JsonText(text), json, capacity, needed);
  });
}

}  // extern "C"
