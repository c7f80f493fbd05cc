// The head of a trial's record: what the trial was asked, and what its judge lent it, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/request/job.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/judge/roles/judge_context.h"

namespace davinci::judge {

// Raise it when an older record can no longer be replayed.
inline constexpr int kRecordVersion = 1;

// The parts of a JudgeContext that are no process, lease, file or clock.
struct BorrowedFacts {
  JudgeOptions options;  // of these, threads, limits and the sandbox are kept
  std::string device;
  nlohmann::json hello;
  int threads = 1;
  bool has_facts = false;
  bool has_timing_cores = false;
};

struct TrialRecord {
  Job job;
  std::string protocol;   // by name
  nlohmann::json limits;  // what the options changed of it
  MemoryBudget budget = MemoryBudget::kEstimated;
  BorrowedFacts lent;
};

BorrowedFacts LentBy(const JudgeContext& context, Target target);
nlohmann::json ToJson(const TrialRecord& record);
Result<TrialRecord> TrialRecordFrom(std::string_view text);
void ApplyLimits(const nlohmann::json& limits, Protocol* protocol);

}  // namespace davinci::judge
