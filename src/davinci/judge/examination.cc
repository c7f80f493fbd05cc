#include "davinci/judge/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "davinci/judge/sandbox_policies.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr double kReadyTimeoutSeconds = 60;
constexpr double kLockTimeoutSeconds = 10;
constexpr int64_t kOfflineBytes = int64_t{4} << 30;

}  // namespace

Examination::Examination(const Workshop& workshop, const Job& job, const Task& task,
                         const Protocol& protocol, const Progress& progress)
    : workshop_(workshop), job_(job), task_(task), protocol_(protocol), progress_(progress) {
  candidate_.name = "candidate";
  candidate_.side = Side::kCandidate;
  baseline_.name = "baseline";
  baseline_.side = Side::kBaseline;
  facts_.resize(1 + task.config.variants.size());
  init_seed_ = protocol.published ? kPublishedSeed : secret_.Next() >> 1;
}

void Examination::Stage(std::string_view name) {
  const double now = watch_.Seconds();
  if (!stage_.empty()) stage_seconds_[stage_] = now - stage_started_;
  stage_ = std::string(name);
  stage_started_ = now;
  if (progress_ && !name.empty()) progress_(name);
}

Result<Evaluation> Examination::Run() {
  using Step = Result<bool> (Examination::*)();
  struct Named {
    const char* name;
    Step step;
  };
  // From StartRoles on the three processes exist; from LockEarly on the candidate is frozen except
  // inside calls; before MeasureTime it can no longer start processes; after CheckCorrectness
  // `correct` never changes from false to true; after MeasureTime nothing is timed any more.
  constexpr Named kSteps[] = {
      {"starting", &Examination::StartRoles},       {"loading", &Examination::LoadReference},
      {"building", &Examination::LoadCandidate},    {"locking", &Examination::LockEarly},
      {"checking", &Examination::CheckCorrectness}, {"locking", &Examination::LockLate},
      {"timing", &Examination::MeasureTime},        {"weighing", &Examination::Weigh},
  };
  for (const Named& named : kSteps) {
    Stage(named.name);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, (this->*named.step)());
    if (!go_on) break;
  }
  Stage("concluding");
  CollectEvidence();
  Stage("");
  return Conclude();
}

Result<bool> Examination::Verdict(Failure failure) {
  if (failure.outcome == Outcome::kJudgeError) return Internal(failure.message);
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

Result<std::unique_ptr<Runner>> Examination::Spawn(const std::string& role,
                                                   const std::string& scratch, bool trusted) {
  worker::SpawnRequest request;
  request.role = role;
  request.target = TargetName(job_.target);
  request.threads = workshop_.threads;
  request.scratch = scratch;
  request.policy = trusted
                       ? RolePolicy(workshop_, job_.target, "baseline", scratch, {task_.path}, true)
                       : RolePolicy(workshop_, job_.target, "candidate", scratch,
                                    {work_.path() / "source"}, false);
  if (job_.without_device && !trusted) AllowPrograms(&request.policy);
  if (workshop_.options.unsafe_no_sandbox) request.policy = nullptr;
  request.env = RoleEnvironment(scratch);
  DAVINCI_ASSIGN_OR_RETURN(auto process, workshop_.server->Spawn(request));
  // Without a device shapes are small; whoever takes more takes it on purpose.
  process->SetMemoryLimit(job_.without_device ? std::min(protocol_.memory_bytes, kOfflineBytes)
                                              : protocol_.memory_bytes);
  CompileLimits compiling;
  compiling.seconds = protocol_.compile_timeout_seconds;
  return std::make_unique<Runner>(std::move(process), workshop_.build, compiling);
}

Status Examination::StartOracle() {
  worker::SpawnRequest request;
  request.role = "oracle";
  request.target = TargetName(job_.target);
  request.threads = workshop_.threads;
  request.scratch = (work_.path() / "oracle").string();
  request.policy =
      RolePolicy(workshop_, job_.target, "oracle", request.scratch, {task_.path}, true);
  if (workshop_.options.unsafe_no_sandbox) request.policy = nullptr;
  request.env = RoleEnvironment(request.scratch);
  DAVINCI_ASSIGN_OR_RETURN(auto oracle, workshop_.server->Spawn(request));
  oracle_ = std::make_unique<Oracle>(std::move(oracle));
  return Status::Ok();
}

Result<bool> Examination::StartRoles() {
  DAVINCI_ASSIGN_OR_RETURN(work_, MakeTempDir("davinci-judge"));
  for (const char* folder : {"oracle", "baseline", "candidate", "source"})
    DAVINCI_RETURN_IF_ERROR(MakeDirs(work_.path() / folder));
  DAVINCI_RETURN_IF_ERROR(StartOracle());

  DAVINCI_ASSIGN_OR_RETURN(std::string source, ReadFile(job_.candidate_path, 1u << 20));
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(work_.path() / "source" / "candidate.py", source, Durability::kFastest));
  DAVINCI_ASSIGN_OR_RETURN(candidate_.runner,
                           Spawn("runner", (work_.path() / "candidate").string(), false));
  DAVINCI_ASSIGN_OR_RETURN(baseline_.runner,
                           Spawn("runner", (work_.path() / "baseline").string(), true));
  DAVINCI_RETURN_IF_ERROR(oracle_->AwaitReady(kReadyTimeoutSeconds));
  for (Timed* timed : {&candidate_, &baseline_})
    if (auto failure = timed->runner->AwaitReady(kReadyTimeoutSeconds)) return Verdict(*failure);
  return true;
}

json Examination::ReferenceSpec() {
  const config::TaskConfig& c = task_.config;
  json load = {{"op", "load"},
               {"path", task_.path},
               {"entry", c.entry.empty() ? "Model" : c.entry},
               {"function", c.function},
               {"globals", c.Globals(TargetName(job_.target))},
               {"variants", c.variants},
               {"init_seed", init_seed_},
               {"state_seed", secret_.Next() >> 1},
               {"randomise", !protocol_.published},
               {"precision", config::PrecisionName(c.precision)}};
  if (!c.op.empty()) load["op_path"] = c.op;
  if (c.mode != config::ModuleMode::kAsConstructed) load["mode"] = config::ModuleModeName(c.mode);
  if (c.tolerance_multiple) load["tolerance_multiple"] = *c.tolerance_multiple;
  if (protocol_.published)
    load["published_tolerance"] = PublishedTolerance(c.precision).value_or(0);
  return load;
}

Result<bool> Examination::LoadReference() {
  const config::TaskConfig& c = task_.config;
  // The candidate imports and compiles while the oracle works out what is right.
  candidate_.runner->Post({{"op", "load"},
                           {"path", (work_.path() / "source" / "candidate.py").string()},
                           {"entry", task_.candidate_entry},
                           {"function", task_.candidate_function},
                           {"module", "candidate"},
                           {"offline", job_.without_device ? OfflineOptions() : json()}});
  const json load = ReferenceSpec();
  baseline_.runner->Post({{"op", "load"},
                          {"path", task_.path},
                          {"entry", load["entry"]},
                          {"function", c.function},
                          {"op_path", c.op},
                          {"globals", load["globals"]},
                          {"module", "davinci_task"},
                          {"accelerate", false}});
  DAVINCI_RETURN_IF_ERROR(oracle_->Ask(load).status());
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(0));
  if (job_.target == Target::kCuda) DAVINCI_RETURN_IF_ERROR(ReserveDeviceMemory(*facts));
  DAVINCI_ASSIGN_OR_RETURN(auto mutates,
                           oracle_->Ask({{"op", "mutates"}, {"seed", secret_.Next() >> 1}}));
  reference_mutates_ = mutates.ok.value("mutates", false);
  DAVINCI_ASSIGN_OR_RETURN(arena_, OutputArena::Create(facts->outputs));
  const int fds[] = {arena_.fd()};
  return oracle_->Ask({{"op", "outputs"}, {"bytes", arena_.num_bytes()}}, fds).ok()
             ? Result<bool>(true)
             : Internal("sharing the output arena failed");
}

Status Examination::ReserveDeviceMemory(const VariantFacts& facts) {
  const json work = facts.raw.value("work", json::object());
  const int64_t footprint = EstimateFootprint(work.value("input_bytes", int64_t{0}),
                                              work.value("weight_bytes", int64_t{0}),
                                              work.value("output_bytes", int64_t{0}));
  Stopwatch waiting;
  DAVINCI_ASSIGN_OR_RETURN(
      memory_, AcquireMemory(workshop_.leases, DeviceKey(),
                             PartsFor(footprint, facts.raw.value("device_bytes", int64_t{0})),
                             "memory for " + job_.candidate_path));
  evaluation_.times["waited_for_memory_ms"] = 1e3 * waiting.Seconds();
  return Status::Ok();
}

Result<const VariantFacts*> Examination::Facts(int variant) {
  auto& slot = facts_[static_cast<size_t>(variant)];
  if (!slot) {
    DAVINCI_ASSIGN_OR_RETURN(slot, oracle_->Describe(variant, secret_.Next() >> 1));
  }
  return &*slot;
}

Result<bool> Examination::LoadCandidate() {
  Answer loaded = candidate_.runner->Await(protocol_.load_timeout_seconds, Outcome::kLoadError);
  if (loaded.failure) return Verdict(*loaded.failure);
  evaluation_.times["import_ms"] = 1e3 * loaded.ok.value("seconds", 0.0);
  Answer baseline = baseline_.runner->Await(protocol_.load_timeout_seconds, Outcome::kLoadError);
  if (baseline.failure)
    return InvalidArgument(fmt::format("{}: {}", task_.path, baseline.failure->message));
  for (Timed* timed : {&baseline_, &candidate_}) {
    DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(timed, 0));
    if (failure && timed == &candidate_) return Verdict(*failure);
    if (failure) return InvalidArgument(fmt::format("{}: {}", task_.path, failure->message));
  }
  return true;
}

Result<std::optional<Failure>> Examination::BindVariant(Timed* timed, int variant) {
  using Maybe = std::optional<Failure>;
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(variant));
  Runner& runner = *timed->runner;
  auto ask = [&](const json& message, std::span<const int> fds = {}) {
    return runner.frozen()
               ? runner.AskFrozen(message, protocol_.load_timeout_seconds, fds)
               : runner.Ask(message, protocol_.load_timeout_seconds, Outcome::kLoadError, fds);
  };
  json construct = {{"op", "construct"},
                    {"variant", variant},
                    {"init", facts->init},
                    {"seed", init_seed_},
                    {"mode", facts->mode}};
  if (protocol_.published) construct["cast"] = config::PrecisionName(task_.config.precision);
  if (timed == &baseline_ && job_.baseline.starts_with("compile"))
    construct["compile"] =
        job_.baseline == "compile" ? "default" : job_.baseline.substr(sizeof "compile-" - 1);
  if (Answer built = ask(construct); built.failure) return Maybe(built.failure);

  // A module without state (functional tasks) has nothing to copy.
  const auto& state = facts->raw.at("state");
  if (!state.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(auto exported, oracle_->Ask({{"op", "state"}, {"variant", variant}}));
    json message = exported.ok;
    message["op"] = "state";
    message["variant"] = variant;
    std::vector<int> fds;
    for (const UniqueFd& fd : exported.fds) fds.push_back(fd.get());
    Answer copied = ask(message, fds);
    if (copied.failure) return Maybe(copied.failure);
    if (timed == &candidate_ && copied.ok.value("matched", "") == "reseeded") {
      // Documented fallback: both sides keep the weights drawn from the same seed, which then
      // cannot be randomised.
      if (variant == 0) {
        evaluation_.AddLabel("weights: reseeded");
        DAVINCI_RETURN_IF_ERROR(oracle_->Ask({{"op", "unrandomise"}}).status());
        DAVINCI_RETURN_IF_ERROR(BindVariant(&baseline_, 0).status());
      }
    } else if (timed == &candidate_) {
      evaluation_.provenance["weights"] = copied.ok.value("matched", "");
    }
  }

  DAVINCI_ASSIGN_OR_RETURN(auto arena, oracle_->Ask({{"op", "arena"},
                                                     {"name", timed->name},
                                                     {"slot_bytes", facts->slot_bytes},
                                                     {"slots", facts->num_slots}}));
  json bind = {{"op", "bind"},
               {"variant", variant},
               {"inputs", facts->inputs},
               {"bytes", arena.ok.at("bytes")}};
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
  for (Timed* timed : {&candidate_, &baseline_})
    if (auto failure = timed->runner->StartCalls()) return Verdict(*failure);
  return true;
}

Result<bool> Examination::LockLate() {
  return job_.target == Target::kCpu ? Result<bool>(true) : Lock();
}

Result<bool> Examination::Lock() {
  Runner& runner = *candidate_.runner;
  if (!workshop_.options.unsafe_no_sandbox) {
    // The baseline needs no lock: it is the reference. The candidate's lock is verified from
    // outside.
    const int before = runner.process().NumSeccompFilters();
    Answer locked = runner.frozen()
                        ? runner.AskFrozen({{"op", "lock"}}, kLockTimeoutSeconds)
                        : runner.Ask({{"op", "lock"}}, kLockTimeoutSeconds, Outcome::kRuntimeError);
    if (locked.failure) return Verdict(*locked.failure);
    const int after = runner.process().NumSeccompFilters();
    if (before > 0 && after <= before) {
      Failure failure{
          Outcome::kPolicyViolation, "the candidate evaded the lock of its sandbox", {}};
      failure.evidence["rule"] = "sandbox_lock";
      return Verdict(std::move(failure));
    }
  }
  if (auto others = runner.process().OtherProcesses(); !others.empty()) {
    Failure failure{
        Outcome::kPolicyViolation,
        fmt::format("the candidate left {} process(es) running beside it; helper processes are not "
                    "allowed when calls are timed",
                    others.size()),
        {}};
    failure.evidence["rule"] = "helper_process";
    return Verdict(std::move(failure));
  }
  return true;
}

std::string Examination::DeviceKey() const { return job_.target == Target::kCpu ? "cpu" : "cuda0"; }

double Examination::CallTimeout() const {
  // The first calls on cuda include Triton's compilation and tuning.
  const double least = protocol_.call_timeout_seconds * (job_.target == Target::kCuda ? 3 : 1);
  return std::max(least, protocol_.call_timeout_factor * baseline_seconds_);
}

}  // namespace davinci::judge
