#include "davinci/judge/inspect/check_export.h"

#include <string>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/roles/runner_pool.h"
#include "davinci/judge/roles/runner_replies.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/reference.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr size_t kMaxReasonBytes = 600;
constexpr double kEndOfProcessSeconds = 5;

// Why a call of the export does not run the kernel; empty where it does.
std::string WhyReference(const Answer& answer) {
  return answer.failure ? answer.failure->message
                        : answer.ok.get<from_runner::CalledExport>().why_reference;
}

}  // namespace

// A process of its own holds guard, kernel and reference, and sees what the reference may read: the
// verdict stands, so there is nothing left to win by it.
Status CheckExport(Trial& trial, Evaluation* evaluation) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  if (trial.job.target == Target::kCuda && trial.candidate.timed.runner) {  // for its memory
    trial.candidate.timed.runner->process().Kill();
    (void)trial.candidate.timed.runner->process().WaitForDeath(kEndOfProcessSeconds);
  }
  std::vector<std::string> visible(trial.candidate.imports.visible);
  for (const auto& file : ReferenceFiles(trial.task)) visible.push_back(file.string());
  DAVINCI_ASSIGN_OR_RETURN(
      PrewarmedRunner home,
      trial.context.runner_pool->Take(trial.job.target, false, trial.protocol.device_connections,
                                      visible, trial.candidate.imports.names));
  home.runner->process().SetMemoryLimit(MemoryBytes(trial.job, trial.protocol));
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(home.source_path(), trial.job.export_of(*evaluation), Durability::kFastest));
  if (auto failure = home.runner->link().AwaitReady(kReadyTimeoutSeconds))
    return Internal(failure->message);
  to_runner::CallExport request = {
      .path = home.source_path().string(),
      .task = trial.task.path,
      .source = trial.task.source,
      .globals = trial.task.config.Globals(TargetName(trial.job.target)),
      .imports = trial.candidate.imports,
      .package = trial.task.imports.package,
      .variants = trial.task.config.variants,
      .seed = trial.session->init_seed};
  if (trial.protocol.published) request.cast = trial.task.config.precision;
  const Answer answer = home.runner->link().Ask(
      request, trial.protocol.load_timeout_seconds + CallTimeout(trial), Outcome::kRuntimeError);
  const std::string why = WhyReference(answer);
  json& told = evaluation->evidence["export"];
  told = {{"runs_kernel", why.empty()}};
  if (!why.empty()) told["why"] = ElideMiddle(why, kMaxReasonBytes);
  return Status::Ok();
}

}  // namespace davinci::judge
