#include "imported_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"
#include "davinci/base/progress_line.h"

namespace davinci::app {

Result<std::unique_ptr<ImportedModules>> ImportedModules::Open(
    const std::vector<std::string>& files, const EntryFlags& entry, const GlobalOptions& global) {
  DAVINCI_ASSIGN_OR_RETURN(Installation installation, FindInstallation(global.python));
  DAVINCI_ASSIGN_OR_RETURN(auto expert, expert::Expert::Load(installation.home / "synth"));
  std::unique_ptr<ImportedModules> modules(
      new ImportedModules(std::move(installation), std::move(expert)));
  DAVINCI_ASSIGN_OR_RETURN(modules->tasks_, TasksFrom(files, entry));
  DAVINCI_ASSIGN_OR_RETURN(modules->folder_, MakeTempDir("davinci-modules"));
  DAVINCI_RETURN_IF_ERROR(task::WriteTaskFiles(modules->folder_.path(), &modules->tasks_));
  judge::JudgeOptions options = MakeJudgeOptions(modules->installation_);
  options.start_when_needed = true;  // all traces may be kept ones
  DAVINCI_ASSIGN_OR_RETURN(modules->judge_, judge::Judge::Create(options));
  return modules;
}

Result<nlohmann::json> ImportedModules::Trace(const std::shared_ptr<const task::Task>& task,
                                              Target target) const {
  Result<nlohmann::json> traced = [&] {
    const std::shared_lock among_others(traces_);
    return judge_->Trace(task, target);
  }();
  if (traced.ok() || traced.status().message().find("out of memory") == std::string::npos)
    return traced;
  const std::unique_lock alone(traces_);
  judge_->LetGo();
  return judge_->Trace(task, target);
}

ImportedModules::Module ImportedModules::Import(size_t index, Target target,
                                                expert::Expert::OwnSizes sizes) const {
  Module module;
  const auto fail = [&](const Status& status, bool broken) {
    module.status = status;
    module.broken = broken;
    return std::move(module);
  };
  auto task = task::ReadTask(tasks_[index].path.string());
  if (!task.ok()) return fail(task.status(), true);
  module.task = std::move(task).value();
  const Stopwatch watch;
  const auto traced = Trace(module.task, target);
  if (!traced.ok()) return fail(traced.status(), true);
  module.trace_seconds = watch.Seconds();
  auto imported = expert_.Import(*traced, *module.task, sizes);
  if (!imported.ok()) return fail(imported.status(), false);
  module.imported = std::move(imported).value();
  return module;
}

Result<teacher::Steps> ImportedModules::StepsOf(size_t index, Target target) const {
  DAVINCI_ASSIGN_OR_RETURN(const auto task, task::ReadTask(tasks_[index].path.string()));
  DAVINCI_ASSIGN_OR_RETURN(const auto traced, Trace(task, target));
  return expert_.StepsOf(traced, *task);
}

std::string FamilyOf(const synth::Graph& graph, const std::vector<std::string>& kinds) {
  std::map<std::string, double> elements;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const std::string& kind = kinds[i];
    if (kind == "view" || kind == "shape" || kind == "other") continue;
    for (const auto output : graph.nodes[i].outputs) {
      double all = 1;
      for (const auto dim : graph.values[static_cast<size_t>(output)].shape)
        all *= static_cast<double>(graph.dims.At(dim, synth::Binding::kCuda));
      elements[kind] += all;
    }
  }
  const auto most =
      std::max_element(elements.begin(), elements.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == elements.end() ? "other" : most->first;
}

void ForEachModule(const ImportedModules& modules, const std::function<void(size_t)>& work) {
  const size_t count = modules.tasks().size();
  std::atomic<size_t> next = 0;
  Mutex mutex;  // guards the line
  ProgressLine progress;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      work(i);
      const MutexLock lock(mutex);
      progress.Show(fmt::format("{} of {}: {}", i + 1, count, modules.tasks()[i].id));
    }
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;  // joined before the line ends
  for (size_t i = 0; i < std::min(cores, count); ++i) threads.emplace_back(run);
}

}  // namespace davinci::app
