#include "davinci/gpu/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/gpu/driver_api.h"
#include "davinci/gpu/dynamic_library.h"

namespace davinci::gpu {
namespace {

// The part of CUPTI's C interface used here; unchanged since CUDA 6.5.
using CuptiResult = int;
constexpr CuptiResult kCuptiSuccess = 0;
constexpr uint32_t kFlushForced = 1;
using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using BufferCompleted = void (*)(CuContext context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid_size);

struct Cupti {
  CuptiResult (*GetVersion)(uint32_t*);
  CuptiResult (*GetResultString)(CuptiResult, const char**);
  CuptiResult (*ActivityEnable)(int kind);
  CuptiResult (*ActivityDisable)(int kind);
  CuptiResult (*ActivityFlushAll)(uint32_t flag);
  CuptiResult (*ActivityGetNextRecord)(uint8_t* buffer, size_t valid_size, uint8_t** record);
  CuptiResult (*ActivityGetNumDroppedRecords)(CuContext context, uint32_t stream, size_t* dropped);
  CuptiResult (*ActivityRegisterCallbacks)(BufferRequested, BufferCompleted);
};

constexpr int kRecordedKinds[] = {cupti::kKindConcurrentKernel, cupti::kKindMemcpy,
                                  cupti::kKindMemset, cupti::kKindMemcpyPeer};
// About 5,000 kernel records; one call of a candidate has tens. CUPTI asks for more when full.
constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kBufferAlignment = 8;
constexpr size_t kMaxNameBytes = 512;

}  // namespace

struct ActivityRecorder::Impl {
  DynamicLibrary library;
  Cupti cupti{};
  uint32_t version = 0;

  Mutex control_mutex;  // serialises Start and Stop
  bool recording DAVINCI_GUARDED_BY(control_mutex) = false;
  bool registered DAVINCI_GUARDED_BY(control_mutex) = false;

  Mutex data_mutex;  // CUPTI's thread writes, Stop reads
  ActivityResult result DAVINCI_GUARDED_BY(data_mutex);
  bool keep DAVINCI_GUARDED_BY(data_mutex) = false;  // records outside a recording are thrown away

  // Set once, before the callbacks are registered; the callbacks carry no user pointer.
  static Impl* instance;

  Status Check(CuptiResult code, const char* what) const {
    if (code == kCuptiSuccess) return Status::Ok();
    const char* text = nullptr;
    cupti.GetResultString(code, &text);
    return Internal(fmt::format("{}: {} ({})", what, text != nullptr ? text : "unknown", code));
  }

  static void OnBufferRequested(uint8_t** buffer, size_t* size, size_t* max_records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
    *size = *buffer == nullptr ? 0 : kBufferBytes;
    *max_records = 0;  // as many as fit
  }

  static void OnBufferCompleted(CuContext context, uint32_t stream, uint8_t* buffer,
                                size_t /*size*/, size_t valid_size) {
    instance->Take(context, stream, buffer, valid_size);
    std::free(buffer);
  }

  void Take(CuContext context, uint32_t stream, uint8_t* buffer, size_t valid_size) {
    if (buffer == nullptr) return;
    MutexLock lock(data_mutex);
    uint8_t* record = nullptr;
    while (valid_size > 0) {
      const CuptiResult code = cupti.ActivityGetNextRecord(buffer, valid_size, &record);
      if (code != kCuptiSuccess) break;  // CUPTI_ERROR_MAX_LIMIT_REACHED at the end
      if (!keep) continue;
      if (std::optional<Activity> activity = ParseActivityRecord(record, version)) {
        result.activities.push_back(std::move(*activity));
      } else {
        ++result.num_other_records;
      }
    }
    size_t dropped = 0;
    if (keep && cupti.ActivityGetNumDroppedRecords(context, stream, &dropped) == kCuptiSuccess) {
      result.num_dropped += dropped;
    }
  }

  Status Open(std::span<const std::string> directories) {
    // The versions a PyTorch wheel may carry come first; the last is what a toolkit's own link
    // names.
    const std::vector<std::string> names = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    auto opened = DynamicLibrary::Open(names, directories);
    if (!opened.ok()) {
      const std::vector<std::string> toolkit = {"/usr/local/cuda/lib64",
                                                "/usr/local/cuda/extras/CUPTI/lib64"};
      opened = DynamicLibrary::Open(names, toolkit);
    }
    if (!opened.ok()) return opened.status().Annotate("CUPTI");
    library = std::move(opened).value();
    bool complete = true;
    const auto bind = [&](auto& function, const char* symbol) {
      using Function = std::remove_reference_t<decltype(function)>;
      function = reinterpret_cast<Function>(library.FindSymbol(symbol));
      complete = complete && function != nullptr;
    };
    bind(cupti.GetVersion, "cuptiGetVersion");
    bind(cupti.GetResultString, "cuptiGetResultString");
    bind(cupti.ActivityEnable, "cuptiActivityEnable");
    bind(cupti.ActivityDisable, "cuptiActivityDisable");
    bind(cupti.ActivityFlushAll, "cuptiActivityFlushAll");
    bind(cupti.ActivityGetNextRecord, "cuptiActivityGetNextRecord");
    bind(cupti.ActivityGetNumDroppedRecords, "cuptiActivityGetNumDroppedRecords");
    bind(cupti.ActivityRegisterCallbacks, "cuptiActivityRegisterCallbacks");
    if (!complete) return FailedPrecondition(library.path() + ": not a usable CUPTI");
    DAVINCI_RETURN_IF_ERROR(Check(cupti.GetVersion(&version), "cuptiGetVersion"));
    instance = this;
    return Status::Ok();
  }
};

ActivityRecorder::Impl* ActivityRecorder::Impl::instance = nullptr;

ActivityRecorder::ActivityRecorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ActivityRecorder::~ActivityRecorder() = default;

Result<ActivityRecorder*> ActivityRecorder::Get(std::span<const std::string> directories) {
  static Mutex mutex;
  // Never destroyed: CUPTI's thread may deliver a buffer during process exit.
  static ActivityRecorder* recorder = nullptr;
  MutexLock lock(mutex);
  if (recorder == nullptr) {
    auto impl = std::make_unique<Impl>();
    DAVINCI_RETURN_IF_ERROR(impl->Open(directories));
    recorder = new ActivityRecorder(std::move(impl));
  }
  return recorder;
}

Status ActivityRecorder::Start() {
  MutexLock control(impl_->control_mutex);
  if (impl_->recording) return FailedPrecondition("activity: already recording");
  const Cupti& cupti = impl_->cupti;
  // Registered anew each time: another client (torch.profiler) may have put its own callbacks there
  // in between. A CUPTI that refuses a repetition still has ours.
  Status registered = impl_->Check(
      cupti.ActivityRegisterCallbacks(&Impl::OnBufferRequested, &Impl::OnBufferCompleted),
      "cuptiActivityRegisterCallbacks");
  if (!registered.ok() && !impl_->registered) return registered;
  impl_->registered = true;
  {
    MutexLock data(impl_->data_mutex);
    impl_->result = {};
    impl_->keep = true;
  }
  for (const int kind : kRecordedKinds) {
    const Status enabled = impl_->Check(cupti.ActivityEnable(kind), "cuptiActivityEnable");
    if (enabled.ok()) continue;
    for (const int started : kRecordedKinds) {
      if (started == kind) break;
      cupti.ActivityDisable(started);
    }
    MutexLock data(impl_->data_mutex);
    impl_->keep = false;
    return enabled;
  }
  impl_->recording = true;
  return Status::Ok();
}

Result<ActivityResult> ActivityRecorder::Stop() {
  MutexLock control(impl_->control_mutex);
  if (!impl_->recording) return FailedPrecondition("activity: not recording");
  impl_->recording = false;
  const Cupti& cupti = impl_->cupti;
  Status status;
  // Flush while the kinds are still enabled: disabling first may drop records not yet delivered by
  // the device.
  if (Status flushed = impl_->Check(cupti.ActivityFlushAll(kFlushForced), "cuptiActivityFlushAll");
      !flushed.ok()) {
    status = std::move(flushed);
  }
  for (const int kind : kRecordedKinds) cupti.ActivityDisable(kind);
  ActivityResult result;
  {
    MutexLock data(impl_->data_mutex);
    impl_->keep = false;
    result = std::exchange(impl_->result, {});
  }
  if (!status.ok()) return status;
  std::stable_sort(result.activities.begin(), result.activities.end(),
                   [](const Activity& a, const Activity& b) { return a.start_ns < b.start_ns; });
  return result;
}

bool ActivityRecorder::recording() const {
  MutexLock control(impl_->control_mutex);
  return impl_->recording;
}
uint32_t ActivityRecorder::cupti_version() const { return impl_->version; }
const std::string& ActivityRecorder::library_path() const { return impl_->library.path(); }

std::string ActivityJson(const ActivityResult& result, uint32_t cupti_version) {
  using nlohmann::json;
  json list = json::array();
  uint64_t kernels_ns = 0;
  uint64_t busy_ns = 0;
  uint64_t busy_until = 0;
  for (const Activity& activity : result.activities) {
    json item = {{"name", activity.name.substr(0, kMaxNameBytes)},
                 {"start_ns", activity.start_ns},
                 {"end_ns", activity.end_ns},
                 {"device", activity.device},
                 {"stream", activity.stream},
                 {"correlation", activity.correlation}};
    if (activity.kind == ActivityKind::kKernel) {
      item["kind"] = "kernel";
      item["grid"] = activity.grid;
      item["block"] = activity.block;
      item["registers"] = activity.registers_per_thread;
      item["static_shared_bytes"] = activity.static_shared_bytes;
      item["dynamic_shared_bytes"] = activity.dynamic_shared_bytes;
      item["local_bytes"] = activity.local_bytes_per_thread;
      item["graph"] = activity.graph;
      kernels_ns += activity.end_ns - activity.start_ns;
    } else {
      item["kind"] = activity.kind == ActivityKind::kMemcpy ? "memcpy" : "memset";
      item["bytes"] = activity.bytes;
    }
    const uint64_t from = std::max(activity.start_ns, busy_until);
    if (activity.end_ns > from) {
      busy_ns += activity.end_ns - from;
      busy_until = activity.end_ns;
    }
    list.push_back(std::move(item));
  }
  const json root = {
      {"cupti_version", cupti_version},
      {"dropped", result.num_dropped},
      {"other_records", result.num_other_records},
      {"kernels_ns", kernels_ns},
      {"busy_ns", busy_ns},
      {"span_ns", result.activities.empty() ? 0 : busy_until - result.activities.front().start_ns},
      {"activities", std::move(list)}};
  return JsonText(root);
}

}  // namespace davinci::gpu
