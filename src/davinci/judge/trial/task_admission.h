// Admission asks a task's reference what no file says of the task: which wrong answers would pass,
// and its tags.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

bool HasTag(const std::vector<std::string>& tags, std::string_view name);

// Under which the answers are kept.
std::string AdmissionKey(const JudgeContext& context, const Job& job);
// The specification of the task's inputs (python/davinci_worker/specification.py) among the kept
// answers; null where there is none.
nlohmann::json KeptSpecification(const JudgeContext& context, const Job& job);
// Asks the oracle; no more than `budget_seconds` where given.
Result<nlohmann::json> AskAdmission(Trial& trial, std::optional<double> budget_seconds);
// trial.admission: as kept, or asked within a small budget; without the specification.
void LearnTask(Trial& trial);
// Those of the task's sidecar and those learnt, in `admission`.
std::vector<std::string> TaskTags(const task::Task& task, const nlohmann::json& admission);

}  // namespace davinci::judge
