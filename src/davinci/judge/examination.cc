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
    : context_(context), job_(job), task_(*job.task), protocol_(protocol), budget_(budget) {
  candidate_.name = "candidate";
  candidate_.side = Side::kCandidate;
}

void Examination::Stage(std::string_view name) {
  const double now = watch_.Seconds();
  if (!stage_.empty()) stage_seconds_[stage_] = now - stage_started_;
  stage_ = std::string(name);
  stage_started_ = now;
  if (job_.progress && !name.empty()) job_.progress(name);
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
                                  job_.candidate_path, error.what()));
    } catch (const std::exception& error) {
      return Internal(fmt::format("{}: its examination ended unexpectedly: {}", job_.candidate_path,
                                  error.what()));
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
  if (job_.export_of && evaluation.outcome == Outcome::kOk)
    DAVINCI_RETURN_IF_ERROR(CheckExport(&evaluation));
  return evaluation;
}

Result<bool> Examination::Verdict(Failure failure) {
  if (failure.outcome == Outcome::kJudgeError) return Internal(failure.message);
  // Where the user keeps the file, not where the judge keeps its copy.
  const std::string copy = candidate_home_.source_path().string();
  for (size_t at = 0; (at = failure.message.find(copy, at)) != std::string::npos;
       at += job_.candidate_path.size())
    failure.message.replace(at, copy.size(), job_.candidate_path);
  switch (failure.outcome) {  // said of what the candidate answered, in a check or a timed call
    case Outcome::kMismatch:
    case Outcome::kNondeterministic:
    case Outcome::kWrongShape:
    case Outcome::kWrongDtype:
      evaluation_.correct = false;
      break;
    default:
      break;
  }
  failure_ = std::move(failure);
  return false;
}

// Everything that makes the oracle's and the baseline's answers another.
std::string Examination::SessionKey() const {
  return fmt::format("{}/{}/{}/{}/{}/{}/{}/{}/{}", task_.hash, task_.path, TargetName(job_.target),
                     protocol_.published, job_.baseline, job_.compile_only, job_.compile_only_try,
                     protocol_.device_connections, static_cast<int>(budget_));
}

// Whose processes could serve this task next. On the cpu a fork costs less than a doubt.
std::string Examination::HostKey() const {
  const bool device = job_.target == Target::kCuda && !job_.compile_only;
  // A sandbox is made once, and shows one task's files.
  const bool has_files = !task_.imports.empty() || !task_.data.empty();
  if (!device || IsAlone() || has_files || job_.baseline != "eager") return "";
  return fmt::format("cuda/{}", protocol_.device_connections);
}

Status Examination::StartOracle() {
  worker::SpawnRequest request;
  request.role = "oracle";
  request.target = TargetName(job_.target);
  request.threads = context_.threads;
  request.scratch = (session_->work.path() / "oracle").string();
  DAVINCI_RETURN_IF_ERROR(MakeDirs(request.scratch));
  request.policy =
      RolePolicy(context_, job_.target, "oracle", request.scratch, ReferenceFiles(), true);
  request.imports = task_.imports.names;
  if (context_.options.unsafe_no_sandbox) request.policy = nullptr;
  request.env = RoleEnvironment(request.scratch, 1);
  DAVINCI_ASSIGN_OR_RETURN(auto oracle, context_.server->Spawn(request));
  session_->oracle = std::make_unique<Oracle>(std::move(oracle), request.target);
  return Status::Ok();
}

Status Examination::StartSession() {
  if (session_ && !session_->key.empty() && !session_->Strip()) session_.reset();
  const bool has_processes = session_ != nullptr;
  if (!session_) session_ = std::make_unique<Session>();
  session_->key = SessionKey();
  session_->host = HostKey();
  session_->facts.resize(1 + task_.config.variants.size());
  session_->init_seed = protocol_.published ? kPublishedSeed : session_->secret.Next() >> 1;
  if (has_processes) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(session_->work, MakeTempDir("davinci-session"));
  DAVINCI_RETURN_IF_ERROR(StartOracle());
  session_->baseline.name = "baseline";
  session_->baseline.side = Side::kBaseline;
  DAVINCI_ASSIGN_OR_RETURN(
      session_->baseline.runner,
      SpawnRunner(context_, job_.target, (session_->work.path() / "baseline").string(),
                  ReferenceFiles(), RunnerKind::kBaseline, protocol_.device_connections,
                  task_.imports.names));
  return Status::Ok();
}

Status Examination::TakeSession(SessionClaim claim) {
  if (!claim.granted()) return Status::Ok();
  claimed_ = true;
  session_ = std::move(claim.session);
  if (session_ && session_->key == SessionKey()) return Status::Ok();
  return StartSession();
}

void Examination::ReturnSession(bool well) {
  share_.Release();
  if (session_) UseLaunch(0);  // whichever launch ended the examination
  const bool asserted = session_ && session_->oracle && session_->oracle->asserted();
  // A pair ended between its two calls where the candidate failed in the first.
  const bool awaits_go =
      session_ && session_->baseline.runner && session_->baseline.runner->armed();
  if (session_ && (!well || asserted || awaits_go)) session_->spoilt = true;
  if (asserted && context_.facts != nullptr)
    (void)context_.facts->Put("domain", AdmissionKey(), true);  // see ReferenceSpec()
  candidate_home_.runner = std::move(candidate_.runner);
  if (claimed_)
    context_.sessions->Return(SessionKey(), std::move(session_), std::move(candidate_home_));
  claimed_ = false;
}

Result<bool> Examination::StartRoles() {
  if (job_.target == Target::kCuda && !job_.compile_only) {
    DAVINCI_ASSIGN_OR_RETURN(device_users_, JoinDeviceUsers(context_.leases, DeviceKey(), IsAlone(),
                                                            job_.candidate_path));
    if (IsAlone()) context_.sessions->Clear();
  }
  DAVINCI_RETURN_IF_ERROR(TakeSession(context_.sessions->TryClaim(SessionKey(), HostKey())));
  // After the oracle and the baseline, before the first candidate: they load while this runs.
  if (job_.target == Target::kCuda || job_.compile_only) {
    const auto cache = CacheDir("triton");
    DAVINCI_RETURN_IF_ERROR(
        context_.server->Prewarm(cache.ok() ? cache->string() : "", job_.compile_only_arch));
  }
  candidate_imports_ = task_.imports;
  candidate_imports_.package.clear();
  if (job_.candidate_has_neighbours)
    candidate_imports_.Add(context_.machine->ImportsOf(job_.candidate, job_.candidate_path));
  uses_triton_ = job_.candidate.find("triton") != std::string::npos;
  DAVINCI_RETURN_IF_ERROR(StartCandidate());
  return true;
}

// On the cpu target a fork costs less than a doubt.
bool Examination::SharesProcess() const {
  const bool is_slow_to_start = job_.target == Target::kCuda || job_.compile_only;
  if (!protocol_.staged || !is_slow_to_start || job_.alone || !candidate_imports_.visible.empty() ||
      !candidate_imports_.names.empty())
    return false;
  if (!text_may_share_)
    text_may_share_ =
        MayShareProcess(job_.candidate, InstalledPrelude(context_.options.python_path));
  return *text_may_share_;
}

void Examination::LetGoOfCandidate(Evaluation* evaluation) {
  if (!candidate_.runner || !loaded_) return;
  // The runner overwrites what it frees on the device, while nothing is timed there.
  if (job_.target == Target::kCuda && !ShareDevice().ok()) return;
  json& process = evaluation->provenance["process"];
  process["served"] = served_;
  // A runner that lives and has said nothing wrong may serve the next candidate.
  const bool clean = !candidate_.runner->process().WaitForDeath() &&
                     candidate_.runner->Forget(kForgetTimeoutSeconds) &&
                     candidate_.runner->process().OtherProcesses().empty();
  process["clean"] = clean;
  if (!clean || !WhyJudgedAlone(*evaluation).empty() || served_ + 1 >= kMostServed) return;
  candidate_home_.runner = std::move(candidate_.runner);
  candidate_home_.served = served_ + 1;
  context_.runner_pool->GiveBack(job_.target, job_.compile_only, protocol_.device_connections,
                                 std::move(candidate_home_));
}

Status Examination::StartCandidate() {
  if (SharesProcess()) {
    DAVINCI_ASSIGN_OR_RETURN(candidate_home_,
                             context_.runner_pool->TakeShared(job_.target, job_.compile_only,
                                                              protocol_.device_connections));
    served_ = candidate_home_.served;
    said_before_ = candidate_home_.runner->process().OutputBytes();
  } else {
    DAVINCI_ASSIGN_OR_RETURN(
        candidate_home_,
        context_.runner_pool->Take(job_.target, job_.compile_only, protocol_.device_connections,
                                   task::WithoutTask(candidate_imports_.visible, task_.files),
                                   candidate_imports_.names));
  }
  candidate_.runner = std::move(candidate_home_.runner);
  candidate_.runner->process().SetMemoryLimit(MemoryBytes());
  CompileLimits compiling;
  compiling.seconds = protocol_.compile_timeout_seconds;
  candidate_.runner->set_compile_limits(compiling);
  return WriteFileAtomic(candidate_home_.source_path(), job_.candidate, Durability::kFastest);
}

void Examination::PostCandidate() {
  json load = {{"op", "load"},
               {"path", candidate_home_.source_path().string()},
               {"entry", task_.candidate_entry},
               {"function", task_.candidate_function},
               {"module", "candidate"},
               {"imports", ToJson(candidate_imports_)},
               {"compile_only", job_.compile_only ? CompileOnlyOptions() : json()}};
  if (SharesProcess()) load["shared"] = true;
  candidate_.runner->Post(load);
}

// The reference is loaded by both of its roles at once, and while a candidate starts.
Status Examination::BeginReference() {
  DAVINCI_RETURN_IF_ERROR(session_->oracle->AwaitReady(kReadyTimeoutSeconds));
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_RETURN_IF_ERROR(session_->oracle->Post(ReferenceSpec()));
  Runner& baseline = *session_->baseline.runner;
  baseline.process().SetMemoryLimit(MemoryBytes());
  if (auto failure = baseline.AwaitReady(kReadyTimeoutSeconds)) return Internal(failure->message);
  if (!job_.compile_only) LoadBaseline();  // there the oracle says first at which sizes
  return Status::Ok();
}

void Examination::LoadBaseline() {
  const config::TaskConfig& c = task_.config;
  json globals = c.Globals(TargetName(job_.target));
  if (const json* shrunk = Shrunk()) globals.update(shrunk->at("set"));
  session_->baseline.runner->Post({{"op", "load"},
                                   {"path", task_.path},
                                   {"source", task_.source},
                                   {"entry", ReferenceEntry()},
                                   {"function", c.function},
                                   {"op_path", c.op},
                                   {"globals", globals},
                                   {"imports", ToJson(task_.imports)},
                                   {"module", "davinci_task"},
                                   {"accelerate", false}});
}

std::vector<std::filesystem::path> Examination::ReferenceFiles() const {
  std::vector<std::filesystem::path> files(task_.imports.visible.begin(),
                                           task_.imports.visible.end());
  files.insert(files.end(), task_.data.begin(), task_.data.end());
  return files;
}

std::string Examination::ReferenceEntry() const {
  if (!task_.config.function.empty()) return "";
  return task_.config.entry.empty() ? "Model" : task_.config.entry;
}

json Examination::ReferenceSpec() {
  const config::TaskConfig& c = task_.config;
  json load = {{"op", "load"},
               {"path", task_.path},
               {"source", task_.source},
               {"entry", ReferenceEntry()},
               {"function", c.function},
               {"globals", c.Globals(TargetName(job_.sizes_of.value_or(job_.target)))},
               {"variants", c.variants},
               {"init_seed", session_->init_seed},
               {"state_seed", session_->secret.Next() >> 1},
               {"randomise", !protocol_.published},
               {"alone", IsAlone()},
               {"call_seconds", CallTimeout()},
               {"imports", ToJson(task_.imports)},
               {"precision", config::PrecisionName(c.precision)},
               {"inplace", c.inplace}};
  if (context_.facts != nullptr)
    if (const auto found = context_.facts->Get("domain", AdmissionKey()); found.ok() && *found)
      load["domain_on_host"] = true;
  if (job_.compile_only) CompileOnlySpec(&load);
  if (!c.op.empty()) load["op_path"] = c.op;
  if (c.mode != config::ModuleMode::kAsConstructed) load["mode"] = config::ModuleModeName(c.mode);
  if (c.tolerance_multiple) load["tolerance_multiple"] = *c.tolerance_multiple;
  if (protocol_.published)
    load["published_tolerance"] = PublishedTolerance(c.precision).value_or(0);
  return load;
}

Result<bool> Examination::LoadReference() {
  // The candidate imports and compiles while the oracle works out what is right.
  bool fresh = session_ && !session_->ready;
  if (fresh) DAVINCI_RETURN_IF_ERROR(BeginReference());
  if (auto failure = candidate_.runner->AwaitReady(kReadyTimeoutSeconds)) return Verdict(*failure);
  PostCandidate();
  if (!session_) {  // the candidate loads while we wait for processes
    DAVINCI_RETURN_IF_ERROR(TakeSession(context_.sessions->TryClaimSoon(SessionKey(), HostKey())));
    fresh = session_ && !session_->ready;
    if (fresh) DAVINCI_RETURN_IF_ERROR(BeginReference());
  }
  if (!fresh) return true;
  const Status finished = FinishReference();
  if (!session_->ready && loaded_ && loaded_->failure) {  // nothing was waited for any longer
    session_->spoilt = true;
    return Verdict(*loaded_->failure);
  }
  DAVINCI_RETURN_IF_ERROR(finished);
  return true;
}

const Answer& Examination::Loaded() {
  if (!loaded_)
    loaded_ = candidate_.runner->Await(protocol_.load_timeout_seconds, Outcome::kLoadError);
  return *loaded_;
}

Status Examination::FinishReference() {
  Runner& baseline = *session_->baseline.runner;
  DAVINCI_ASSIGN_OR_RETURN(session_->fitted,
                           session_->oracle->AwaitLoad(protocol_.load_timeout_seconds));
  if (job_.compile_only) LoadBaseline();
  const bool device = job_.target == Target::kCuda && !job_.compile_only;
  if (device) DAVINCI_RETURN_IF_ERROR(ReserveDeviceMemory());
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(0));
  if (device) DAVINCI_RETURN_IF_ERROR(FitDeviceMemory(*facts));
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_ASSIGN_OR_RETURN(
      auto mutates,
      session_->oracle->Ask({{"op", "mutates"}, {"seed", session_->secret.Next() >> 1}}));
  session_->reference_mutates = mutates.ok.value("mutates", false);
  session_->reference_hides_changes = mutates.ok.value("hides", false);
  Answer loaded = baseline.Await(protocol_.load_timeout_seconds, Outcome::kLoadError);
  if (loaded.failure) return ReferenceFailure(*loaded.failure);
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&session_->baseline, 0));
  if (failure) return ReferenceFailure(*failure);
  if (auto stopped = baseline.StartCalls()) return Internal(stopped->message);
  session_->ready = true;
  share_.Release();
  return Status::Ok();
}

// The outputs of a variant may be larger than those of the one before.
Status Examination::FitOutputs(const VariantFacts& facts) {
  if (job_.target == Target::kCuda || session_->arena.Fits(facts.outputs)) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(session_->arena, OutputArena::Create(facts.outputs));
  const int fds[] = {session_->arena.fd()};
  return session_->oracle->Ask({{"op", "outputs"}, {"bytes", session_->arena.num_bytes()}}, fds)
      .status();
}

Status Examination::ReferenceFailure(const Failure& failure) const {
  std::string message =
      IsCompiled(job_.baseline)
          ? fmt::format(
                "torch.compile cannot serve as baseline of {}: {}; neither this file nor the "
                "candidate need be at fault: --baseline eager does without it",
                task_.path, failure.message)
          : fmt::format("{}: {}", task_.path, failure.message);
  return failure.outcome == Outcome::kOutOfMemory &&
                 (job_.target == Target::kCuda || job_.compile_only)
             ? ResourceExhausted(std::move(message))
             : InvalidArgument(std::move(message));
}

std::string Examination::FootprintKey() const {
  return fmt::format("{}/{}/{}/{}", task_.hash, DeviceKey(), context_.hello.value("torch", ""),
                     kFootprintVersion);
}

Status Examination::ReserveDeviceMemory() {
  int parts = kUnknownParts;
  if (context_.facts != nullptr)
    if (const auto known = context_.facts->Get("footprint", FootprintKey()); known.ok() && *known)
      parts = (*known)->value("parts", kUnknownParts);
  return HoldMemoryParts(parts);
}

Status Examination::FitDeviceMemory(const VariantFacts& facts) {
  const auto footprint = facts.raw.value("footprint_bytes", int64_t{0});
  DeviceMemory().estimated_bytes = footprint;
  bool more = budget_ == MemoryBudget::kHalfMore;
  if (context_.facts != nullptr && !more)
    if (const auto known = context_.facts->Get("footprint", FootprintKey()); known.ok() && *known)
      more = (*known)->value("half_more", false);
  const int parts = PartsFor(footprint, facts.raw.value("device_bytes", int64_t{0}),
                             more ? MemoryBudget::kHalfMore : MemoryBudget::kEstimated);
  if (context_.facts != nullptr)
    (void)context_.facts->Put("footprint", FootprintKey(), {{"parts", parts}, {"half_more", more}});
  context_.sessions->Limit(session_->key, kMemoryParts / std::max(parts, 1));
  return HoldMemoryParts(parts);
}

DeviceMemoryEvidence& Examination::DeviceMemory() {
  return evidence_.device_memory ? *evidence_.device_memory : evidence_.device_memory.emplace();
}

Status Examination::HoldMemoryParts(int parts) {
  if (IsAlone()) {  // until the processes of the session are gone
    if (device_users_.held()) session_->memory.push_back(std::move(device_users_));
    session_->spoilt = true;
    return Status::Ok();
  }
  std::vector<gpu::DeviceLease>& held = session_->memory;
  if (std::ssize(held) >= parts) {
    held.resize(static_cast<size_t>(parts));
    return Status::Ok();
  }
  if (!held.empty())  // what describing the task left behind
    DAVINCI_RETURN_IF_ERROR(session_->oracle->Ask({{"op", "rest"}}).status());
  held.clear();
  // Not while holding the device: the holder of the memory may be waiting to be timed.
  share_.Release();
  const std::string purpose = "memory for " + job_.candidate_path;
  auto memory = AcquireMemory(context_.leases, DeviceKey(), parts, purpose, false);
  const Stopwatch waiting;
  if (memory.status().code() == StatusCode::kDeadlineExceeded) {
    // No memory is held while the candidate is compiled, or for one that does not compile.
    if (Loaded().failure) return Cancelled("the candidate did not load");
    context_.sessions->BeginMemoryWait();
    memory = AcquireMemory(context_.leases, DeviceKey(), parts, purpose);
    context_.sessions->EndMemoryWait();
  }
  DAVINCI_RETURN_IF_ERROR(memory.status());
  held = std::move(*memory);
  json& waited = evaluation_.times["waited_for_memory_ms"];
  waited = (waited.is_number() ? waited.get<double>() : 0.0) + 1e3 * waiting.Seconds();
  return ShareDevice();
}

Result<const VariantFacts*> Examination::Facts(int variant) {
  auto& slot = session_->facts[static_cast<size_t>(variant)];
  if (!slot) {
    const double patience = Oracle::DescribeSeconds(protocol_.call_timeout_seconds);
    DAVINCI_ASSIGN_OR_RETURN(slot,
                             session_->oracle->Describe(variant, secret_.Next() >> 1, patience));
  }
  return &*slot;
}

Result<bool> Examination::LoadCandidate() {
  const Answer& loaded = Loaded();
  if (loaded.failure) return Verdict(*loaded.failure);
  const double longest =
      Runner::LongestWait(protocol_.load_timeout_seconds) + protocol_.compile_timeout_seconds;
  if (const auto said = Plausible(NumberIn(loaded.ok, "seconds", 0), longest, "times.import_ms"))
    evaluation_.times["import_ms"] = 1e3 * *said;
  if (!session_) {  // all were busy when we came
    DAVINCI_RETURN_IF_ERROR(TakeSession(context_.sessions->Claim(SessionKey(), HostKey())));
    if (!session_->ready) {
      DAVINCI_RETURN_IF_ERROR(BeginReference());
      DAVINCI_RETURN_IF_ERROR(FinishReference());
    }
  }
  evaluation_.times["session_uses"] = session_->uses;
  if (session_->tasks > 0) evaluation_.times["session_tasks"] = session_->tasks;
  DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&candidate_, 0));
  if (failure) return Verdict(*failure);
  return true;
}

Result<std::optional<Failure>> Examination::BindVariant(Timed* timed, int variant) {
  using Maybe = std::optional<Failure>;
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(variant));
  DAVINCI_RETURN_IF_ERROR(FitOutputs(*facts));
  Runner& runner = *timed->runner;
  auto ask = [&](const json& message, std::span<const int> fds = {}) {
    return runner.frozen()
               ? runner.AskFrozen(message, protocol_.load_timeout_seconds, fds)
               : runner.Ask(message, protocol_.load_timeout_seconds, Outcome::kLoadError, fds);
  };
  json construct = {{"op", "construct"},
                    {"variant", variant},
                    {"init", facts->init},
                    {"seed", session_->init_seed},
                    {"mode", facts->mode}};
  // Where a process's tensors lie decides some per cent of its calls: another place in each.
  if (job_.target == Target::kCpu) construct["padding"] = secret_.Below(kMostPadding) / 64 * 64;
  if (protocol_.published) construct["cast"] = config::PrecisionName(task_.config.precision);
  if (timed == &session_->baseline && IsCompiled(job_.baseline))
    construct["compile"] =
        job_.baseline == "compile" ? "default" : job_.baseline.substr(sizeof "compile-" - 1);
  if (Answer built = ask(construct); built.failure) return Maybe(built.failure);

  // A module without state (functional tasks) has nothing to copy.
  const auto& state = facts->raw.at("state");
  if (!state.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(auto exported,
                             session_->oracle->Ask({{"op", "state"}, {"variant", variant}}));
    json message = exported.ok;
    message["op"] = "state";
    message["variant"] = variant;
    std::vector<int> fds;
    for (const UniqueFd& fd : exported.fds) fds.push_back(fd.get());
    Answer copied = ask(message, fds);
    if (timed == &candidate_ && !copied.failure && TextIn(copied.ok, "matched") == "reseeded") {
      DAVINCI_ASSIGN_OR_RETURN(const bool fewer, MarkUnread(variant, &message));
      if (fewer) copied = ask(message, fds);
    }
    if (copied.failure) return Maybe(copied.failure);
    const std::string matched = TextIn(copied.ok, "matched");
    if (timed == &candidate_) KeepHandover(variant, copied.ok, state.size());
    if (matched != "names" && matched != "values" && matched != "shapes" && matched != "reseeded") {
      return Maybe(
          Broken(Rule::kControlChannel, "the candidate tampered with how weights are handed over"));
    }
    if (timed == &candidate_ && matched == "reseeded") {
      // Documented fallback: both sides keep the weights drawn from the same seed, which then
      // cannot be randomised.
      if (variant == 0) {
        evaluation_.AddLabel(Label::kWeightsReseeded);
        session_->spoilt = true;
        DAVINCI_RETURN_IF_ERROR(session_->oracle->Ask({{"op", "unrandomise"}}).status());
        DAVINCI_RETURN_IF_ERROR(BindVariant(&session_->baseline, 0).status());
      }
    } else if (timed == &candidate_) {
      evaluation_.provenance["weights"] = matched;
    }
  }

  DAVINCI_ASSIGN_OR_RETURN(auto arena, session_->oracle->Ask({{"op", "arena"},
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
  if (job_.target == Target::kCpu) {
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, Lock());
    if (!go_on) return false;
  }
  if (auto failure = candidate_.runner->StartCalls()) return Verdict(*failure);
  return true;
}

Result<bool> Examination::LockLate() {
  return job_.target == Target::kCpu ? Result<bool>(true) : Lock();
}

Result<bool> Examination::Lock() {
  Runner& runner = *candidate_.runner;
  // A process that serves others compiles for them, too: helpers are then looked for after each
  // call.
  if (!context_.options.unsafe_no_sandbox && !SharesProcess()) {
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
  const auto others = candidate_.runner->process().OtherProcesses();
  if (others.empty()) return std::nullopt;
  return Broken(Rule::kHelperProcess,
                fmt::format("the candidate left {} process(es) running; helper processes are not "
                            "allowed when calls are timed",
                            others.size()));
}

std::string Examination::DeviceKey() const {
  return job_.target == Target::kCpu ? "cpu" : context_.device;
}

double Examination::CallTimeout() const {
  // The first calls on cuda include Triton's compilation and tuning.
  const double least = protocol_.call_timeout_seconds * (job_.target == Target::kCuda ? 3 : 1);
  return std::max(least, protocol_.call_timeout_factor * baseline_seconds_);
}

bool Examination::BaselineCompiles() const {
  const auto& facts = session_->facts[0];
  return IsCompiled(job_.baseline) || (facts && facts->raw.value("compiles", false));
}

}  // namespace davinci::judge
