#include "davinci/judge/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/build/build_service.h"
#include "davinci/gpu/device.h"
#include "davinci/gpu/visible_devices.h"
#include "davinci/judge/inspect/ask_reference.h"
#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/machine/known_torch.h"
#include "davinci/judge/machine/machine_state.h"
#include "davinci/judge/machine/slow_calls.h"
#include "davinci/judge/machine/timing_cores.h"
#include "davinci/judge/recorded_trial.h"
#include "davinci/judge/request/baselines.h"
#include "davinci/judge/roles/baseline_profiles.h"
#include "davinci/judge/roles/runner_pool.h"
#include "davinci/judge/roles/session_pool.h"
#include "davinci/judge/roles/shared_process.h"
#include "davinci/judge/run_trial.h"
#include "davinci/judge/trial/task_admission.h"
#include "davinci/judge/trial/trial.h"
#include "davinci/sandbox/layers.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr size_t kRestingSessions = 16;
constexpr int kSessionsPerTask = 8;
// Facts of each kind, from one life of the program to the next; those used last stay.
constexpr int64_t kMostFacts = 20'000;
// Raise it when python/davinci_worker/module_graph.py and what it imports answer otherwise.
constexpr int kTraceVersion = 14;

Evaluation Refused(Outcome outcome, std::string message) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.message = std::move(message);
  return evaluation;
}

// What the options change, by name.
json OverrideLimits(const JudgeOptions& options, Protocol* protocol) {
  json changed = json::object();
  auto apply = [&](const char* name, auto wanted, auto* limit) {
    if (wanted <= 0) return;
    *limit = wanted;
    changed[name] = wanted;
  };
  apply("load_timeout_seconds", options.load_timeout_seconds, &protocol->load_timeout_seconds);
  apply("call_timeout_seconds", options.call_timeout_seconds, &protocol->call_timeout_seconds);
  apply("compile_timeout_seconds", options.compile_timeout_seconds,
        &protocol->compile_timeout_seconds);
  apply("memory_bytes", options.memory_bytes, &protocol->memory_bytes);
  return changed;
}

// Processes that begin together wait for each other: the driver makes two to four contexts a second
// for all devices of a machine, and a candidate and the two processes of its task need one each.
double SecondsForContexts(int in_flight, size_t devices) {
  constexpr double kSecondsEach = 1.5;
  return kSecondsEach * in_flight * static_cast<double>(devices);
}

// Of the candidate or of its task: whose memory it was is not known yet.
bool MemoryRanOut(const Result<Evaluation>& evaluation) {
  return evaluation.ok() ? evaluation->outcome == Outcome::kOutOfMemory
                         : evaluation.status().code() == StatusCode::kResourceExhausted;
}

}  // namespace

struct Judge::Impl {
  JudgeOptions options;
  worker::ForkServerOptions server_options;
  std::unique_ptr<worker::ForkServer> server;  // null: not started; guarded by mutex until then
  std::unique_ptr<gpu::DeviceLeases> leases;
  std::unique_ptr<store::KvCache>
      facts;  // null when the disk says no: everything is then found out again
  std::unique_ptr<gpu::DeviceMonitor> monitor = gpu::DeviceMonitor::Create();
  std::string device;  // uuid; empty where there is none
  std::unique_ptr<TimingCores> timing_cores;
  Mutex mutex;
  std::unique_ptr<Machine> machine;       // made with the context that borrows it
  std::unique_ptr<JudgeContext> context;  // until built, then constant
  BaselineProfiles profiles;
  SessionPool sessions{kRestingSessions, kSessionsPerTask};
  SlowCalls slow_calls;
  ExpectedParts expected_parts;
  std::unique_ptr<RunnerPool> runner_pool;  // made with the context it borrows
  Mutex build_mutex;
  std::unique_ptr<build::BuildService> builds;  // guarded by build_mutex until created

  // Most candidates compile nothing, so the toolchain is probed at the first request.
  Result<build::BuildService*> Builds() {
    MutexLock lock(build_mutex);
    if (!builds) {
      build::BuildServiceOptions service;
      service.python = options.python;
      service.threads = options.compile_jobs;
      service.warm_up = false;  // a launcher, often the first request, needs nothing of torch
      const double seconds = options.compile_timeout_seconds > 0
                                 ? options.compile_timeout_seconds
                                 : Protocol().compile_timeout_seconds;
      service.compiler_timeout = std::chrono::milliseconds(static_cast<int64_t>(1e3 * seconds));
      DAVINCI_ASSIGN_OR_RETURN(builds, build::BuildService::Create(service));
    }
    return builds.get();
  }

  json Build(const json& request) {
    // What cannot be read is the candidate's fault, all else that is no outcome is ours.
    auto failed = [](const Status& status) {
      const bool unreadable = status.code() == StatusCode::kInvalidArgument;
      return json{
          {"ok", false},
          {"error",
           {{"kind", unreadable ? "compile_error" : "service"}, {"message", status.ToString()}}}};
    };
    auto service = Builds();
    if (!service.ok()) return failed(service.status());
    auto outcome = (*service)->BuildJson(JsonText(request));
    return outcome.ok() ? build::ToJson(*outcome) : failed(outcome.status());
  }

  // Of the compilers, for whom "binaries" tells of.
  json ToolchainIdentity() {
    MutexLock lock(build_mutex);
    if (!builds) return nullptr;
    const build::Toolchain& tools = builds->toolchain();
    return {{"cxx", tools.cxx.version},
            {"nvcc", tools.nvcc.version},
            {"sha256", Sha256Hex(tools.Fingerprint())}};
  }

  // Waits for the fork server's imports the first time.
  Result<const JudgeContext*> Ready() {
    MutexLock lock(mutex);
    if (context) return context.get();
    if (!options.unsafe_no_sandbox) {
      const sandbox::LayerReport& layers = sandbox::DetectedLayers();
      if (!layers.Sufficient())
        return FailedPrecondition(
            fmt::format("this machine cannot isolate candidates ({}); run `davinci doctor`, or "
                        "accept the risk with "
                        "--unsafe-no-sandbox",
                        fmt::join(layers.Advice(), "; ")));
    }
    if (!server) {
      DAVINCI_ASSIGN_OR_RETURN(server, worker::ForkServer::Start(server_options));
    }
    DAVINCI_ASSIGN_OR_RETURN(json hello, server->Hello());
    RememberTorch(facts.get(), options.python, hello);
    auto built = std::make_unique<JudgeContext>();
    built->server = server.get();
    built->leases = leases.get();
    machine = std::make_unique<ThisMachine>(monitor.get(), facts.get(), device);
    built->machine = machine.get();
    built->device = device;
    built->timing_cores = timing_cores.get();
    built->facts = facts.get();
    built->sessions = &sessions;
    built->profiles = &profiles;
    built->slow_calls = &slow_calls;
    built->expected_parts = &expected_parts;
    built->build = [this](const json& request) { return Build(request); };
    built->hello = std::move(hello);
    built->options = options;
    runner_pool = std::make_unique<RunnerPool>(built.get());
    built->runner_pool = runner_pool.get();
    built->threads = options.threads > 0
                         ? options.threads
                         : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    context = std::move(built);
    return context.get();
  }
};

Judge::Judge(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Judge::~Judge() = default;

Result<std::unique_ptr<Judge>> Judge::Create(const JudgeOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  const auto visible = gpu::VisibleDevices(*impl->monitor);
  const bool without_device = options.device == gpu::kNoDevice;
  if (without_device) {
    impl->server_options.extra_env.emplace_back("CUDA_VISIBLE_DEVICES", "");
  } else if (!options.device.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto chosen, gpu::ChooseDevices(visible, options.device));
    impl->device = chosen.front();
  } else if (!visible.empty()) {
    impl->device = visible.front().uuid;
  }
  const std::vector<gpu::DeviceInfo>& devices = impl->monitor->devices();
  const auto device = std::ranges::find(devices, impl->device, &gpu::DeviceInfo::uuid);
  impl->timing_cores = std::make_unique<TimingCores>(static_cast<int>(device - devices.begin()),
                                                     static_cast<int>(devices.size()));
  worker::ForkServerOptions& server = impl->server_options;
  server.python = options.python;
  server.module_path = options.python_path;
  server.library = options.worker_library;
  server.triton = options.triton;
  // All processes of this judge see this device and no other.
  if (visible.size() > 1 && !without_device)
    server.extra_env.emplace_back("CUDA_VISIBLE_DEVICES", impl->device);
  if (const auto cache = CacheDir("bytecode"); cache.ok()) server.bytecode_cache = cache->string();
  server.threads = options.threads > 0
                       ? options.threads
                       : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  if (!options.start_when_needed) {
    DAVINCI_ASSIGN_OR_RETURN(impl->server, worker::ForkServer::Start(server));
  }
  auto lease_folder = gpu::MachineLeaseDir();
  if (!lease_folder.ok()) lease_folder = CacheDir("leases");  // shared with oneself at least
  DAVINCI_RETURN_IF_ERROR(lease_folder.status());
  DAVINCI_ASSIGN_OR_RETURN(impl->leases, gpu::DeviceLeases::Open(*lease_folder));
  if (auto folder = CacheDir("facts"); folder.ok())
    if (auto facts = store::KvCache::Open(*folder / "facts.db"); facts.ok()) {
      impl->facts = std::move(*facts);
      for (const char* space : {"admission", "domain", "footprint", "graph", "torch"})
        (void)impl->facts->Prune(space, kMostFacts);  // what is lost is found out again
    }
  return std::unique_ptr<Judge>(new Judge(std::move(impl)));
}

void Judge::Settle() { impl_->sessions.Settle(); }

void Judge::LetGo() {
  impl_->sessions.Clear();
  MutexLock lock(impl_->mutex);
  if (impl_->runner_pool) impl_->runner_pool->Clear();
}

bool Judge::Alive() {
  MutexLock lock(impl_->mutex);
  return !impl_->server || impl_->server->Alive();
}

Result<nlohmann::json> Judge::Admit(const std::string& task_path, Target target) {
  Job job;
  DAVINCI_ASSIGN_OR_RETURN(job.task, task::ReadTask(task_path));
  job.target = target;
  DAVINCI_ASSIGN_OR_RETURN(const Protocol protocol, ProtocolByName("davinci"));
  DAVINCI_ASSIGN_OR_RETURN(const JudgeContext* context, impl_->Ready());
  job.specification = KeptSpecification(*context, job);
  Trial trial(*context, job, protocol);
  DAVINCI_ASSIGN_OR_RETURN(json found, AdmitTask(trial));
  found["sidecar_tags"] = job.task->config.tags;
  return found;
}

Result<nlohmann::json> Judge::Trace(const std::shared_ptr<const task::Task>& task, Target target) {
  const auto key = [&](const std::string& torch) {
    return fmt::format("{}/{}/{}/{}/{}", task->hash, TargetName(target), torch, kTraceVersion,
                       impl_->device.empty() ? "host" : "device");
  };
  const std::string torch = RememberedTorch(impl_->facts.get(), impl_->options.python);
  if (!torch.empty())
    if (auto known = impl_->facts->Get("graph", key(torch)); known.ok() && *known) return **known;
  DAVINCI_ASSIGN_OR_RETURN(const JudgeContext* context, impl_->Ready());
  Job job;
  job.task = task;
  job.target = impl_->device.empty() ? Target::kCpu : target;
  job.sizes_of = target;
  DAVINCI_ASSIGN_OR_RETURN(const Protocol protocol, ProtocolByName("davinci"));
  Trial trial(*context, job, protocol);
  DAVINCI_ASSIGN_OR_RETURN(json found, TraceTask(trial));
  const bool whole =
      found.contains("untraceable") || found.at("shapes").size() == task->config.variants.size();
  if (impl_->facts && whole)
    (void)impl_->facts->Put("graph", key(context->hello.value("torch", "")), found);
  return found;
}

Result<Evaluation> Judge::Evaluate(const EvaluationRequest& request) {
  const Stopwatch watch;
  DAVINCI_ASSIGN_OR_RETURN(const auto baselines, ParseBaselines(request.baseline));
  EvaluationRequest one = request;
  one.baseline = baselines.front();
  auto evaluation = EvaluateAgainst(one);
  if (!evaluation.ok()) return evaluation;
  if (baselines.size() > 1 && evaluation->speedup) {
    BeginSpeedups(&evaluation.value());
    one.export_of = nullptr;
    for (size_t i = 1; i < baselines.size() && evaluation->speedup; ++i) {
      one.baseline = baselines[i];
      if (one.progress) one.progress("timing against " + one.baseline);
      AddBaseline(one.baseline, EvaluateAgainst(one), &evaluation.value());
    }
  }
  // What the user waited for: starting processes, every baseline and its compilation, every
  // attempt.
  evaluation->times["total_ms"] = 1e3 * watch.Seconds();
  return evaluation;
}

Result<Evaluation> Judge::EvaluateAgainst(const EvaluationRequest& request) {
  auto evaluation = EvaluateOnce(request, MemoryBudget::kEstimated);
  const bool on_device = request.target == Target::kCuda && !impl_->device.empty();
  int attempts = 1;
  // A neighbour's memory is not the candidate's fault: it is judged again, in the end with the
  // device for itself.
  for (const MemoryBudget budget : {MemoryBudget::kHalfMore, MemoryBudget::kAll}) {
    const bool ours = !evaluation.ok();
    if (!on_device || !MemoryRanOut(evaluation) || (budget == MemoryBudget::kHalfMore && !ours))
      continue;
    // It was over a limit of its own, or asked for more than the device has.
    if (!ours && BrokenRule(*evaluation)) continue;
    evaluation = EvaluateOnce(request, budget);
    ++attempts;
    if (evaluation.ok() && budget == MemoryBudget::kAll)
      evaluation->provenance["alone_on_device"] = true;
    else if (MemoryRanOut(evaluation) && budget == MemoryBudget::kAll)
      return InvalidArgument(
          fmt::format("{}\neven alone on the device: use smaller sizes ([sizes.cuda] in the task's "
                      ".toml), or end what else holds its memory (davinci doctor)",
                      evaluation.status().message()));
  }
  if (evaluation.ok() && attempts > 1) evaluation->provenance["attempts"] = attempts;
  return evaluation;
}

Result<Evaluation> Judge::EvaluateOnce(const EvaluationRequest& request, MemoryBudget budget) {
  auto evaluation = EvaluateIn(request, budget, false);
  if (!evaluation.ok()) return evaluation;
  const std::string why = WhyJudgedAlone(*evaluation);
  if (why.empty()) return evaluation;
  evaluation = EvaluateIn(request, budget, true);
  if (evaluation.ok()) evaluation->provenance["process"] = {{"served", 0}, {"again", why}};
  return evaluation;
}

Result<Evaluation> Judge::EvaluateIn(const EvaluationRequest& request, MemoryBudget budget,
                                     bool alone) {
  const task::Task& task = *request.task;
  const std::string source = request.Text();
  DAVINCI_ASSIGN_OR_RETURN(Protocol protocol, ProtocolByName(request.protocol));
  json limits = OverrideLimits(impl_->options, &protocol);
  if (request.target == Target::kCuda && impl_->options.load_timeout_seconds <= 0)
    protocol.load_timeout_seconds +=
        SecondsForContexts(impl_->options.in_flight, impl_->monitor->devices().size());
  if (request.target == Target::kCpu && impl_->options.memory_bytes <= 0) {
    const int64_t machine_bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
    const int64_t bound = MemoryWithin(protocol.memory_bytes, machine_bytes);
    if (bound < protocol.memory_bytes) limits["memory_bytes"] = protocol.memory_bytes = bound;
  }
  if (protocol.published && !PublishedTolerance(task.config.precision))
    return InvalidArgument(
        fmt::format("{}: the kernelbench protocol knows fp32, fp16 and bf16 tasks, not {}; use "
                    "--protocol davinci",
                    task.path, config::PrecisionName(task.config.precision)));
  Evaluation evaluation;
  const bool defines_entry = source.find("class " + task.candidate_entry) != std::string::npos ||
                             source.find(task.candidate_entry) != std::string::npos ||
                             (!task.candidate_function.empty() &&
                              source.find(task.candidate_function) != std::string::npos);
  if (!defines_entry) {
    evaluation =
        Refused(Outcome::kParseError,
                task.candidate_function.empty()
                    ? fmt::format("the candidate defines no class {}; define it with the "
                                  "constructor and forward signature of the reference",
                                  task.candidate_entry)
                    : fmt::format("the candidate defines neither def {} nor class {}; define one "
                                  "of them with the reference's signature",
                                  task.candidate_function, task.candidate_entry));
  } else {
    DAVINCI_ASSIGN_OR_RETURN(const JudgeContext* context, impl_->Ready());
    Job job{request};
    job.candidate = source;
    job.alone = alone;
    if (request.target == Target::kCuda && impl_->device.empty()) {
      job.target = Target::kCpu;
      job.compile_only = true;
    }
    job.specification = KeptSpecification(*context, job);
    if (job.target == Target::kCuda) impl_->timing_cores->KeepOff();
    const std::string& folder = impl_->options.record_folder;
    DAVINCI_ASSIGN_OR_RETURN(evaluation,
                             folder.empty() || job.export_of
                                 ? RunTrial(*context, job, protocol, budget)
                                 : RecordTrial(*context, job, protocol, limits, budget, folder));
    if (evaluation.outcome != Outcome::kOk && !impl_->server->Alive())
      return Unavailable("the fork server ended in the middle of the evaluation; judge again");
    if (job.compile_only)
      evaluation.provenance["no_device"] =
          impl_->options.device == gpu::kNoDevice ? "no device was to judge"
          : impl_->monitor->devices().empty()     ? impl_->monitor->absence_reason()
                                                  : "CUDA_VISIBLE_DEVICES hides all devices";
  }
  json& provenance = evaluation.provenance;
  const Language language =
      request.language == Language::kAuto ? DetectLanguage(source) : request.language;
  provenance["language"] = LanguageName(language);
  provenance["target"] = TargetName(request.target);
  provenance["device"] = MachineIdentity(request.target, *impl_->monitor, impl_->device);
  if (provenance.contains("binaries")) provenance["toolchain"] = impl_->ToolchainIdentity();
  provenance["task_sha256"] = task.hash;
  provenance["candidate_sha256"] = Sha256Hex(source);
  provenance["protocol"] = {{"name", protocol.name}, {"version", protocol.version}};
  if (!limits.empty()) provenance["protocol"]["limits"] = limits;
  provenance["precision"] = config::PrecisionName(task.config.precision);
  for (const std::string& tag : task.config.tags) evaluation.AddLabel(Label::kTaskTag, {tag});
  return evaluation;
}

}  // namespace davinci::judge
