// A task set: the tasks of a run, whatever form they were handed over in.
//
// Every entry ends up as a file in KernelBench layout, because that is what the judge takes
// (judge/task.h): a folder's files stay where they are, rows of a table carry their source as text
// and are written into the run's folder with WriteTaskFiles(). Reading runs no task.
//
// Forms, decided by LoadTaskSet from the path:
//   folder     *.py below it. Level n is the number in a folder named "level<n>" above the file;
//              a problem number is the digits that start the file name ("12_Softmax.py"). Files
//              whose name starts with '_' or '.' are not tasks. Sidecars (*.toml) stay beside them.
//   file.py    one task
//   *.jsonl    one object per line, either
//                our row  {"id", "path" or "source", "level", "entry", "sidecar"}: path relative to
//                         the file; entry default "Model"; sidecar is TOML text
//              or the published RL / validation row
//                         {"data_source", "prompt", "ability", "reward_model": {"ground_truth",
//                         "style"}, "extra_info": {"entry_point", "level", "uuid", …}}
//   *.parquet  is not read; the error names the command that makes a JSONL of it
//              (python -m davinci_worker.parquet_rows FILE.parquet > FILE.jsonl)
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci {

struct TaskEntry {
  std::string id;               // unique within the set
  std::optional<int> level;     // of the benchmark, where it has levels
  std::optional<int> problem;   // number within the level
  std::filesystem::path path;   // file to judge; empty until written when `source` is set
  std::string source;           // only for rows that carry their text
  std::string sidecar;          // TOML text that belongs beside the source; may be empty
  std::string entry = "Model";  // reference class; "" when the sidecar names a function instead
  std::string origin;           // "tasks.jsonl:7", for messages
};

struct TaskFilter {
  std::vector<int> levels;       // empty: all
  std::vector<std::string> ids;  // empty: all; every one must exist
};

// All tasks of `path`, ordered by level, problem number, id. Errors (all naming file and line):
// nothing there, no task in it or none left by the filter (with the levels that exist), broken
// rows (all at once), two tasks with one id, an unknown id (with the nearest).
Result<std::vector<TaskEntry>> LoadTaskSet(const std::filesystem::path& path,
                                           const TaskFilter& filter = {});

// Writes every entry that carries its source to <folder>/<id made safe>.py (and .toml) and sets
// its path. Entries with a file are left alone. Writing the same set twice changes nothing.
Status WriteTaskFiles(const std::filesystem::path& folder, std::vector<TaskEntry>* entries);

}  // namespace davinci
