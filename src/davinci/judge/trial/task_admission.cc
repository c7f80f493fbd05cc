#include "davinci/judge/trial/task_admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "davinci/judge/trial/device_share.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Raise it when python/davinci_worker/admission.py asks other questions: older answers are then
// asked again.
constexpr int kAdmissionVersion = 4;
// Time that the first evaluation on a task may spend on its tags. Costlier tasks wait for `davinci
// judge --admit`, which also asks about the stress distributions and mutants of the reference.
constexpr double kAdmissionBudgetSeconds = 0.5;
constexpr char kAdmissionSpace[] = "admission";

}  // namespace

bool HasTag(const std::vector<std::string>& tags, std::string_view name) {
  return std::find(tags.begin(), tags.end(), name) != tags.end();
}

std::string AdmissionKey(const JudgeContext& context, const Job& job) {
  return fmt::format("{}/{}/{}/{}", job.task->hash, TargetName(job.target),
                     context.hello.value("torch", ""), kAdmissionVersion);
}

json KeptSpecification(const JudgeContext& context, const Job& job) {
  if (context.facts == nullptr) return nullptr;
  const auto known = context.facts->Get(kAdmissionSpace, AdmissionKey(context, job));
  if (!known.ok() || !*known || !(*known)->is_object()) return nullptr;
  return (*known)->value("specification", json());
}

Result<json> AskAdmission(Trial& trial, std::optional<double> budget_seconds) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_ASSIGN_OR_RETURN(auto answer, trial.session->oracle->Ask(to_oracle::Admit{
                                            trial.secret.Next() >> 1, budget_seconds}));
  if (trial.context.facts != nullptr && answer.ok.contains("tags"))
    (void)trial.context.facts->Put(kAdmissionSpace, AdmissionKey(trial.context, trial.job),
                                   answer.ok);
  return answer.ok;
}

void LearnTask(Trial& trial) {
  if (!trial.admission.is_null()) return;
  if (trial.context.facts != nullptr)
    if (auto known =
            trial.context.facts->Get(kAdmissionSpace, AdmissionKey(trial.context, trial.job));
        known.ok() && *known)
      trial.admission = **known;
  // Only the oracle of the full question can answer: with weights as initialised, other tags may
  // hold.
  const bool able = trial.session && trial.session->oracle && trial.session->facts[0] &&
                    trial.report.failure == std::nullopt && !trial.protocol.published &&
                    !trial.report.evaluation.HasLabel(Label::kWeightsReseeded);
  if (trial.admission.is_null() && able) {
    auto asked = AskAdmission(trial, kAdmissionBudgetSeconds);
    trial.admission = asked.ok() ? *asked : json{{"failed", asked.status().message()}};
  }
  if (trial.admission.is_object()) trial.admission.erase("specification");
}

std::vector<std::string> TaskTags(const task::Task& task, const json& admission) {
  std::vector<std::string> tags = task.config.tags;
  if (const auto found = admission.find("tags"); admission.is_object() && found != admission.end())
    for (const json& tag : *found)
      if (tag.is_string() && !HasTag(tags, tag.get<std::string>())) tags.push_back(tag);
  return tags;
}

}  // namespace davinci::judge
