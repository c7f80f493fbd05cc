// Row: one structured example of supervised fine-tuning, for any of the three agents. The front
// header of this module.
//
// This module holds what all makers and readers of such data share: the row and its JSON, the
// conversion of a recorded model call into a row (example.h), the rules about trajectories
// (trajectory_filter.h), the diversity filter (diversity.h), the published formats (published.h).
// No torch, no files; equal input gives equal output. docs/training.md documents the formats.
//
// A native row is one JSON object in one line:
//
//   {"messages": [{"role": "user", "content": "…"},
//                 {"role": "assistant", "content": "…", "weight": 0.5, "thinking": "…",
//                  "tool_calls": [{"function": {"name": "…", "arguments": {…}}}]}],
//    "tools": [{"function": {"name", "description", "parameters"}}],
//    "enable_thinking": false, "agent": "policy",
//    "id": "…", "task": "…", "family": "softmax", "reference": "…", "entry_point": "Model",
//    "speedup": 1.9, "round_speedups": [0, 1.4, 1.9], "best_round": 3, "skills": ["…"],
//    "split": "train", "rules": ["…"], "judged": false, "verdict": "compile_only"}
//
// Only `messages` is needed. `messages` and `tools` may also be their JSON as text, as the
// published Parquet columns hold them. The published names original_python_code, final_speedup and
// uuid are read for reference, speedup and id. Without `agent`, a row with the tool select_skills
// is of the selection agent, one with update_skill_library of the summary agent, any other of the
// policy. Unknown keys are ignored.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rl/packing.h"

namespace davinci::sftdata {

using OrderedJson = nlohmann::ordered_json;

struct RowToolCall {
  std::string name;
  std::string arguments;  // JSON text, normally an object
  bool operator==(const RowToolCall&) const = default;
};

struct RowMessage {
  std::string role;  // system, user, assistant, tool
  std::string content;
  std::string thinking = {};                 // of the assistant
  std::vector<RowToolCall> tool_calls = {};  // of the assistant
  double weight = 0;  // scales the loss of a reply of the assistant; 0: context
  bool operator==(const RowMessage&) const = default;
};

struct RowTool {
  std::string name;
  std::string description;
  OrderedJson parameters = OrderedJson::object();
  bool operator==(const RowTool&) const = default;
};

// Where a row comes from; what the filters go by. Training does not read it.
struct Origin {
  std::string id;           // unique within a data set; "" where the maker gave none
  std::string task;         // id of the task
  std::string family;       // operator family (family.h); "": not known
  std::string reference;    // source of the reference; "": not known
  std::string entry_point;  // its class
  // Of the fastest correct reply that is trained, else of the rollouts behind a selection, else of
  // the pair behind a summary; nothing: not known or not correct.
  std::optional<double> speedup;
  std::vector<double> round_speedups;  // of all turns; 0: not correct
  int best_round = 0;                  // from 1; 0: none is correct
  std::vector<std::string> skills;     // injected (policy), chosen (selection), proposed (summary)
  std::string split;                   // of generated tasks (docs/synth.md); "": another task
  std::vector<std::string> rules;      // of the teacher; none where a model wrote the reply
  // False: the reply is the teacher's, and no judge has seen it; nothing: it was judged.
  std::optional<bool> judged;
  // "compile_only": verdicts were found without a device; "": with one, or there are none.
  std::string verdict;
  bool operator==(const Origin&) const = default;
};

struct Row {
  std::vector<RowMessage> messages;
  std::vector<RowTool> tools;
  std::optional<bool> enable_thinking;  // the template's switch; nothing: its default
  rl::AgentKind agent = rl::AgentKind::kPolicy;
  Origin origin;
  bool operator==(const Row&) const = default;
};

// One line. InvalidArgument says what is wrong with the row, not where it stands.
Result<Row> ParseRow(std::string_view line);
// The native form; keys that say nothing are left out, but rows of generated tasks always have
// `split`, `rules` and `skills`. ParseRow gives the same row again.
OrderedJson ToJson(const Row& row);

// SHA-256 over what is trained: messages, tools, switch and agent.
std::string ContentHash(const Row& row);

}  // namespace davinci::sftdata
