#include "davinci/runs/generations.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/data/rollout.h"

namespace davinci::runs {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxSourceBytes = 4 << 20;

struct KernelBenchName {
  int level = 0;
  int problem = 0;
  int sample = 0;
};

// Takes `before` and a number off the front of `*text`; false when they are not there, or the
// number does not fit an int.
bool TakeNumber(std::string_view before, std::string_view* text, int* number) {
  if (!text->starts_with(before)) return false;
  text->remove_prefix(before.size());
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return error == std::errc();
}

std::optional<KernelBenchName> ParseKernelBenchName(std::string_view name) {
  KernelBenchName parsed;
  if (!TakeNumber("level_", &name, &parsed.level) ||
      !TakeNumber("_problem_", &name, &parsed.problem) ||
      !TakeNumber("_sample_", &name, &parsed.sample) || name != "_kernel.py")
    return std::nullopt;
  return parsed;
}

// The task whose id is `name`, or ends in "/name"; null when none or several do.
const task::TaskEntry* TaskNamed(const std::vector<task::TaskEntry>& tasks,
                                 const std::string& name) {
  const task::TaskEntry* found = nullptr;
  for (const task::TaskEntry& task : tasks) {
    if (task.id == name) return &task;
    if (!task.id.ends_with("/" + name)) continue;
    if (found != nullptr) return nullptr;
    found = &task;
  }
  return found;
}

// A file's place: task and an order within it; a task's samples are numbered by it.
struct Place {
  const task::TaskEntry* task = nullptr;
  std::pair<int, std::string> order;
};

Place PlaceOf(const fs::path& relative, const std::vector<task::TaskEntry>& tasks) {
  const std::string name = relative.filename().string();
  if (const auto parsed = ParseKernelBenchName(name)) {
    for (const task::TaskEntry& task : tasks)
      if (task.level == parsed->level && task.problem == parsed->problem)
        return {&task, {parsed->sample, ""}};
    return {};
  }
  const std::string whole = (relative.parent_path() / relative.stem()).generic_string();
  if (const task::TaskEntry* task = TaskNamed(tasks, whole)) return {task, {0, ""}};
  if (!relative.has_parent_path()) return {};
  const task::TaskEntry* task = TaskNamed(tasks, relative.parent_path().generic_string());
  return {task, {0, name}};
}

// Longer than any run of backticks in the text, so that the text cannot end its own block.
std::string Fenced(const std::string& source) {
  size_t longest = 2;
  size_t run = 0;
  for (const char c : source) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  return fmt::format("{}python\n{}{}{}\n", fence, source, source.ends_with('\n') ? "" : "\n",
                     fence);
}

class Backbone : public llm::Backbone {
 public:
  explicit Backbone(Generations generations) : generations_(std::move(generations)) {}

  Result<llm::Reply> Generate(const llm::Request& request, const CancelToken&) override {
    DAVINCI_ASSIGN_OR_RETURN(const TurnId turn, ParseTurnId(request.label));
    const auto found = generations_.samples.find(turn.rollout.task);
    const auto sample = static_cast<size_t>(turn.rollout.rollout);
    if (found == generations_.samples.end() || sample >= found->second.size() || turn.turn != 1)
      return NotFound(fmt::format("there is no generation for {}", request.label));
    llm::Reply reply;
    reply.text = Fenced(found->second[sample]);
    reply.finish_reason = llm::FinishReason::kStop;
    reply.model = "generations";
    return reply;
  }
  std::string Name() const override { return "generations:" + generations_.digest.substr(0, 12); }

 private:
  const Generations generations_;
};

}  // namespace

Result<Generations> ReadGenerations(const fs::path& folder,
                                    const std::vector<task::TaskEntry>& tasks) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return NotFound(fmt::format("{}: no such folder of generations", folder.string()));
  std::map<std::string, std::map<std::pair<int, std::string>, fs::path>> files;
  Generations generations;
  std::vector<fs::path> all;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    if (entry->path().extension() == ".py") all.push_back(entry->path());
  if (error) return FromErrno(error.value(), fmt::format("reading {}", folder.string()));
  std::sort(all.begin(), all.end());
  for (const fs::path& file : all) {
    const Place place = PlaceOf(file.lexically_relative(folder), tasks);
    if (place.task == nullptr) {
      generations.unmatched.push_back(file.string());
      continue;
    }
    const auto [at, fresh] = files[place.task->id].try_emplace(place.order, file);
    if (!fresh)
      return InvalidArgument(fmt::format("{} and {} are both sample {} of {}", at->second.string(),
                                         file.string(), place.order.first, place.task->id));
  }
  if (files.empty())
    return InvalidArgument(fmt::format(
        "{}: none of {} .py files fits a task; files are level_L_problem_P_sample_S_kernel.py, "
        "ID.py or ID/NAME.py",
        folder.string(), all.size()));
  Sha256 digest;
  for (const auto& [task, samples] : files) {
    for (const auto& [order, file] : samples) {
      DAVINCI_ASSIGN_OR_RETURN(std::string text, ReadFile(file, kMaxSourceBytes));
      digest.Field(task).Field(text);
      generations.samples[task].push_back(std::move(text));
    }
  }
  generations.digest = digest.FinishHex();
  return generations;
}

std::unique_ptr<llm::Backbone> GenerationsBackbone(Generations generations) {
  return std::make_unique<Backbone>(std::move(generations));
}

}  // namespace davinci::runs
