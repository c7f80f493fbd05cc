#include "davinci/judge/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "davinci/judge/baselines.h"
#include "davinci/judge/runner_pool.h"
#include "davinci/judge/sandbox_policies.h"
#include "davinci/judge/shared_process.h"
#include "davinci/judge/untrusted_json.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kLockTimeoutSeconds = 10;
constexpr double kForgetTimeoutSeconds = 10;
constexpr uint64_t kMostPadding = 1 << 21;  // bytes: a huge page
// Raise it when the parts of device_memory.h or the oracle's estimate become others.
constexpr int kFootprintVersion = 3;
}  // namespace

Examination::Examination(const JudgeContext& context, const Job& job, const Protocol& protocol,
                         MemoryBudget budget)
    : trial_(context, job, protocol, budget) {}

void Examination::Stage(std::string_view name) {
  const double now = trial_.clock.watch.Seconds();
  if (!trial_.clock.stage.empty())
    trial_.clock.stage_seconds[trial_.clock.stage] = now - trial_.clock.stage_began;
  trial_.clock.stage = std::string(name);
  trial_.clock.stage_began = now;
  if (trial_.job.progress && !name.empty()) trial_.job.progress(name);
}

Result<Evaluation> Examination::Run() { return Contained(&Examination::Examine); }

// One candidate never ends the process that judges others: what it sends is read by type
// (untrusted_json.h), and what was overlooked there ends its own examination only.
Result<Evaluation> Examination::Contained(Result<Evaluation> (Examination::*examine)()) {
  const auto guarded = [&]() -> Result<Evaluation> {
    try {
      return (this->*examine)();
    } catch (const json::exception& error) {
      return Internal(fmt::format("{}: a message of its process could not be understood: {}",
                                  trial_.job.candidate_path, error.what()));
    } catch (const std::exception& error) {
      return Internal(fmt::format("{}: its examination ended unexpectedly: {}",
                                  trial_.job.candidate_path, error.what()));
    }
  };
  auto evaluation = guarded();
  if (evaluation.ok() && SharesProcess()) LetGoOfCandidate(&*evaluation);
  ReturnSession(evaluation.ok());
  return evaluation;
}

Result<Evaluation> Examination::Examine() {
  using Step = Result<bool> (Examination::*)();
  struct Named {
    const char* name;
    Step step;
  };
  // From StartRoles on the three processes exist; from LockEarly on the candidate is frozen except
  // inside calls; before MeasureTime it can no longer start processes; after CheckCorrectness
  // `correct` never changes from false to true; after MeasureTime nothing is timed any more.
  constexpr Named kSteps[] = {
      {"starting", &Examination::StartRoles},        {"loading", &Examination::LoadReference},
      {kBuildingStage, &Examination::LoadCandidate}, {"locking", &Examination::LockEarly},
      {"checking", &Examination::CheckCorrectness},  {"locking", &Examination::LockLate},
      {"timing", &Examination::MeasureTime},         {"weighing", &Examination::Weigh},
  };
  for (const Named& named : kSteps) {
    Stage(named.name);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, (this->*named.step)());
    if (!go_on) break;
  }
  Stage("concluding");
  CollectEvidence();
  Stage("");
  Evaluation evaluation = Conclude();
  if (trial_.job.export_of && evaluation.outcome == Outcome::kOk)
    DAVINCI_RETURN_IF_ERROR(CheckExport(&evaluation));
  return evaluation;
}

Result<bool> Examination::Verdict(Failure failure) {
  if (failure.outcome == Outcome::kJudgeError) return Internal(failure.message);
  // Where the user keeps the file, not where the judge keeps its copy.
  const std::string copy = trial_.candidate.home.source_path().string();
  for (size_t at = 0; (at = failure.message.find(copy, at)) != std::string::npos;
       at += trial_.job.candidate_path.size())
    failure.message.replace(at, copy.size(), trial_.job.candidate_path);
  switch (failure.outcome) {  // said of what the candidate answered, in a check or a timed call
    case Outcome::kMismatch:
    case Outcome::kNondeterministic:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
      trial_.report.evaluation.correct = false;
      break;
    default:
      break;
  }
  trial_.report.failure = std::move(failure);
  return false;
}

// Everything that makes the oracle's and the baseline's answers another.
std::string Examination::SessionKey() const {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}", trial_.task.hash, trial_.task.path,
                     TargetName(trial_.job.target), trial_.protocol.published, trial_.job.baseline,
                     trial_.job.compile_only, trial_.job.compile_only_try,
                     trial_.protocol.device_connections, static_cast<int>(trial_.budget));
}

// Whose processes could serve this task next. On the cpu a fork costs less than a doubt.
std::string Examination::HostKey() const {
  const bool device = trial_.job.target == Target::kCuda && !trial_.job.compile_only;
  // A sandbox is made once, and shows one task's files.
  const bool has_files = !trial_.task.imports.empty() || !trial_.task.data.empty();
  if (!device || IsAlone() || has_files || trial_.job.baseline != "eager") return "";
  return fmt::format("cuda/{}", trial_.protocol.device_connections);
}

Status Examination::StartOracle() {
  worker::SpawnRequest request;
  request.role = "oracle";
  request.target = TargetName(trial_.job.target);
  request.threads = trial_.context.threads;
  request.scratch = (trial_.session->work.path() / "oracle").string();
  DAVINCI_RETURN_IF_ERROR(MakeDirs(request.scratch));
  request.policy = RolePolicy(trial_.context, trial_.job.target, "oracle", request.scratch,
                              ReferenceFiles(), true);
  request.imports = trial_.task.imports.names;
  if (trial_.context.options.unsafe_no_sandbox) request.policy = nullptr;
  request.env = RoleEnvironment(request.scratch, 1);
  DAVINCI_ASSIGN_OR_RETURN(auto oracle, trial_.context.server->Spawn(request));
  trial_.session->oracle = std::make_unique<Oracle>(std::move(oracle), request.target);
  return Status::Ok();
}

Status Examination::StartSession() {
  if (trial_.session && !trial_.session->key.empty() && !trial_.session->Strip())
    trial_.session.reset();
  const bool has_processes = trial_.session != nullptr;
  if (!trial_.session) trial_.session = std::make_unique<Session>();
  trial_.session->key = SessionKey();
  trial_.session->host = HostKey();
  trial_.session->facts.resize(1 + trial_.task.config.variants.size());
  trial_.session->init_seed =
      trial_.protocol.published ? kPublishedSeed : trial_.session->secret.Next() >> 1;
  if (has_processes) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(trial_.session->work, MakeTempDir("davinci-session"));
  DAVINCI_RETURN_IF_ERROR(StartOracle());
  trial_.session->baseline.name = "baseline";
  trial_.session->baseline.side = Side::kBaseline;
  DAVINCI_ASSIGN_OR_RETURN(
      trial_.session->baseline.runner,
      SpawnRunner(trial_.context, trial_.job.target,
                  (trial_.session->work.path() / "baseline").string(), ReferenceFiles(),
                  RunnerKind::kBaseline, trial_.protocol.device_connections,
                  trial_.task.imports.names));
  return Status::Ok();
}

Status Examination::TakeSession(SessionClaim claim) {
  if (!claim.granted()) return Status::Ok();
  trial_.claimed = true;
  trial_.session = std::move(claim.session);
  if (trial_.session && trial_.session->key == SessionKey()) return Status::Ok();
  return StartSession();
}

void Examination::ReturnSession(bool well) {
  trial_.device.share.Release();
  if (trial_.session) UseLaunch(0);  // whichever launch ended the examination
  const bool asserted =
      trial_.session && trial_.session->oracle && trial_.session->oracle->asserted();
  // A pair ended between its two calls where the candidate failed in the first.
  const bool awaits_go =
      trial_.session && trial_.session->baseline.runner && trial_.session->baseline.runner->armed();
  if (trial_.session && (!well || asserted || awaits_go)) trial_.session->spoilt = true;
  if (asserted && trial_.context.facts != nullptr)
    (void)trial_.context.facts->Put("domain", AdmissionKey(), true);  // see ReferenceSpec()
  trial_.candidate.home.runner = std::move(trial_.candidate.timed.runner);
  if (trial_.claimed)
    trial_.context.sessions->Return(SessionKey(), std::move(trial_.session),
                                    std::move(trial_.candidate.home));
  trial_.claimed = false;
}

Result<bool> Examination::StartRoles() {
  if (trial_.job.target == Target::kCuda && !trial_.job.compile_only) {
    DAVINCI_ASSIGN_OR_RETURN(
        trial_.device.users,
        JoinDeviceUsers(trial_.context.leases, DeviceKey(), IsAlone(), trial_.job.candidate_path));
    if (IsAlone()) trial_.context.sessions->Clear();
  }
  DAVINCI_RETURN_IF_ERROR(TakeSession(trial_.context.sessions->TryClaim(SessionKey(), HostKey())));
  // After the oracle and the baseline, before the first candidate: they load while this runs.
  if (trial_.job.target == Target::kCuda || trial_.job.compile_only) {
    const auto cache = CacheDir("triton");
    DAVINCI_RETURN_IF_ERROR(trial_.context.server->Prewarm(cache.ok() ? cache->string() : "",
                                                           trial_.job.compile_only_arch));
  }
  trial_.candidate.imports = trial_.task.imports;
  trial_.candidate.imports.package.clear();
  if (trial_.job.candidate_has_neighbours)
    trial_.candidate.imports.Add(
        trial_.context.machine->ImportsOf(trial_.job.candidate, trial_.job.candidate_path));
  trial_.candidate.uses_triton = trial_.job.candidate.find("triton") != std::string::npos;
  DAVINCI_RETURN_IF_ERROR(StartCandidate());
  return true;
}

// On the cpu target a fork costs less than a doubt.
bool Examination::SharesProcess() const {
  const bool is_slow_to_start = trial_.job.target == Target::kCuda || trial_.job.compile_only;
  if (!trial_.protocol.staged || !is_slow_to_start || trial_.job.alone ||
      !trial_.candidate.imports.visible.empty() || !trial_.candidate.imports.names.empty())
    return false;
  if (!trial_.candidate.text_may_share)
    trial_.candidate.text_may_share =
        MayShareProcess(trial_.job.candidate, InstalledPrelude(trial_.context.options.python_path));
  return *trial_.candidate.text_may_share;
}

void Examination::LetGoOfCandidate(Evaluation* evaluation) {
  if (!trial_.candidate.timed.runner || !trial_.candidate.loaded) return;
  // The runner overwrites what it frees on the device, while nothing is timed there.
  if (trial_.job.target == Target::kCuda && !ShareDevice().ok()) return;
  json& process = evaluation->provenance["process"];
  process["served"] = trial_.candidate.served;
  // A runner that lives and has said nothing wrong may serve the next candidate.
  const bool clean = !trial_.candidate.timed.runner->process().WaitForDeath() &&
                     trial_.candidate.timed.runner->Forget(kForgetTimeoutSeconds) &&
                     trial_.candidate.timed.runner->process().OtherProcesses().empty();
  process["clean"] = clean;
  if (!clean || !WhyJudgedAlone(*evaluation).empty() || trial_.candidate.served + 1 >= kMostServed)
    return;
  trial_.candidate.home.runner = std::move(trial_.candidate.timed.runner);
  trial_.candidate.home.served = trial_.candidate.served + 1;
  trial_.context.runner_pool->GiveBack(trial_.job.target, trial_.job.compile_only,
                                       trial_.protocol.device_connections,
                                       std::move(trial_.candidate.home));
}

Status Examination::StartCandidate() {
  if (SharesProcess()) {
    DAVINCI_ASSIGN_OR_RETURN(trial_.candidate.home, trial_.context.runner_pool->TakeShared(
                                                        trial_.job.target, trial_.job.compile_only,
                                                        trial_.protocol.device_connections));
    trial_.candidate.served = trial_.candidate.home.served;
    trial_.candidate.said_before = trial_.candidate.home.runner->process().OutputBytes();
  } else {
    DAVINCI_ASSIGN_OR_RETURN(
        trial_.candidate.home,
        trial_.context.runner_pool->Take(
            trial_.job.target, trial_.job.compile_only, trial_.protocol.device_connections,
            task::WithoutTask(trial_.candidate.imports.visible, trial_.task.files),
            trial_.candidate.imports.names));
  }
  trial_.candidate.timed.runner = std::move(trial_.candidate.home.runner);
  trial_.candidate.timed.runner->process().SetMemoryLimit(MemoryBytes());
  CompileLimits compiling;
  compiling.seconds = trial_.protocol.compile_timeout_seconds;
  trial_.candidate.timed.runner->set_compile_limits(compiling);
  return WriteFileAtomic(trial_.candidate.home.source_path(), trial_.job.candidate,
                         Durability::kFastest);
}

void Examination::PostCandidate() {
  json load = {{"op", "load"},
               {"path", trial_.candidate.home.source_path().string()},
               {"entry", trial_.task.candidate_entry},
               {"function", trial_.task.candidate_function},
               {"module", "candidate"},
               {"imports", ToJson(trial_.candidate.imports)},
               {"compile_only", trial_.job.compile_only ? CompileOnlyOptions() : json()}};
  if (SharesProcess()) load["shared"] = true;
  trial_.candidate.timed.runner->Post(load);
}

// The reference is loaded by both of its roles at once, and while a candidate starts.
Status Examination::BeginReference() {
  DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->AwaitReady(kReadyTimeoutSeconds));
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->Post(ReferenceSpec()));
  Runner& baseline = *trial_.session->baseline.runner;
  baseline.process().SetMemoryLimit(MemoryBytes());
  if (auto failure = baseline.AwaitReady(kReadyTimeoutSeconds)) return Internal(failure->message);
  if (!trial_.job.compile_only) LoadBaseline();  // there the oracle says first at which sizes
  return Status::Ok();
}

void Examination::LoadBaseline() {
  const config::TaskConfig& c = trial_.task.config;
  json globals = c.Globals(TargetName(trial_.job.target));
  if (const json* shrunk = Shrunk()) globals.update(shrunk->at("set"));
  trial_.session->baseline.runner->Post({{"op", "load"},
                                         {"path", trial_.task.path},
                                         {"source", trial_.task.source},
                                         {"entry", ReferenceEntry()},
                                         {"function", c.function},
                                         {"op_path", c.op},
                                         {"globals", globals},
                                         {"imports", ToJson(trial_.task.imports)},
                                         {"module", "davinci_task"},
                                         {"accelerate", false}});
}

std::vector<std::filesystem::path> Examination::ReferenceFiles() const {
  std::vector<std::filesystem::path> files(trial_.task.imports.visible.begin(),
                                           trial_.task.imports.visible.end());
  files.insert(files.end(), trial_.task.data.begin(), trial_.task.data.end());
  return files;
}

std::string Examination::ReferenceEntry() const {
  if (!trial_.task.config.function.empty()) return "";
  return trial_.task.config.entry.empty() ? "Model" : trial_.task.config.entry;
}

json Examination::ReferenceSpec() {
  const config::TaskConfig& c = trial_.task.config;
  json load = {{"op", "load"},
               {"path", trial_.task.path},
               {"source", trial_.task.source},
               {"entry", ReferenceEntry()},
               {"function", c.function},
               {"globals", c.Globals(TargetName(trial_.job.sizes_of.value_or(trial_.job.target)))},
               {"variants", c.variants},
               {"init_seed", trial_.session->init_seed},
               {"state_seed", trial_.session->secret.Next() >> 1},
               {"randomise", !trial_.protocol.published},
               {"alone", IsAlone()},
               {"call_seconds", CallTimeout()},
               {"imports", ToJson(trial_.task.imports)},
               {"precision", config::PrecisionName(c.precision)},
               {"inplace", c.inplace}};
  if (trial_.context.facts != nullptr)
    if (const auto found = trial_.context.facts->Get("domain", AdmissionKey());
        found.ok() && *found)
      load["domain_on_host"] = true;
  if (trial_.job.compile_only) CompileOnlySpec(&load);
  if (!c.op.empty()) load["op_path"] = c.op;
  if (c.mode != config::ModuleMode::kAsConstructed) load["mode"] = config::ModuleModeName(c.mode);
  if (c.tolerance_multiple) load["tolerance_multiple"] = *c.tolerance_multiple;
  if (trial_.protocol.published)
    load["published_tolerance"] = PublishedTolerance(c.precision).value_or(0);
  return load;
}

Result<bool> Examination::LoadReference() {
  // The candidate imports and compiles while the oracle works out what is right.
  bool fresh = trial_.session && !trial_.session->ready;
  if (fresh) DAVINCI_RETURN_IF_ERROR(BeginReference());
  if (auto failure = trial_.candidate.timed.runner->AwaitReady(kReadyTimeoutSeconds))
    return Verdict(*failure);
  PostCandidate();
  if (!trial_.session) {  // the candidate loads while we wait for processes
    DAVINCI_RETURN_IF_ERROR(
        TakeSession(trial_.context.sessions->TryClaimSoon(SessionKey(), HostKey())));
    fresh = trial_.session && !trial_.session->ready;
    if (fresh) DAVINCI_RETURN_IF_ERROR(BeginReference());
  }
  if (!fresh) return true;
  const Status finished = FinishReference();
  if (!trial_.session->ready && trial_.candidate.loaded &&
      trial_.candidate.loaded->failure) {  // nothing was waited for any longer
    trial_.session->spoilt = true;
    return Verdict(*trial_.candidate.loaded->failure);
  }
  DAVINCI_RETURN_IF_ERROR(finished);
  return true;
}

const Answer& Examination::Loaded() {
  if (!trial_.candidate.loaded)
    trial_.candidate.loaded = trial_.candidate.timed.runner->Await(
        trial_.protocol.load_timeout_seconds, Outcome::kLoadError);
  return *trial_.candidate.loaded;
}

Status Examination::FinishReference() {
  Runner& baseline = *trial_.session->baseline.runner;
  DAVINCI_ASSIGN_OR_RETURN(trial_.session->fitted,
                           trial_.session->oracle->AwaitLoad(trial_.protocol.load_timeout_seconds));
  if (trial_.job.compile_only) LoadBaseline();
  const bool device = trial_.job.target == Target::kCuda && !trial_.job.compile_only;
  if (device) DAVINCI_RETURN_IF_ERROR(ReserveDeviceMemory());
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(0));
  if (device) DAVINCI_RETURN_IF_ERROR(FitDeviceMemory(*facts));
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_ASSIGN_OR_RETURN(auto mutates,
                           trial_.session->oracle->Ask(
                               {{"op", "mutates"}, {"seed", trial_.session->secret.Next() >> 1}}));
  trial_.session->reference_mutates = mutates.ok.value("mutates", false);
  trial_.session->reference_hides_changes = mutates.ok.value("hides", false);
  Answer loaded = baseline.Await(trial_.protocol.load_timeout_seconds, Outcome::kLoadError);
  if (loaded.failure) return ReferenceFailure(*loaded.failure);
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&trial_.session->baseline, 0));
  if (failure) return ReferenceFailure(*failure);
  if (auto stopped = baseline.StartCalls()) return Internal(stopped->message);
  trial_.session->ready = true;
  trial_.device.share.Release();
  return Status::Ok();
}

// The outputs of a variant may be larger than those of the one before.
Status Examination::FitOutputs(const VariantFacts& facts) {
  if (trial_.job.target == Target::kCuda || trial_.session->arena.Fits(facts.outputs))
    return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(trial_.session->arena, OutputArena::Create(facts.outputs));
  const int fds[] = {trial_.session->arena.fd()};
  return trial_.session->oracle
      ->Ask({{"op", "outputs"}, {"bytes", trial_.session->arena.num_bytes()}}, fds)
      .status();
}

Status Examination::ReferenceFailure(const Failure& failure) const {
  std::string message =
      IsCompiled(trial_.job.baseline)
          ? fmt::format(
                "torch.compile cannot serve as baseline of {}: {}; neither this file nor the "
                "candidate need be at fault: --baseline eager does without it",
                trial_.task.path, failure.message)
          : fmt::format("{}: {}", trial_.task.path, failure.message);
  return failure.outcome == Outcome::kOutOfMemory &&
                 (trial_.job.target == Target::kCuda || trial_.job.compile_only)
             ? ResourceExhausted(std::move(message))
             : InvalidArgument(std::move(message));
}

std::string Examination::FootprintKey() const {
  return fmt::format("{}/{}/{}/{}", trial_.task.hash, DeviceKey(),
                     trial_.context.hello.value("torch", ""), kFootprintVersion);
}

Status Examination::ReserveDeviceMemory() {
  int parts = kUnknownParts;
  if (trial_.context.facts != nullptr)
    if (const auto known = trial_.context.facts->Get("footprint", FootprintKey());
        known.ok() && *known)
      parts = (*known)->value("parts", kUnknownParts);
  return HoldMemoryParts(parts);
}

Status Examination::FitDeviceMemory(const VariantFacts& facts) {
  const auto footprint = facts.raw.value("footprint_bytes", int64_t{0});
  DeviceMemory().estimated_bytes = footprint;
  bool more = trial_.budget == MemoryBudget::kHalfMore;
  if (trial_.context.facts != nullptr && !more)
    if (const auto known = trial_.context.facts->Get("footprint", FootprintKey());
        known.ok() && *known)
      more = (*known)->value("half_more", false);
  const int parts = PartsFor(footprint, facts.raw.value("device_bytes", int64_t{0}),
                             more ? MemoryBudget::kHalfMore : MemoryBudget::kEstimated);
  if (trial_.context.facts != nullptr)
    (void)trial_.context.facts->Put("footprint", FootprintKey(),
                                    {{"parts", parts}, {"half_more", more}});
  trial_.context.sessions->Limit(trial_.session->key, kMemoryParts / std::max(parts, 1));
  return HoldMemoryParts(parts);
}

DeviceMemoryEvidence& Examination::DeviceMemory() {
  return trial_.report.evidence.device_memory ? *trial_.report.evidence.device_memory
                                              : trial_.report.evidence.device_memory.emplace();
}

Status Examination::HoldMemoryParts(int parts) {
  if (IsAlone()) {  // until the processes of the session are gone
    if (trial_.device.users.held())
      trial_.session->memory.push_back(std::move(trial_.device.users));
    trial_.session->spoilt = true;
    return Status::Ok();
  }
  std::vector<gpu::DeviceLease>& held = trial_.session->memory;
  if (std::ssize(held) >= parts) {
    held.resize(static_cast<size_t>(parts));
    return Status::Ok();
  }
  if (!held.empty())  // what describing the task left behind
    DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->Ask({{"op", "rest"}}).status());
  held.clear();
  // Not while holding the device: the holder of the memory may be waiting to be timed.
  trial_.device.share.Release();
  const std::string purpose = "memory for " + trial_.job.candidate_path;
  auto memory = AcquireMemory(trial_.context.leases, DeviceKey(), parts, purpose, false);
  const Stopwatch waiting;
  if (memory.status().code() == StatusCode::kDeadlineExceeded) {
    // No memory is held while the candidate is compiled, or for one that does not compile.
    if (Loaded().failure) return Cancelled("the candidate did not load");
    trial_.context.sessions->BeginMemoryWait();
    memory = AcquireMemory(trial_.context.leases, DeviceKey(), parts, purpose);
    trial_.context.sessions->EndMemoryWait();
  }
  DAVINCI_RETURN_IF_ERROR(memory.status());
  held = std::move(*memory);
  json& waited = trial_.report.evaluation.times["waited_for_memory_ms"];
  waited = (waited.is_number() ? waited.get<double>() : 0.0) + 1e3 * waiting.Seconds();
  return ShareDevice();
}

Result<const VariantFacts*> Examination::Facts(int variant) {
  auto& slot = trial_.session->facts[static_cast<size_t>(variant)];
  if (!slot) {
    const double patience = Oracle::DescribeSeconds(trial_.protocol.call_timeout_seconds);
    DAVINCI_ASSIGN_OR_RETURN(
        slot, trial_.session->oracle->Describe(variant, trial_.secret.Next() >> 1, patience));
  }
  return &*slot;
}

Result<bool> Examination::LoadCandidate() {
  const Answer& loaded = Loaded();
  if (loaded.failure) return Verdict(*loaded.failure);
  const double longest = Runner::LongestWait(trial_.protocol.load_timeout_seconds) +
                         trial_.protocol.compile_timeout_seconds;
  if (const auto said = Plausible(NumberIn(loaded.ok, "seconds", 0), longest, "times.import_ms"))
    trial_.report.evaluation.times["import_ms"] = 1e3 * *said;
  if (!trial_.session) {  // all were busy when we came
    DAVINCI_RETURN_IF_ERROR(TakeSession(trial_.context.sessions->Claim(SessionKey(), HostKey())));
    if (!trial_.session->ready) {
      DAVINCI_RETURN_IF_ERROR(BeginReference());
      DAVINCI_RETURN_IF_ERROR(FinishReference());
    }
  }
  trial_.report.evaluation.times["session_uses"] = trial_.session->uses;
  if (trial_.session->tasks > 0)
    trial_.report.evaluation.times["session_tasks"] = trial_.session->tasks;
  DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&trial_.candidate.timed, 0));
  if (failure) return Verdict(*failure);
  return true;
}

Result<std::optional<Failure>> Examination::BindVariant(Timed* timed, int variant) {
  using Maybe = std::optional<Failure>;
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(variant));
  DAVINCI_RETURN_IF_ERROR(FitOutputs(*facts));
  Runner& runner = *timed->runner;
  auto ask = [&](const json& message, std::span<const int> fds = {}) {
    return runner.frozen() ? runner.AskFrozen(message, trial_.protocol.load_timeout_seconds, fds)
                           : runner.Ask(message, trial_.protocol.load_timeout_seconds,
                                        Outcome::kLoadError, fds);
  };
  json construct = {{"op", "construct"},
                    {"variant", variant},
                    {"init", facts->init},
                    {"seed", trial_.session->init_seed},
                    {"mode", facts->mode}};
  // Where a process's tensors lie decides some per cent of its calls: another place in each.
  if (trial_.job.target == Target::kCpu)
    construct["padding"] = trial_.secret.Below(kMostPadding) / 64 * 64;
  if (trial_.protocol.published)
    construct["cast"] = config::PrecisionName(trial_.task.config.precision);
  if (timed == &trial_.session->baseline && IsCompiled(trial_.job.baseline))
    construct["compile"] = trial_.job.baseline == "compile"
                               ? "default"
                               : trial_.job.baseline.substr(sizeof "compile-" - 1);
  if (Answer built = ask(construct); built.failure) return Maybe(built.failure);

  // A module without state (functional tasks) has nothing to copy.
  const auto& state = facts->raw.at("state");
  if (!state.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(auto exported,
                             trial_.session->oracle->Ask({{"op", "state"}, {"variant", variant}}));
    json message = exported.ok;
    message["op"] = "state";
    message["variant"] = variant;
    std::vector<int> fds;
    for (const UniqueFd& fd : exported.fds) fds.push_back(fd.get());
    Answer copied = ask(message, fds);
    if (timed == &trial_.candidate.timed && !copied.failure &&
        TextIn(copied.ok, "matched") == "reseeded") {
      DAVINCI_ASSIGN_OR_RETURN(const bool fewer, MarkUnread(variant, &message));
      if (fewer) copied = ask(message, fds);
    }
    if (copied.failure) return Maybe(copied.failure);
    const std::string matched = TextIn(copied.ok, "matched");
    if (timed == &trial_.candidate.timed) KeepHandover(variant, copied.ok, state.size());
    if (matched != "names" && matched != "values" && matched != "shapes" && matched != "reseeded") {
      return Maybe(
          Broken(Rule::kControlChannel, "the candidate tampered with how weights are handed over"));
    }
    if (timed == &trial_.candidate.timed && matched == "reseeded") {
      // Documented fallback: both sides keep the weights drawn from the same seed, which then
      // cannot be randomised.
      if (variant == 0) {
        trial_.report.evaluation.AddLabel(Label::kWeightsReseeded);
        trial_.session->spoilt = true;
        DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->Ask({{"op", "unrandomise"}}).status());
        DAVINCI_RETURN_IF_ERROR(BindVariant(&trial_.session->baseline, 0).status());
      }
    } else if (timed == &trial_.candidate.timed) {
      trial_.report.evaluation.provenance["weights"] = matched;
    }
  }

  DAVINCI_ASSIGN_OR_RETURN(auto arena,
                           trial_.session->oracle->Ask({{"op", "arena"},
                                                        {"name", timed->name},
                                                        {"slot_bytes", facts->slot_bytes},
                                                        {"slots", facts->num_slots}}));
  json bind = {{"op", "bind"},
               {"variant", variant},
               {"inputs", facts->inputs},
               {"contiguous", json::array()},
               {"kept", facts->raw.value("kept", json::array())},
               {"bytes", arena.ok.at("bytes")}};
  for (const OutputTensor& output : facts->outputs)
    bind["contiguous"].push_back(IsContiguous(output) ? json(NumElements(output)) : json());
  if (arena.ok.contains("handle")) bind["handle"] = arena.ok["handle"];
  std::vector<int> fds;
  for (const UniqueFd& fd : arena.fds) fds.push_back(fd.get());
  if (Answer bound = ask(bind, fds); bound.failure) return Maybe(bound.failure);
  timed->built_variant = variant;
  return Maybe();
}

// Triton compiles at the first call, with programs of its own, so a CUDA candidate is locked only
// after it was checked. What it may have left behind is found then.
Result<bool> Examination::LockEarly() {
  if (trial_.job.target == Target::kCpu) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, Lock());
    if (!go_on) return false;
  }
  if (auto failure = trial_.candidate.timed.runner->StartCalls()) return Verdict(*failure);
  return true;
}

Result<bool> Examination::LockLate() {
  return trial_.job.target == Target::kCpu ? Result<bool>(true) : Lock();
}

Result<bool> Examination::Lock() {
  Runner& runner = *trial_.candidate.timed.runner;
  // A process that serves others compiles for them, too: helpers are then looked for after each
  // call.
  if (!trial_.context.options.unsafe_no_sandbox && !SharesProcess()) {
    // The baseline needs no lock: it is the reference. The candidate's lock is verified from
    // outside.
    const int before = runner.process().NumSeccompFilters();
    Answer locked = runner.frozen()
                        ? runner.AskFrozen({{"op", "lock"}}, kLockTimeoutSeconds)
                        : runner.Ask({{"op", "lock"}}, kLockTimeoutSeconds, Outcome::kRuntimeError);
    if (locked.failure) return Verdict(*locked.failure);
    const int after = runner.process().NumSeccompFilters();
    if (before > 0 && after <= before) {
      return Verdict(Broken(Rule::kSandboxLock, "the candidate evaded the lock of its sandbox"));
    }
  }
  if (auto failure = HelperProcesses()) return Verdict(std::move(*failure));
  return true;
}

std::optional<Failure> Examination::HelperProcesses() const {
  const auto others = trial_.candidate.timed.runner->process().OtherProcesses();
  if (others.empty()) return std::nullopt;
  return Broken(Rule::kHelperProcess,
                fmt::format("the candidate left {} process(es) running; helper processes are not "
                            "allowed when calls are timed",
                            others.size()));
}

std::string Examination::DeviceKey() const {
  return trial_.job.target == Target::kCpu ? "cpu" : trial_.context.device;
}

double Examination::CallTimeout() const {
  // The first calls on cuda include Triton's compilation and tuning.
  const double least =
      trial_.protocol.call_timeout_seconds * (trial_.job.target == Target::kCuda ? 3 : 1);
  return std::max(least, trial_.protocol.call_timeout_factor * trial_.timing.baseline_seconds);
}

bool Examination::BaselineCompiles() const {
  const auto& facts = trial_.session->facts[0];
  return IsCompiled(trial_.job.baseline) || (facts && facts->raw.value("compiles", false));
}

}  // namespace davinci::judge
