// A task set: the tasks of a run, whatever form they were handed over in.
//
// Every entry ends up as a file in KernelBench layout, because that is what the judge takes
// (task/task.h): a folder's files stay where they are, rows of a table carry their source as text
// and are written into the run's folder with WriteTaskFiles(). Reading runs no task.
//
// Forms, decided by LoadTaskSet from the path:
//   folder     *.py below it; the id is the path without ".py". Level n is the number in the
//              nearest enclosing folder named "level<n>"; a problem number is the digits that start
//              the file name ("12_Softmax.py"). Files whose name starts with '_' or '.' are not
//              tasks. Sidecars (*.toml) stay beside them and are read by the judge.
//   file.py    one task
//   *.jsonl    one object per line, either our row
//                {"id", "path" or "source", "level", "problem", "entry", "sidecar", "synth"}
//              (path is relative to the file; entry is the reference class when it is not "Model";
//              synth is what made a generated task and is not read;
//              sidecar is TOML text, which must not say entry again; only path or source is needed,
//              and the id then is the file's name or the line), or the published RL / validation
//              row
//                {"data_source", "prompt", "ability", "reward_model": {"ground_truth", "style"},
//                 "extra_info": {"entry_point", "level", "uuid", …}}
//              of which ground_truth is the source, entry_point the class and uuid the id.
//   *.parquet  is not read; the error names the command that makes a JSONL of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/task/task_entry.h"

namespace davinci::task {

struct TaskFilter {
  std::vector<int> levels;  // empty: all
  // Ids, what follows an id's last '/', or patterns of either with * ? [ ]; empty: all. Each must
  // fit a task.
  std::vector<std::string> ids;
};

// All tasks of `path`, ordered by level, problem number, id. Errors (all naming file and line):
// nothing there, no task in it or none left by the filter (with the levels that exist), broken
// rows (all at once), two tasks with one id, an unknown id (with the nearest).
Result<std::vector<TaskEntry>> LoadTaskSet(const std::filesystem::path& path,
                                           const TaskFilter& filter = {});

// Writes every entry that carries its source to <folder>/<id made safe>.py (and .toml) and sets
// its path. Entries with a file are left alone. Writing the same set twice changes nothing.
Status WriteTaskFiles(const std::filesystem::path& folder, std::vector<TaskEntry>* entries);

}  // namespace davinci::task
