// The published row formats (reference: docs/training.md, "Published formats"), both ways. Pure.
//
// | format       | columns                                                                        |
// |--------------|--------------------------------------------------------------------------------|
// | merged       | messages and tools as JSON text, enable_thinking                               |
// | trajectories | messages, uuid, entry_point, repo_name, module_name, final_speedup, num_rounds,|
// |              | original_python_code, best_round, round_speedups, timestamp, conversion_mode,  |
// |              | enable_thinking                                                                |
// | selections   | uuid, status, think, thinking, content, tool_call_raw, selected_skills,        |
// |              | candidates, input_messages                                                     |
// | summaries    | uuid, status, think, thinking, content, tool_call_raw, skills, rejected,       |
// |              | input_messages, source_record                                                  |
// | rl           | data_source, prompt, ability, reward_model {ground_truth, style}, extra_info   |
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/sftdata/row.h"

namespace davinci::sftdata {

enum class Format { kNative, kMerged, kTrajectories, kSelections, kSummaries, kRl };
std::string_view FormatName(Format format);  // "native", "merged", …
std::optional<Format> ParseFormat(std::string_view name);

// The row in a format, or nothing where the format has no place for it: trajectories and rl take
// rows of the policy agent, selections and summaries those of their agents. rl is one row per task:
// the caller keeps the first. What a native row does not know (repo_name, timestamp) is empty or
// null. Replies that are context (weight 0) keep their weight in merged, where messages are text;
// the other published formats have no place for it.
std::optional<OrderedJson> ToFormat(const Row& row, Format format);

// A line of any format but rl, which holds tasks and is read by LoadTaskSet. Nothing: the row says
// itself that its call failed (status is not "ok"). InvalidArgument otherwise.
Result<std::optional<Row>> ParseAnyRow(std::string_view line);

}  // namespace davinci::sftdata
