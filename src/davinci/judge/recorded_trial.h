// Trials run, recorded, or replayed from a record.
//
// A record is a text (transcript.h): its head holds the request, the protocol's name and what the
// trial borrows from its judge; its last line what came of it. Sessions, prepared runners and
// whatever else trials share are left out: each recorded trial makes its own.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/request/job.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/judge/roles/judge_context.h"

namespace davinci::judge {

// Runs a trial and writes its record into `folder`, named after candidate and content. `limits`
// has what the options changed in the protocol (OverrideLimits() in judge.cc). A record that cannot
// be written is a failure.
Result<Evaluation> RecordTrial(const JudgeContext& context, const Job& job,
                               const Protocol& protocol, const nlohmann::json& limits,
                               MemoryBudget budget, const std::filesystem::path& folder);

// The findings of a replay.
struct Replay {
  std::string difference;  // the first one in what was asked; empty: the record's questions, all
  std::string recorded;    // the last line, as recorded …
  std::string outcome;     // … and as it is now
  bool same() const { return difference.empty() && recorded == outcome; }
};

// A failure where the text is no record of this version.
Result<Replay> ReplayTrial(std::string_view record);

// The record with another last line.
std::string WithOutcome(std::string_view record, std::string_view outcome);

}  // namespace davinci::judge
