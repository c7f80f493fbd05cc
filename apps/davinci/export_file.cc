#include "export_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/runs/export_kernel.h"
#include "davinci/task/task.h"

namespace davinci::app {

namespace {

Result<runs::ExportParts> PartsOfExport(const task::Task& task, const Installation& installation) {
  const std::filesystem::path runtime = installation.home / "python" / "davinci_runtime";
  runs::ExportParts parts;
  DAVINCI_ASSIGN_OR_RETURN(parts.runtime_source, ReadFile(runtime / "__init__.py"));
  DAVINCI_ASSIGN_OR_RETURN(parts.guard_source, ReadFile(runtime / "guard.py"));
  DAVINCI_ASSIGN_OR_RETURN(parts.harness_source, ReadFile(runtime / "harness.py"));
  parts.reference_source = task.source;
  parts.package = task.imports.package;
  return parts;
}

}  // namespace

Status PrepareExport(const Installation& installation, judge::EvaluationRequest* request) {
  DAVINCI_ASSIGN_OR_RETURN(const runs::ExportParts parts,
                           PartsOfExport(*request->task, installation));
  request->export_of = [parts, task = request->task, source = request->candidate,
                        target = request->target](const Evaluation& verified) {
    return runs::ExportSource(source, task->config, target, verified, parts, {});
  };
  return Status::Ok();
}

Status WriteExport(const judge::EvaluationRequest& request, const std::string& candidate,
                   const Evaluation& evaluation, const Installation& installation,
                   const std::filesystem::path& file) {
  if (const std::string why = runs::WhyNotExported(evaluation); !why.empty()) {
    if (evaluation.outcome == Outcome::kOk || evaluation.outcome == Outcome::kCompileOnly)
      fmt::print(stderr, "davinci judge: {}: no export, because {}\n", candidate, why);
    return Status::Ok();
  }
  DAVINCI_ASSIGN_OR_RETURN(const runs::ExportParts parts,
                           PartsOfExport(*request.task, installation));
  const std::string name = std::filesystem::path(request.task->path).filename().string();
  std::vector<std::string> remarks = {fmt::format(
      "{} for {}, verified by davinci judge. Runs in plain PyTorch; davinci is not needed.",
      candidate, name)};
  if (file.has_parent_path()) DAVINCI_RETURN_IF_ERROR(MakeDirs(file.parent_path()));
  return WriteFileAtomic(
      file, runs::ExportSource(request.candidate, request.task->config, request.target, evaluation,
                               parts, std::move(remarks)));
}

}  // namespace davinci::app
