#include "davinci/judge/trial/reference.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/reference_memory.h"
#include "davinci/judge/trial/task_admission.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Bytes of inputs, weights and outputs without a device: the most that is drawn (the oracle holds
// some tens of times as much, in float64).
constexpr int64_t kMostBytes = int64_t{128} << 20;
// Truth takes the reference some tens of times, in float64.
constexpr double kForwardSeconds = 5;

std::string ReferenceEntry(const task::Task& task) {
  if (!task.config.function.empty()) return "";
  return task.config.entry.empty() ? "Model" : task.config.entry;
}

void CompileOnlySpec(const Trial& trial, to_oracle::Load* load) {
  load->call_seconds = std::min(kForwardSeconds, CallTimeout(trial));
  load->compile_only = {.memory = MemoryBytes(trial.job, trial.protocol),
                        .own = trial.job.compile_only_try == 0,
                        .most = kMostBytes,
                        .to = kShrinkTo[trial.job.compile_only_try]};
}

}  // namespace

// The reference is loaded by both of its roles at once, and while a candidate starts.
Status BeginReference(Trial& trial) {
  DAVINCI_RETURN_IF_ERROR(trial.session->oracle->AwaitReady(kReadyTimeoutSeconds));
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_RETURN_IF_ERROR(trial.session->oracle->Post(ReferenceSpec(trial)));
  Runner& baseline = *trial.session->baseline.runner;
  baseline.process().SetMemoryLimit(MemoryBytes(trial.job, trial.protocol));
  if (auto failure = baseline.link().AwaitReady(kReadyTimeoutSeconds))
    return Internal(failure->message);
  if (!trial.job.compile_only)
    LoadBaseline(trial.job, trial.session.get());  // there the oracle says first at which sizes
  return Status::Ok();
}

void LoadBaseline(const Job& job, Session* session) {
  const task::Task& task = *job.task;
  const config::TaskConfig& c = task.config;
  json globals = c.Globals(TargetName(job.target));
  if (const json* shrunk = ShrunkSizes(session)) globals.update(shrunk->at("set"));
  session->baseline.runner->link().Post(to_runner::LoadReference{.path = task.path,
                                                                 .source = task.source,
                                                                 .entry = ReferenceEntry(task),
                                                                 .function = c.function,
                                                                 .op_path = c.op,
                                                                 .globals = std::move(globals),
                                                                 .imports = task.imports});
}

std::vector<std::filesystem::path> ReferenceFiles(const task::Task& task) {
  std::vector<std::filesystem::path> files(task.imports.visible.begin(),
                                           task.imports.visible.end());
  files.insert(files.end(), task.data.begin(), task.data.end());
  return files;
}

to_oracle::Load ReferenceSpec(Trial& trial) {
  const config::TaskConfig& c = trial.task.config;
  to_oracle::Load load = {
      .path = trial.task.path,
      .source = trial.task.source,
      .entry = ReferenceEntry(trial.task),
      .function = c.function,
      .op_path = c.op,
      .globals = c.Globals(TargetName(trial.job.sizes_of.value_or(trial.job.target))),
      .variants = c.variants,
      .init_seed = trial.session->init_seed,
      .state_seed = trial.session->secret.Next() >> 1,
      .randomise = !trial.protocol.published,
      .alone = IsAlone(trial),
      .call_seconds = CallTimeout(trial),
      .imports = trial.task.imports,
      .precision = c.precision,
      .inplace = c.inplace,
      .mode = c.mode,
      .tolerance_multiple = c.tolerance_multiple,
      .inputs = c.inputs,
      .specification = trial.job.specification};
  if (trial.context.facts != nullptr)
    if (const auto found =
            trial.context.facts->Get("domain", AdmissionKey(trial.context, trial.job));
        found.ok() && *found)
      load.domain_on_host = true;
  if (trial.job.compile_only) CompileOnlySpec(trial, &load);
  if (trial.protocol.staged) load.window_calls = trial.protocol.window_calls;
  trial.session->window_calls = load.window_calls;
  if (trial.protocol.published)
    load.published_tolerance = PublishedTolerance(c.precision).value_or(0);
  return load;
}

Status FinishReference(Trial& trial) {
  Runner& baseline = *trial.session->baseline.runner;
  DAVINCI_ASSIGN_OR_RETURN(
      auto loaded_reference,
      trial.session->oracle->Await(to_oracle::Load::kOp, trial.protocol.load_timeout_seconds));
  trial.session->fitted = std::move(loaded_reference.ok);
  if (trial.job.compile_only) LoadBaseline(trial.job, trial.session.get());
  const bool device = trial.job.target == Target::kCuda && !trial.job.compile_only;
  if (device) DAVINCI_RETURN_IF_ERROR(ReserveDeviceMemory(trial));
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, FactsOf(trial, 0));
  if (device) DAVINCI_RETURN_IF_ERROR(FitDeviceMemory(trial, *facts));
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_ASSIGN_OR_RETURN(
      const auto mutates,
      trial.session->oracle->Ask(to_oracle::Mutates{trial.session->secret.Next() >> 1}));
  const auto [changes, hides] = mutates.ok.get<from_oracle::Mutates>();
  trial.session->reference_mutates = changes;
  trial.session->reference_hides_changes = hides;
  Answer loaded = baseline.link().Await(trial.protocol.load_timeout_seconds, Outcome::kLoadError);
  if (loaded.failure) return ReferenceFailure(trial.job, *loaded.failure);
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(trial, &trial.session->baseline, 0));
  if (failure) return ReferenceFailure(trial.job, *failure);
  if (auto stopped = baseline.StartCalls()) return Internal(stopped->message);
  trial.session->ready = true;
  trial.device.share.Release();
  return Status::Ok();
}

}  // namespace davinci::judge
