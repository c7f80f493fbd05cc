// Learning: what made good rollouts fast, as skills, each put to a paired experiment.

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "davinci/agent/delta_reply.h"
#include "davinci/agent/summary_agent.h"
#include "davinci/agent/trigger.h"
#include "davinci/base/mutex.h"
#include "davinci/llm/code_extraction.h"
#include "davinci/rollout/lesson.h"
#include "davinci/rollout/parallel.h"
#include "davinci/rollout/policy_check.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

UnitId ConfirmationOf(const StepRun& run, const TurnId& turn) {
  return UnitOf(UnitKind::kConfirmation, run.step, turn);
}

bool IsUnder(const Evaluation& evaluation, const std::string& protocol) {
  const auto found = evaluation.provenance.find("protocol");
  return found != evaluation.provenance.end() && found->is_object() &&
         found->value("name", "") == protocol;
}

Result<Verdict> Confirm(StepRun& run, TaskRun& task, const TurnId& turn,
                        const std::string& code_hash) {
  const UnitId id = ConfirmationOf(run, turn);
  std::string source;
  if (!run.context.log->replaying()) {
    DAVINCI_ASSIGN_OR_RETURN(source, run.context.log->run().GetBlob(code_hash));
  }
  return run.context.verdicts->Judge(
      id, run.Ask(task.input, source, run.settings.final_protocol, Urgency::kFinal, task.index),
      run.cancel());
}

class Learner {
 public:
  Learner(StepRun& run, TaskRun& task, TaskOutcome* outcome)
      : run_(run), task_(task), outcome_(*outcome) {}

  Status Learn();

 private:
  Result<Lesson> Confirmed(const Trajectory& trajectory, size_t best);
  Result<json> ChooseLessons();
  Status FindLessons();
  Status Summarise();
  Result<std::string> WrittenCode(const Turn& turn) const;
  Result<std::vector<SkillProposal>> AskForSkills(const Lesson& lesson, int summary,
                                                  SummaryCall* record);
  void RefuseRepetitions();
  bool WasShown(const std::string& skill) {
    const MutexLock lock(mutex_);
    return shown_.contains(skill);
  }
  Status CheckWithLibrary();
  Status Verify();

  StepRun& run_;
  TaskRun& task_;
  TaskOutcome& outcome_;
  std::vector<Lesson> lessons_;
  Mutex mutex_;  // guards shown_ and the costs while summaries are asked for side by side
  // Skills that the Summary agent was shown, and may propose a better version of; of all calls.
  std::set<std::string> shown_ DAVINCI_GUARDED_BY(mutex_);
};

// The pair as it is summarised: measured again under the full protocol unless the trigger goes by
// the turns' own verdicts. A first turn without code has nothing to measure.
Result<Lesson> Learner::Confirmed(const Trajectory& trajectory, size_t best) {
  const StepSettings& settings = run_.settings;
  Lesson lesson{
      static_cast<int>(lessons_.size()), &trajectory, 0, best, trajectory.turns[0].evaluation,
      trajectory.turns[best].evaluation};
  if (settings.trigger.as_published || settings.final_protocol == settings.turn_protocol)
    return lesson;
  for (auto [index, evaluation] : {std::pair{lesson.first, &lesson.first_evaluation},
                                   std::pair{lesson.best, &lesson.best_evaluation}}) {
    const Turn& turn = trajectory.turns[index];
    if (turn.code_hash.empty()) continue;
    DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, Confirm(run_, task_, turn.id, turn.code_hash));
    *evaluation = std::move(verdict.evaluation);
  }
  return lesson;
}

// Every trajectory that qualifies by its turns' verdicts, the fastest first, is measured again; its
// intervals decide. As many lessons as there are summaries.
Result<json> Learner::ChooseLessons() {
  const StepSettings& settings = run_.settings;
  agent::TriggerOptions by_median = settings.trigger;
  by_median.as_published = true;
  struct Candidate {
    const Trajectory* trajectory;
    size_t best;
    double speedup;
  };
  std::vector<Candidate> candidates;
  std::string reason = "no rollout is worth a summary";
  for (const Trajectory& trajectory : outcome_.trajectories) {
    // Rules state skills of the library already.
    if (!trajectory.turns.empty() && trajectory.turns.front().model == kRulesModel) continue;
    std::vector<Evaluation> turns;
    for (const Turn& turn : trajectory.turns) turns.push_back(turn.evaluation);
    const agent::TriggerDecision decision = agent::DecideTrigger(turns, by_median);
    if (decision.fire) {
      const auto best = static_cast<size_t>(decision.best);
      candidates.push_back({&trajectory, best, turns[best].speedup.value().median});
    } else if (!decision.reason.empty()) {
      reason = decision.reason;
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.speedup > b.speedup; });
  json body = {{"lessons", json::array()}};
  for (const Candidate& candidate : candidates) {
    if (body["lessons"].size() >= static_cast<size_t>(settings.summaries)) break;
    DAVINCI_ASSIGN_OR_RETURN(const Lesson lesson, Confirmed(*candidate.trajectory, candidate.best));
    const std::vector<Evaluation> pair = {lesson.first_evaluation, lesson.best_evaluation};
    const agent::TriggerDecision decision = agent::DecideTrigger(pair, settings.trigger);
    if (!decision.fire) {
      reason = decision.reason;
      continue;
    }
    body["lessons"].push_back({{"rollout", ToString(candidate.trajectory->id)},
                               {"best_turn", candidate.best + 1},
                               {"reason", decision.reason},
                               {"gain", decision.gain},
                               {"gain_low", decision.gain_low}});
  }
  body["reason"] = body["lessons"].empty() ? reason : "";
  return body;
}

Status Learner::FindLessons() {
  const UnitId id = UnitOf(UnitKind::kTrigger, run_.step, std::string_view(task_.input.id));
  DAVINCI_ASSIGN_OR_RETURN(const json body,
                           run_.context.log->Do(id, [&] { return ChooseLessons(); }));
  for (const json& chosen : body.value("lessons", json::array())) {
    const std::string rollout = chosen.value("rollout", "");
    const auto trajectory = std::find_if(
        outcome_.trajectories.begin(), outcome_.trajectories.end(),
        [&](const Trajectory& candidate) { return ToString(candidate.id) == rollout; });
    const size_t best = chosen.value("best_turn", size_t{0});
    if (trajectory == outcome_.trajectories.end() || best < 1 || best > trajectory->turns.size())
      return Internal("the journal has a trigger for a rollout that is not there: " + rollout);
    DAVINCI_ASSIGN_OR_RETURN(Lesson lesson, Confirmed(*trajectory, best - 1));
    for (const Lesson& earlier : lessons_)
      if (earlier.trajectory->skills == trajectory->skills)
        lesson.index = std::min(lesson.index, earlier.index);
    lessons_.push_back(std::move(lesson));
  }
  if (lessons_.empty()) outcome_.remark = "no summary: " + body.value("reason", "");
  return Status::Ok();
}

// The code of a delta reply as it was written: the file that it stands for repeats the task and the
// prelude. Of every other turn its file.
Result<std::string> Learner::WrittenCode(const Turn& turn) const {
  const agent::TaskBrief& brief = task_.input.brief;
  if (brief.reply == ReplyForm::kDelta) {
    llm::Extraction found = agent::ExtractReply(turn.reply, llm::FinishReason::kStop, brief);
    if (found.ok()) return std::move(found.source);
  }
  return run_.context.log->run().GetBlob(turn.code_hash);
}

Result<std::vector<SkillProposal>> Learner::AskForSkills(const Lesson& lesson, int summary,
                                                         SummaryCall* record) {
  const StepSettings& settings = run_.settings;
  UnitId id = UnitOf(UnitKind::kSummary, run_.step, std::string_view(task_.input.id));
  id.summary = summary;
  const Turn& first = lesson.trajectory->turns[lesson.first];
  const Turn& best = lesson.trajectory->turns[lesson.best];
  DAVINCI_ASSIGN_OR_RETURN(
      const ModelCall call,
      run_.context.calls->Call(
          id,
          [&]() -> Result<Prepared> {
            DAVINCI_ASSIGN_OR_RETURN(const auto injected, run_.Skills(lesson.trajectory->skills));
            DAVINCI_ASSIGN_OR_RETURN(
                const auto existing,
                FindSkills(run_, task_.input, static_cast<size_t>(settings.retrieve)));
            std::string before = "# the reply held no code";
            if (!first.code_hash.empty()) {
              DAVINCI_ASSIGN_OR_RETURN(before, WrittenCode(first));
            }
            DAVINCI_ASSIGN_OR_RETURN(const std::string after, WrittenCode(best));
            DAVINCI_ASSIGN_OR_RETURN(
                llm::Request request,
                agent::BuildSummaryRequest(
                    *run_.context.prompts, task_.input.brief, task_.device, injected, existing,
                    {first.id.turn, before, lesson.first_evaluation},
                    {best.id.turn, after, lesson.best_evaluation}, settings.max_new_skills));
            SetSampling(settings.summary_sampling, &request);
            request.logprobs = settings.logprobs;
            request.bound_calls = settings.bound_calls;
            request.seed = run_.Seed(task_.input.id, "summary", summary, 0);
            request.label =
                CallLabel(task_.input.id, run_.step, fmt::format("summary/{}", summary));
            json shown = json::array();
            for (const skill::Skill& skill : injected) shown.push_back(skill.name);
            for (const skill::Skill& skill : existing) shown.push_back(skill.name);
            return Prepared{std::move(request), {{"shown", std::move(shown)}}};
          },
          Urgency::kSummary, task_.index, run_.cancel()));
  {
    MutexLock lock(mutex_);
    if (call.note.is_object())
      for (const json& name : call.note.value("shown", json::array()))
        shown_.insert(name.get<std::string>());
  }
  const agent::SummaryReading reading = agent::ReadSummary(call.reply, settings.max_new_skills);
  std::vector<SkillProposal> proposals;
  record->task = task_.input.id;
  record->step = run_.step;
  record->summary = summary;
  record->before = first.id;
  record->after = best.id;
  record->prompt_hash = call.prompt_hash;
  record->reply = call.reply.text;
  record->trace_hash = call.trace_hash;
  record->num_proposals = static_cast<int>(reading.proposals.size());
  record->problem = reading.problem;
  record->cost = call.cost;
  record->finished_unix_s = call.finished_unix_s;
  for (size_t i = 0; i < reading.proposals.size(); ++i) {
    const agent::ReadProposal& read = reading.proposals[i];
    SkillProposal proposal;
    proposal.task = task_.input.id;
    proposal.step = run_.step;
    proposal.summary = summary;
    proposal.proposal = static_cast<int>(i);
    proposal.before = first.id;
    proposal.after = best.id;
    proposal.name = read.skill.name;
    proposal.description = read.skill.description;
    proposal.tags = read.skill.tags;
    proposal.scope = read.skill.scope;
    proposal.content = read.skill.content;
    proposal.refused = read.refused;
    proposal.prompt_hash = call.prompt_hash;
    proposal.reply = call.reply.text;
    if (i == 0) proposal.cost = call.cost;
    proposal.finished_unix_s = call.finished_unix_s;
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

// Several summaries of one pair often have the same idea; one experiment answers for all.
void Learner::RefuseRepetitions() {
  std::set<std::string> names;
  std::set<std::string> contents;
  for (SkillProposal& proposal : outcome_.proposals) {
    if (!proposal.refused.empty()) continue;
    const bool known_name = !names.insert(proposal.name).second;
    const bool known_content = !contents.insert(proposal.content).second;
    if (known_name || known_content)
      proposal.refused = fmt::format("repeats the {} of an earlier proposal for this task",
                                     known_content ? "content" : "name");
  }
}

Status Learner::Summarise() {
  const auto num_calls = static_cast<size_t>(run_.settings.summaries);
  std::vector<Result<std::vector<SkillProposal>>> replies(num_calls, Internal("not asked"));
  std::vector<SummaryCall> calls(num_calls);
  ForEachInParallel(num_calls, [&](size_t i) {
    const Status done = Guarded([&] {
      replies[i] = AskForSkills(lessons_[i % lessons_.size()], static_cast<int>(i), &calls[i]);
      return replies[i].status();
    });
    if (!done.ok()) replies[i] = done;
  });
  for (size_t i = 0; i < num_calls; ++i)
    if (replies[i].ok()) outcome_.summaries.push_back(std::move(calls[i]));
  for (auto& reply : replies) {
    if (!reply.ok()) return reply.status();
    for (SkillProposal& proposal : *reply) outcome_.proposals.push_back(std::move(proposal));
  }
  RefuseRepetitions();
  return Status::Ok();
}

// What the library would refuse, whatever an experiment said, gets none. The answer is a unit: the
// library may have grown when the run is gone on with.
Status Learner::CheckWithLibrary() {
  const UnitId id = UnitOf(UnitKind::kProposals, run_.step, std::string_view(task_.input.id));
  const auto key = [](const SkillProposal& proposal) {
    return fmt::format("{}.{}", proposal.summary, proposal.proposal);
  };
  DAVINCI_ASSIGN_OR_RETURN(const json body, run_.context.log->Do(id, [&]() -> Result<json> {
    json answer = {{"refused", json::object()}, {"versions", json::array()}};
    for (const SkillProposal& proposal : outcome_.proposals) {
      if (!proposal.refused.empty() || run_.context.library == nullptr) continue;
      DAVINCI_ASSIGN_OR_RETURN(
          const skill::Prospect prospect,
          run_.context.library->ProspectOf(SkillOf(proposal), WasShown(proposal.name)));
      if (!prospect.refused.empty()) answer["refused"][key(proposal)] = prospect.refused;
      if (prospect.is_version) answer["versions"].push_back(key(proposal));
    }
    return answer;
  }));
  const json refused = body.value("refused", json::object());
  const json versions = body.value("versions", json::array());
  for (SkillProposal& proposal : outcome_.proposals) {
    if (refused.contains(key(proposal)))
      proposal.refused = refused[key(proposal)].get<std::string>();
    if (std::find(versions.begin(), versions.end(), key(proposal)) != versions.end())
      outcome_.versions.insert({proposal.summary, proposal.proposal});
  }
  return Status::Ok();
}

Status Learner::Verify() {
  std::vector<Trial> trials;
  for (const SkillProposal& proposal : outcome_.proposals) {
    if (!proposal.refused.empty()) continue;
    Trial trial;
    trial.proposal = &proposal;
    trial.lesson = &lessons_[static_cast<size_t>(proposal.summary) % lessons_.size()];
    trial.is_version = outcome_.versions.contains({proposal.summary, proposal.proposal});
    if (run_.settings.verification.second_task && run_.tasks != nullptr)
      trial.second = SecondTask(proposal, task_.input, *run_.tasks);
    trials.push_back(trial);
  }
  return RunTrials(run_, task_, trials, &outcome_.verifications);
}

Status Learner::Learn() {
  DAVINCI_RETURN_IF_ERROR(FindLessons());
  if (lessons_.empty()) return Status::Ok();
  DAVINCI_RETURN_IF_ERROR(Summarise());
  DAVINCI_RETURN_IF_ERROR(CheckWithLibrary());
  return Verify();
}

}  // namespace

skill::Skill SkillOf(const SkillProposal& proposal) {
  skill::Skill skill;
  skill.name = proposal.name;
  skill.description = proposal.description;
  skill.scope = proposal.scope;
  skill.tags = proposal.tags;
  skill.content = proposal.content;
  return skill;
}

Status Learn(StepRun& run, TaskRun& task, TaskOutcome* outcome) {
  return Learner(run, task, outcome).Learn();
}

Status ConfirmFinalists(StepRun& run, TaskRun& task, std::vector<Kernel>* kernels) {
  const size_t num_finalists =
      std::min(kernels->size(), static_cast<size_t>(std::max(run.settings.finalists, 1)));
  if (run.settings.final_protocol == run.settings.turn_protocol) {
    for (size_t i = 0; i < num_finalists; ++i) (*kernels)[i].confirmed = (*kernels)[i].screening;
    return Status::Ok();
  }
  std::vector<Status> statuses(num_finalists);
  ForEachInParallel(num_finalists, [&](size_t i) {
    statuses[i] = Guarded([&]() -> Status {
      Kernel& kernel = (*kernels)[i];
      if (IsUnder(kernel.screening,
                  run.settings.final_protocol)) {  // it was paid for (paid_turns.h)
        kernel.confirmed = kernel.screening;
        return Status::Ok();
      }
      DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, Confirm(run, task, kernel.turn, kernel.code_hash));
      run.Tell({StepEvent::Kind::kConfirmed, task.input.id, kernel.turn, &verdict.evaluation, "",
                verdict.from_journal});
      // A judge that failed says nothing about the kernel: its screening stands.
      if (verdict.evaluation.outcome == Outcome::kJudgeError) return Status::Ok();
      ApplyPolicy(run.settings, task.input.brief.language, kernel.language, &verdict.evaluation);
      kernel.confirmed = std::move(verdict.evaluation);
      return Status::Ok();
    });
  });
  for (const Status& status : statuses) DAVINCI_RETURN_IF_ERROR(status);
  return Status::Ok();
}

}  // namespace davinci::rollout
