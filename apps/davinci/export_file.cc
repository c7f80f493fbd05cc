#include "export_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/orchestrator/export_kernel.h"
#include "davinci/task/task.h"

namespace davinci::app {

Status WriteExport(const judge::EvaluationRequest& request, const std::string& candidate,
                   const Evaluation& evaluation, const Installation& installation,
                   const std::filesystem::path& file) {
  if (evaluation.outcome != Outcome::kOk) return Status::Ok();
  const std::filesystem::path runtime = installation.home / "python" / "davinci_runtime";
  orchestrator::ExportParts parts;
  DAVINCI_ASSIGN_OR_RETURN(parts.runtime_source, ReadFile(runtime / "__init__.py"));
  DAVINCI_ASSIGN_OR_RETURN(parts.guard_source, ReadFile(runtime / "guard.py"));
  DAVINCI_ASSIGN_OR_RETURN(parts.harness_source, ReadFile(runtime / "harness.py"));
  parts.reference_source = request.task->source;
  std::vector<std::string> remarks = {fmt::format(
      "{} for {}, verified by davinci judge. Runs in plain PyTorch; davinci is not needed.",
      candidate, std::filesystem::path(request.task->path).filename().string())};
  if (file.has_parent_path()) DAVINCI_RETURN_IF_ERROR(MakeDirs(file.parent_path()));
  return WriteFileAtomic(
      file, orchestrator::ExportSource(request.candidate, request.task->config, request.target,
                                       evaluation, parts, std::move(remarks)));
}

}  // namespace davinci::app
