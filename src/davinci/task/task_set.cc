#include "davinci/task/task_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/number.h"
#include "davinci/base/suggest.h"
#include "davinci/task/task_rows.h"

namespace davinci::task {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxTaskFileBytes = 4u << 20;
constexpr uint64_t kMaxTableBytes = uint64_t{8} << 30;
constexpr size_t kMaxProblemsShown = 20;

// Collects what is wrong, so that a user sees all of it at once.
class Problems {
 public:
  void Add(std::string_view origin, std::string_view what) {
    if (++count_ <= kMaxProblemsShown) text_ += fmt::format("{}: {}\n", origin, what);
  }
  Status ToStatus() {
    if (count_ == 0) return Status::Ok();
    if (count_ > kMaxProblemsShown)
      text_ += fmt::format("… and {} more\n", count_ - kMaxProblemsShown);
    text_.pop_back();
    return InvalidArgument(text_);
  }

 private:
  size_t count_ = 0;
  std::string text_;
};

std::optional<int> LeadingNumber(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.front() == '-') return std::nullopt;
  return number;
}

std::optional<int> LevelOfFolder(std::string_view name) {
  constexpr std::string_view kPrefix = "level";
  if (!name.starts_with(kPrefix) || name.size() == kPrefix.size()) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const auto level = WholeNumber<int>(name);
  if (!level || *level < 0) return std::nullopt;
  return level;
}

// The number in the nearest folder named level<n>, from the file's up to `top`, that one included.
std::optional<int> LevelOfFile(const fs::path& file, const fs::path& top) {
  for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
    if (const auto level = LevelOfFolder(folder.filename().string())) return level;
    if (folder == top || folder == folder.parent_path()) return std::nullopt;
  }
}

// A task that lies in a file of its own. Reads it, so that a script which is no task is found now
// and not in the middle of a run.
Result<TaskEntry> ReadTaskFile(const fs::path& file, const fs::path& top) {
  TaskEntry task;
  task.path = file;
  task.origin = file.string();
  task.id = file.lexically_relative(top).replace_extension().generic_string();
  task.level = LevelOfFile(file, top);
  task.problem = LeadingNumber(file.filename().string());
  DAVINCI_ASSIGN_OR_RETURN(const std::string source, ReadFile(file, kMaxTaskFileBytes));
  std::error_code error;
  const bool has_sidecar = fs::exists(fs::path(file).replace_extension(".toml"), error);
  if (const Status missing = CheckTaskSource(source, has_sidecar ? "" : "Model"); !missing.ok())
    return InvalidArgument(missing.message() +
                           "; a task defines class Model(nn.Module) and get_inputs(). Start the "
                           "name of a file that is no task with '_'");
  return task;
}

Result<std::vector<TaskEntry>> ReadFolder(const fs::path& folder) {
  DAVINCI_ASSIGN_OR_RETURN(const auto files, ListFiles(folder, ".py", /*recursive=*/true));
  std::vector<TaskEntry> tasks;
  Problems problems;
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (name.front() == '_' || name.front() == '.') continue;
    auto task = ReadTaskFile(file, folder);
    if (task.ok()) {
      tasks.push_back(std::move(task).value());
    } else {
      problems.Add(file.string(), task.status().message());
    }
  }
  DAVINCI_RETURN_IF_ERROR(problems.ToStatus());
  if (tasks.empty())
    return InvalidArgument(fmt::format(
        "{}: no task in this folder or below it; a task is a .py file in KernelBench layout",
        folder.string()));
  return tasks;
}

Result<std::vector<TaskEntry>> ReadTable(const fs::path& path) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaxTableBytes));
  std::vector<TaskEntry> tasks;
  Problems problems;
  std::string_view rest = text;
  for (int number = 1; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const std::string origin = fmt::format("{}:{}", path.string(), number);
    auto task = ParseTaskRow(line, number, path.parent_path());
    std::error_code error;
    if (!task.ok()) {
      problems.Add(origin, task.status().message());
    } else if (!task->path.empty() && !fs::is_regular_file(task->path, error)) {
      problems.Add(origin, fmt::format("there is no file {}", task->path.string()));
    } else {
      task->origin = origin;
      tasks.push_back(std::move(task).value());
    }
  }
  DAVINCI_RETURN_IF_ERROR(problems.ToStatus());
  if (tasks.empty()) return InvalidArgument(fmt::format("{}: no task in it", path.string()));
  return tasks;
}

Result<std::vector<TaskEntry>> ReadAny(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status))
    return NotFound(fmt::format("{}: no such file or folder", path.string()));
  // Without a trailing slash, so that its own name may be "level1".
  const fs::path clean = path.has_filename() ? path : path.parent_path();
  if (fs::is_directory(status)) return ReadFolder(fs::absolute(clean).lexically_normal());
  const std::string extension = path.extension().string();
  if (extension == ".py") {
    const fs::path file = fs::absolute(path).lexically_normal();
    auto task = ReadTaskFile(file, file.parent_path());
    if (!task.ok()) return task.status().Annotate(path.string());
    return std::vector<TaskEntry>{std::move(task).value()};
  }
  if (extension == ".jsonl") {
    return ReadTable(fs::absolute(path).lexically_normal());
  }
  if (extension == ".parquet")
    return InvalidArgument(fmt::format(
        "{0}: parquet is not read directly; make JSON lines of it with a Python that has pyarrow: "
        "python -m davinci_worker.parquet_rows {0} > {1}",
        path.string(), fs::path(path).replace_extension(".jsonl").string()));
  return InvalidArgument(
      fmt::format("{}: not a task set; give a folder of .py files, a .py file or a .jsonl file",
                  path.string()));
}

Status CheckIdsUnique(const std::vector<TaskEntry>& tasks) {
  std::map<std::string_view, const TaskEntry*> first;
  Problems problems;
  for (const TaskEntry& task : tasks) {
    const auto [found, inserted] = first.emplace(task.id, &task);
    if (!inserted)
      problems.Add(task.origin, fmt::format("the id \"{}\" was used before, at {}", task.id,
                                            found->second->origin));
  }
  return problems.ToStatus();
}

std::string LastPart(const std::string& id) { return id.substr(id.rfind('/') + 1); }

bool Fits(const std::string& wanted, const std::string& id) {
  if (wanted == id || wanted == LastPart(id)) return true;
  return fnmatch(wanted.c_str(), id.c_str(), 0) == 0 ||
         fnmatch(wanted.c_str(), LastPart(id).c_str(), 0) == 0;
}

// What `wanted` may have meant: the nearest id, else a few that there are.
std::string Known(const std::string& wanted, const std::vector<std::string>& known) {
  if (std::string near = DidYouMean(wanted, known); !near.empty()) return near;
  std::vector<std::string> last;
  for (const std::string& id : known) last.push_back(LastPart(id));
  if (std::string near = DidYouMean(wanted, last); !near.empty()) return near;
  constexpr size_t kMostShown = 5;
  const size_t shown = std::min(known.size(), kMostShown);
  return fmt::format("; there are {}{}",
                     fmt::join(known.begin(), known.begin() + static_cast<ptrdiff_t>(shown), ", "),
                     known.size() > shown ? fmt::format(" and {} more", known.size() - shown) : "");
}

Status ApplyFilter(const TaskFilter& filter, std::string_view where,
                   std::vector<TaskEntry>* tasks) {
  if (!filter.ids.empty()) {
    std::vector<std::string> known;
    for (const TaskEntry& task : *tasks) known.push_back(task.id);
    for (const std::string& wanted : filter.ids) {
      if (std::none_of(known.begin(), known.end(),
                       [&](const std::string& id) { return Fits(wanted, id); }))
        return NotFound(fmt::format("{}: no task \"{}\"{}", where, wanted, Known(wanted, known)));
    }
    std::erase_if(*tasks, [&](const TaskEntry& task) {
      return std::none_of(filter.ids.begin(), filter.ids.end(),
                          [&](const std::string& wanted) { return Fits(wanted, task.id); });
    });
  }
  if (filter.levels.empty()) return Status::Ok();
  std::set<int> levels;
  for (const TaskEntry& task : *tasks)
    if (task.level) levels.insert(*task.level);
  if (levels.empty())
    return InvalidArgument(fmt::format("{}: no task has a level to choose by", where));
  for (const int level : filter.levels) {
    if (!levels.contains(level))
      return InvalidArgument(fmt::format("{}: no task of level {}; there are {}", where, level,
                                         fmt::join(levels, ", ")));
  }
  std::erase_if(*tasks, [&](const TaskEntry& task) {
    return !task.level || std::find(filter.levels.begin(), filter.levels.end(), *task.level) ==
                              filter.levels.end();
  });
  return Status::Ok();
}

// A file name that says which task it is. Characters that are awkward in paths are replaced; what
// two ids might then share is distinguished by a piece of the id's hash.
std::string SafeFileName(const std::string& id) {
  constexpr size_t kMaxLength = 80;
  std::string safe = id.substr(0, kMaxLength);
  for (char& c : safe) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return safe == id ? safe : fmt::format("{}-{}", safe, Sha256Hex(id).substr(0, 8));
}

// Leaves a file that is right already alone: its time stamp is part of what caches look at.
Status WriteIfDifferent(const fs::path& path, const std::string& text) {
  std::error_code error;
  if (fs::exists(path, error)) {
    const auto old = ReadFile(path, kMaxTaskFileBytes);
    if (old.ok() && *old == text) return Status::Ok();
  }
  return WriteFileAtomic(path, text);
}

}  // namespace

Result<std::vector<TaskEntry>> LoadTaskSet(const fs::path& path, const TaskFilter& filter) {
  DAVINCI_ASSIGN_OR_RETURN(std::vector<TaskEntry> tasks, ReadAny(path));
  DAVINCI_RETURN_IF_ERROR(CheckIdsUnique(tasks));
  DAVINCI_RETURN_IF_ERROR(ApplyFilter(filter, path.string(), &tasks));
  constexpr int kLast = std::numeric_limits<int>::max();
  std::sort(tasks.begin(), tasks.end(), [=](const TaskEntry& a, const TaskEntry& b) {
    return std::tuple(a.level.value_or(kLast), a.problem.value_or(kLast), std::string_view(a.id)) <
           std::tuple(b.level.value_or(kLast), b.problem.value_or(kLast), std::string_view(b.id));
  });
  return tasks;
}

Status WriteTaskFiles(const fs::path& folder, std::vector<TaskEntry>* entries) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(folder));
  for (TaskEntry& task : *entries) {
    if (task.source.empty()) continue;
    const fs::path file = folder / (SafeFileName(task.id) + ".py");
    const fs::path sidecar = fs::path(file).replace_extension(".toml");
    if (task.sidecar.empty()) {
      DAVINCI_RETURN_IF_ERROR(RemoveAll(sidecar));
    } else {
      DAVINCI_RETURN_IF_ERROR(WriteIfDifferent(sidecar, task.sidecar));
    }
    DAVINCI_RETURN_IF_ERROR(WriteIfDifferent(file, task.source));
    task.path = file;
  }
  return Status::Ok();
}

}  // namespace davinci::task
