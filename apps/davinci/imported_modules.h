// Modules of users, traced by the judge's oracle and imported by the expert: what `coverage` and
// `synth demos --tasks` work on.
//
// Threads may call Import().
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

#include "commands.h"
#include "davinci/base/files.h"
#include "davinci/base/status.h"
#include "davinci/expert/expert.h"
#include "davinci/judge/judge.h"
#include "davinci/task/task.h"
#include "installation.h"
#include "task_from_file.h"

namespace davinci::app {

class ImportedModules {
 public:
  // The tasks of FILE…, folders and JSONL among them.
  static Result<std::unique_ptr<ImportedModules>> Open(const std::vector<std::string>& files,
                                                       const EntryFlags& entry,
                                                       const GlobalOptions& global);

  // Their files exist as long as this does.
  const std::vector<task::TaskEntry>& tasks() const { return tasks_; }
  const expert::Expert& expert() const { return expert_; }
  const Installation& installation() const { return installation_; }

  struct Module {
    bool broken = false;  // the reference fails: `status` says how
    Status status;        // why it is not imported
    std::shared_ptr<const task::Task> task;
    expert::ExpertTask imported;
    double trace_seconds = 0;
  };
  // At the target's sizes.
  Module Import(size_t index, Target target,
                expert::Expert::OwnSizes sizes = expert::Expert::OwnSizes::kNumbers) const;
  // Gives what prompts show of the module (Expert::Steps).
  Result<teacher::Steps> StepsOf(size_t index, Target target) const;

 private:
  // Traces side by side may need more memory than the device has: such a one is made again, alone.
  Result<nlohmann::json> Trace(const std::shared_ptr<const task::Task>& task, Target target) const;

  ImportedModules(Installation installation, expert::Expert expert)
      : installation_(std::move(installation)), expert_(std::move(expert)) {}

  const Installation installation_;
  const expert::Expert expert_;
  TempDir folder_;
  std::vector<task::TaskEntry> tasks_;
  std::unique_ptr<judge::Judge> judge_;
  mutable std::shared_mutex traces_;
};

// The kind of work that gives most elements: what a user's module is counted under.
std::string FamilyOf(const synth::Graph& graph, const std::vector<std::string>& kinds);

// `work(i)` for each task, on all cores; says on a terminal how far it is.
void ForEachModule(const ImportedModules& modules, const std::function<void(size_t)>& work);

}  // namespace davinci::app
