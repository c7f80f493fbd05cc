// Tasks from modules that were not written as tasks: FILE.py:NAME with inputs on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/task/task_set.h"

namespace davinci::app {

struct EntryFlags {
  std::string entry;  // class or function; empty: what the file's name says behind ':'
  std::vector<std::string> inputs;  // Python: arguments of forward; those behind the first are
                                    // further shapes
  std::string init;                 // Python: arguments of the constructor

  bool given() const { return !entry.empty() || !inputs.empty() || !init.empty(); }
};

void AddEntryFlags(CLI::App* command, EntryFlags* flags);

// Does `path` end in ":NAME", or do the flags say more than the file?
bool IsFromFile(const std::string& path, const EntryFlags& flags);

// A task with the file's text as its source, get_inputs() and get_init_inputs() of the flags behind
// it, and a sidecar that names its entry and where it comes from. The file's own sidecar counts.
// kNotFound, kInvalidArgument with the remedy.
Result<task::TaskEntry> TaskFromFile(const std::string& path, const EntryFlags& flags);

// The tasks of FILE…, FILE.py:NAME among them.
Result<std::vector<task::TaskEntry>> TasksFrom(const std::vector<std::string>& paths,
                                               const EntryFlags& flags);

}  // namespace davinci::app
