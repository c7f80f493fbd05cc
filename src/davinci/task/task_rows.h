// One line of a task table (task/task_set.h describes both forms of row) as a TaskEntry. Internal
// to this module. Reads no file.
#pragma once

#include <filesystem>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/task/task_entry.h"

namespace davinci::task {

// `line_number` names rows that have no id; relative paths are appended to `folder`. Errors say
// what is wrong with the row, not where it stands.
Result<TaskEntry> ParseTaskRow(std::string_view line, int line_number,
                               const std::filesystem::path& folder);

// What is missing from `source` for the judge to take it as a reference, or OK. Looks at the text
// only; `entry` may be empty when a sidecar names something else than a class.
Status CheckTaskSource(std::string_view source, std::string_view entry);

}  // namespace davinci::task
