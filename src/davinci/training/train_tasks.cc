#include "davinci/training/train_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "davinci/runs/task_inputs.h"

namespace davinci::training {
namespace {

namespace fs = std::filesystem;

std::string KindName(const TaskKind& kind) {
  return fmt::format("{}/{}", TargetName(kind.target), LanguageName(kind.language));
}

std::string SplitName(const std::string& path) {
  fs::path named = fs::path(path).lexically_normal();
  if (!named.has_filename()) named = named.parent_path();
  return named.extension() == ".py" ? "files" : named.stem().string();
}

// The id without its kind.
std::string PlainId(const TrainTask& task) {
  const std::string kind = fmt::format(" [{}]", KindName(task.kind));
  const std::string& id = task.entry.id;
  return id.ends_with(kind) ? id.substr(0, id.size() - kind.size()) : id;
}

}  // namespace

std::string LeftOutText(const LeftOut& left_out, size_t num_tasks) {
  if (left_out.empty()) return "";
  std::string names;
  for (const auto& [task, reason] : left_out) names += (names.empty() ? "" : ", ") + task;
  return fmt::format("{} of {} tasks are left out, because the judge refuses them: {}",
                     left_out.size(), num_tasks, names);
}

Result<TaskSetName> ParseTaskSet(const std::string& entry, const TaskKind& usual) {
  const size_t colon = entry.find(':');
  const size_t slash = entry.find('/');
  if (colon == std::string::npos || slash > colon) return TaskSetName{entry, usual};
  const auto target = ParseTarget(entry.substr(0, slash));
  if (!target) return TaskSetName{entry, usual};
  const std::string name = entry.substr(slash + 1, colon - slash - 1);
  const auto language = ParseLanguage(name);
  if (!language || *language == Language::kAuto || *language == Language::kPython)
    return InvalidArgument(fmt::format(
        "\"{}\": \"{}\" is no language of kernels; known: triton, cuda, cuda-inline, cpp", entry,
        name));
  return TaskSetName{entry.substr(colon + 1), {*target, *language}};
}

Result<std::vector<TrainTask>> LoadTrainTasks(const std::vector<std::string>& sets,
                                              const rollout::StepSettings& settings) {
  const TaskKind usual{settings.target, settings.language};
  std::vector<TaskSetName> named;
  std::vector<TaskKind> kinds;
  for (const std::string& set : sets) {
    DAVINCI_ASSIGN_OR_RETURN(named.emplace_back(), ParseTaskSet(set, usual));
    if (std::ranges::find(kinds, named.back().kind) == kinds.end())
      kinds.push_back(named.back().kind);
  }
  std::vector<TrainTask> tasks;
  for (const TaskKind& kind : kinds) {
    std::vector<std::string> paths;
    for (const TaskSetName& set : named)
      if (set.kind == kind) paths.push_back(set.path);
    std::vector<size_t> set_of;
    DAVINCI_ASSIGN_OR_RETURN(auto entries, runs::LoadTasks(paths, {}, &set_of));
    for (size_t i = 0; i < entries.size(); ++i) {
      TrainTask task{std::move(entries[i]), kind, SplitName(paths[set_of[i]])};
      if (kind != usual) {
        const std::string suffix = fmt::format(" [{}]", KindName(kind));
        task.entry.id += suffix;
        task.split += fmt::format(" [{} {}]", TargetName(kind.target), LanguageName(kind.language));
      }
      tasks.push_back(std::move(task));
    }
  }
  return tasks;
}

Result<std::vector<rollout::TaskInput>> InputsOf(const std::vector<TrainTask>& tasks,
                                                 const rollout::StepSettings& settings) {
  std::vector<rollout::TaskInput> inputs;
  std::string problems;
  for (const TrainTask& task : tasks) {
    rollout::StepSettings own = settings;
    own.target = task.kind.target;
    own.language = task.kind.language;
    auto made = runs::MakeTaskInputs({task.entry}, own);
    if (made.ok())
      std::ranges::move(*made, std::back_inserter(inputs));
    else
      problems += (problems.empty() ? "" : "\n") + made.status().message();
  }
  if (!problems.empty()) return InvalidArgument(problems);
  return inputs;
}

Status CheckDisjoint(const std::vector<TrainTask>& trained,
                     const std::vector<TrainTask>& held_out) {
  std::set<std::string> ids;
  for (const TrainTask& task : trained) ids.insert(PlainId(task));
  for (const TrainTask& task : held_out)
    if (ids.contains(PlainId(task)))
      return InvalidArgument(fmt::format(
          "the task {} stands in train.tasks and in train.held_out; leave it out of one",
          PlainId(task)));
  return Status::Ok();
}

}  // namespace davinci::training
