// TaskEntry: one task of a set, before its file is read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace davinci::task {

struct TaskEntry {
  std::string id;              // unique within the set: "level1/12_Softmax", a row's own id
  std::optional<int> level;    // of the benchmark, where it has levels
  std::optional<int> problem;  // number within the level
  std::filesystem::path path;  // file to judge; empty until written when `source` is set
  std::string source;          // only of rows that carry their text
  // Text of the file that belongs beside `source`; may be empty. Files bring their own.
  std::string sidecar;
  std::string origin;  // "tasks.jsonl:7" or the file, for messages
};

}  // namespace davinci::task
