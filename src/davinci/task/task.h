// Task: an operation to optimise, read from a KernelBench-layout file and its optional sidecar. The
// front header of this module: a TaskEntry (task_set.h) says where a task comes from, a Task is
// what was read there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/task_config.h"
#include "davinci/data/language.h"
#include "davinci/task/local_imports.h"

namespace davinci::task {

struct Task {
  std::string path;    // absolute; of a task that was made from another file, that file
  std::string source;  // content of the file
  std::string hash;    // SHA-256 of source, sidecar settings, and the files it imports and reads
  config::TaskConfig config;
  LocalImports imports;
  std::vector<std::string> data;             // files that only the reference may read
  std::vector<std::filesystem::path> files;  // that no candidate may see, and what is named alike

  // Class (and, for functional tasks, function) a candidate has to define.
  std::string candidate_entry;
  std::string candidate_function;
};

// Content of a file that the user has named. Where there is none, kNotFound says how it is named
// (`key` of a job file, and the option of that name), and which near name lies in its folder.
Result<std::string> ReadNamedFile(const std::string& path, uint64_t max_bytes,
                                  std::string_view key);

// Missing file, no entry class, unreadable sidecar: kNotFound / kInvalidArgument with the remedy.
Result<Task> LoadTask(const std::string& path);

// "ROWS=1024,COLS=77" as the globals of a variant.
Result<nlohmann::json> ParseShape(std::string_view text);
// Adds the shapes to the task's variants, and to its hash.
Status AddShapes(const std::vector<std::string>& shapes, Task* task);

// LoadTask() with further shapes: the task that is judged, described to agents and exported. Held
// by all who use it, so its file is read once.
Result<std::shared_ptr<const Task>> ReadTask(const std::string& path,
                                             const std::vector<std::string>& shapes = {});

}  // namespace davinci::task
