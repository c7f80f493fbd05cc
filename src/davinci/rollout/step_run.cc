#include "davinci/rollout/step_run.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/agent/evolution_prompt.h"
#include "davinci/base/utf8.h"
#include "davinci/data/shown_interval.h"

namespace davinci::rollout {

using nlohmann::json;

void StepRun::Tell(const StepEvent& event) {
  if (!context.observer) return;
  MutexLock lock(observer_mutex);
  context.observer(event);
}

Result<std::string> StepRun::DescribeDevice(Target target, const TaskOutcome& outcome) const {
  if (context.log->replaying()) return std::string();
  agent::DeviceFacts facts;
  facts.target = target;
  for (const agent::DeviceFacts& device : context.devices)
    if (device.target == target) facts = device;
  if (outcome.probe) agent::LearnFromEvaluation(*outcome.probe, &facts);
  return agent::DescribeDevice(*context.prompts, facts);
}

Result<std::vector<skill::Skill>> StepRun::Skills(const std::vector<std::string>& names) const {
  std::vector<skill::Skill> skills;
  for (const std::string& name : names) {
    if (context.library == nullptr)
      return Internal(fmt::format("the skill \"{}\" was chosen, but there is no library", name));
    DAVINCI_ASSIGN_OR_RETURN(auto record, context.library->Get(name));
    if (!record)
      return NotFound(fmt::format("the skill \"{}\" is gone from the run's library", name));
    skills.push_back(std::move(record->skill));
  }
  return skills;
}

Result<CandidateFile> StepRun::CandidateOf(UnitId id, const TaskInput& task,
                                           const std::string& code,
                                           const std::vector<agent::LeftOut>& wrong) {
  if (task.brief.reply == ReplyForm::kFile) return CandidateFile{code, {}};
  id.kind = UnitKind::kCandidate;
  DAVINCI_ASSIGN_OR_RETURN(const json unit, context.log->Do(id, [&]() -> Result<json> {
    if (context.prompts->prelude() == nullptr) return Internal("no prelude for delta replies");
    agent::SoundKernels kernels;
    DAVINCI_ASSIGN_OR_RETURN(const std::string kept,
                             context.log->Keep(agent::AssembleCandidate(
                                 *context.prompts->prelude(), task.brief, code, &kernels, wrong)));
    json body = {{"source", kept}};
    if (!kernels.left_out.empty()) body["left_out"] = agent::ToJson(kernels.left_out);
    if (!kernels.launched.empty()) body["launched"] = kernels.launched;
    return body;
  }));
  CandidateFile candidate;
  DAVINCI_ASSIGN_OR_RETURN(candidate.source, context.log->run().GetBlob(unit.value("source", "")));
  candidate.kernels.left_out = agent::LeftOutFromJson(unit.value("left_out", json()));
  candidate.kernels.launched = unit.value("launched", std::vector<std::string>());
  return candidate;
}

judge::EvaluationRequest StepRun::Ask(const TaskInput& task, const std::string& source,
                                      const std::string& protocol, Urgency urgency,
                                      int64_t order) const {
  judge::EvaluationRequest request;
  request.task = task.task;
  request.target = task.brief.target;
  request.candidate = source;
  request.protocol = protocol;
  request.baseline = settings.baseline;
  request.urgency = urgency;
  request.order = order;
  return request;
}

void StepRun::StopIfHopeless(const Status& status) {
  // A refused key, a budget that cannot be kept, a missing interpreter: every other call would fail
  // the same way.
  if (status.code() == StatusCode::kPermissionDenied ||
      status.code() == StatusCode::kFailedPrecondition)
    context.stop->Stop(TrajectoryEnd::kFailed, status);
}

void TaskRun::Look(const TurnId& id, const search::Attempt** attempt,
                   const Evaluation** evaluation) const {
  const auto turn = static_cast<size_t>(id.turn) - 1;
  for (const search::RolloutHistory& rollout : history)
    if (rollout.id == id.rollout && turn < rollout.turns.size()) *attempt = &rollout.turns[turn];
  for (const Trajectory& trajectory : *trajectories)
    if (trajectory.id == id.rollout && turn < trajectory.turns.size())
      *evaluation = &trajectory.turns[turn].evaluation;
  if (*evaluation == nullptr) *attempt = nullptr;
}

void SetSampling(const Sampling& sampling, llm::Request* request) {
  request->temperature = sampling.temperature;
  request->top_p = sampling.top_p;
  // What is off stays out of the request: endpoints refuse fields they do not know.
  if (sampling.top_k > 0) request->top_k = sampling.top_k;
  if (sampling.min_p > 0) request->min_p = sampling.min_p;
  if (!sampling.thinking.empty()) request->thinking = sampling.thinking == "on";
  request->max_tokens = sampling.max_tokens;
}

int64_t TaskRun::Order(int scheme, int rollout) const {
  constexpr int64_t kPerScheme = 1000;
  constexpr int64_t kPerTask = kPerScheme * 1000;
  return index * kPerTask + scheme * kPerScheme + rollout;
}

std::string MeasurementText(const Evaluation& evaluation) {
  std::string text(OutcomeName(evaluation.outcome));
  if (const auto& speedup = evaluation.speedup)
    return text + fmt::format(", {}.", SpeedupText(*speedup));
  constexpr size_t kMaxMessageBytes = 2000;
  return text + ": " +
         evaluation.message.substr(
             0, ValidUtf8Prefix(std::string_view(evaluation.message).substr(0, kMaxMessageBytes)));
}

}  // namespace davinci::rollout
