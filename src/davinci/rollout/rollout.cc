// One rollout: turns of generating, judging and feedback.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "davinci/agent/feedback.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/agent/turn_window.h"
#include "davinci/base/hash.h"
#include "davinci/llm/code_extraction.h"
#include "davinci/rollout/step_run.h"
#include "davinci/rollout/stop_rules.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

double NowUnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The published reward of a turn, for the windows of sequential scaling only
// (0.5 correct + 0.5 speedup, clipped at 6, + 0.5 coverage).
constexpr double kRewardSpeedupLimit = 6;

agent::TurnScore ScoreOf(const Evaluation& evaluation) {
  agent::TurnScore score;
  const bool correct = evaluation.correct.value_or(false);
  if (!correct) return score;
  score.performance = evaluation.speedup ? evaluation.speedup->median : 0;
  const auto profile = evaluation.evidence.find("profile");
  if (profile != evaluation.evidence.end() && profile->is_object()) {
    const auto share = profile->find("library_share");
    if (share != profile->end() && share->is_number()) score.coverage = 1 - share->get<double>();
  }
  score.reward =
      0.5 + 0.5 * std::min(score.performance, kRewardSpeedupLimit) + 0.5 * score.coverage;
  return score;
}

class RolloutRun {
 public:
  RolloutRun(StepRun& run, TaskRun& task, const PlannedRollout& planned)
      : run_(run), task_(task), planned_(planned) {
    trajectory_.id = planned.id;
    trajectory_.skills = planned.skills;
  }

  Trajectory Run();

 private:
  Status TakeTurn(int turn);
  // Nothing when the next turn should be taken.
  Result<std::optional<std::string>> WhyEnd(int turn);
  Result<llm::Request> BuildRequest(int turn);
  Result<Evaluation> Judge(const ModelCall& call, Turn* turn);
  Result<std::string> Feedback(size_t index);
  agent::Progress ProgressAt(size_t index) const;
  void SlideWindow();
  std::vector<Evaluation> Evaluations() const;

  StepRun& run_;
  TaskRun& task_;
  const PlannedRollout& planned_;
  Trajectory trajectory_;
  std::vector<llm::Reply> replies_;    // of each turn
  std::vector<std::string> feedback_;  // to each turn, made when it is first needed
  std::vector<size_t> window_;         // turns (from 0) that are in the conversation
  int num_turns_ = 0;
};

std::vector<Evaluation> RolloutRun::Evaluations() const {
  std::vector<Evaluation> evaluations;
  for (const Turn& turn : trajectory_.turns) evaluations.push_back(turn.evaluation);
  return evaluations;
}

agent::Progress RolloutRun::ProgressAt(size_t index) const {
  agent::Progress progress;
  progress.turn = static_cast<int>(index) + 1;
  progress.num_turns = num_turns_;
  for (size_t i = 0; i <= index; ++i) {
    const Evaluation& evaluation = trajectory_.turns[i].evaluation;
    if (!evaluation.correct.value_or(false)) continue;
    const double speedup = evaluation.speedup ? evaluation.speedup->median : 0;
    if (progress.best_turn == 0 || speedup > progress.best_speedup) {
      progress.best_turn = static_cast<int>(i) + 1;
      progress.best_speedup = speedup;
    }
  }
  return progress;
}

Result<std::string> RolloutRun::Feedback(size_t index) {
  if (!feedback_[index].empty()) return feedback_[index];
  const Turn& turn = trajectory_.turns[index];
  const agent::PromptSet& prompts = *run_.context.prompts;
  if (turn.code_hash.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(
        feedback_[index],
        agent::RenderNoCode(prompts, task_.input.brief,
                            llm::ExtractCode(replies_[index], task_.input.brief.class_name),
                            ProgressAt(index)));
  } else {
    DAVINCI_ASSIGN_OR_RETURN(feedback_[index],
                             agent::RenderFeedback(prompts, task_.input.brief, turn.evaluation,
                                                   ProgressAt(index), run_.settings.feedback));
  }
  return feedback_[index];
}

// At the end of an iteration the conversation starts anew with the turns worth carrying over.
void RolloutRun::SlideWindow() {
  const StepSettings& settings = run_.settings;
  if (window_.size() < static_cast<size_t>(settings.turns)) return;
  const bool of_all = settings.window_rule == agent::WindowRule::kTop;
  std::vector<size_t> turns = window_;
  if (of_all) {
    turns.resize(trajectory_.turns.size());
    for (size_t i = 0; i < turns.size(); ++i) turns[i] = i;
  }
  std::vector<agent::TurnScore> scores;
  for (const size_t turn : turns) scores.push_back(ScoreOf(trajectory_.turns[turn].evaluation));
  window_.clear();
  for (const size_t kept : agent::CarriedTurns(scores, static_cast<size_t>(settings.carried_turns),
                                               settings.window_rule, settings.window_metric))
    window_.push_back(turns[kept]);
}

Result<llm::Request> RolloutRun::BuildRequest(int turn) {
  const StepSettings& settings = run_.settings;
  DAVINCI_ASSIGN_OR_RETURN(const auto skills, run_.Skills(planned_.skills));
  DAVINCI_ASSIGN_OR_RETURN(
      agent::Conversation conversation,
      agent::StartConversation(*run_.context.prompts, task_.input.brief, task_.device, skills));
  int keep = -1;
  const int best =
      trajectory_.turns.empty() ? 0 : ProgressAt(trajectory_.turns.size() - 1).best_turn;
  for (size_t i = 0; i < window_.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string feedback, Feedback(window_[i]));
    conversation.turns.push_back({agent::HistoryText(replies_[window_[i]]), feedback});
    if (static_cast<int>(window_[i]) + 1 == best) keep = static_cast<int>(i);
  }
  const int room = settings.context_tokens - settings.policy_sampling.max_tokens;
  DAVINCI_ASSIGN_OR_RETURN(
      llm::Request request,
      agent::BuildPolicyRequest(
          conversation, static_cast<size_t>(std::max(room, 1)), keep,
          [&](std::string_view text) { return run_.context.calls->CountTokens(text); }));
  request.temperature = settings.policy_sampling.temperature;
  request.top_p = settings.policy_sampling.top_p;
  request.max_tokens = settings.policy_sampling.max_tokens;
  request.seed =
      CallSeed(settings.seed, run_.step, task_.input.id, "policy", planned_.id.rollout, turn);
  request.label = ToString(TurnId{planned_.id, turn});
  return request;
}

Result<Evaluation> RolloutRun::Judge(const ModelCall& call, Turn* turn) {
  const llm::Extraction extraction = llm::ExtractCode(call.reply, task_.input.brief.class_name);
  if (!extraction.ok()) {
    Evaluation evaluation;
    evaluation.outcome = Outcome::kParseError;
    evaluation.message = extraction.diagnosis;
    return evaluation;
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::string kept, run_.context.log->Keep(extraction.source));
  turn->code_hash = kept.empty() ? Sha256Hex(extraction.source) : kept;
  turn->language = DetectLanguage(extraction.source);
  DAVINCI_ASSIGN_OR_RETURN(
      Verdict verdict, run_.context.verdicts->Judge(
                           UnitOf(UnitKind::kJudgement, run_.step, turn->id),
                           run_.Ask(task_.input, extraction.source, run_.settings.turn_protocol),
                           turn->id.turn > 1 ? Urgency::kLaterTurn : Urgency::kNewWork,
                           task_.Order(planned_.id.scheme, planned_.id.rollout), run_.cancel()));
  turn->judged_before = verdict.judged_before;
  turn->queue_seconds = verdict.queue_seconds;
  turn->judge_seconds = verdict.judge_seconds;
  run_.Tell({StepEvent::Kind::kJudged, task_.input.id, turn->id, &verdict.evaluation, "",
             verdict.from_journal});
  return std::move(verdict.evaluation);
}

Result<std::optional<std::string>> RolloutRun::WhyEnd(int turn) {
  const std::optional<std::string> go_on;
  if (turn == 1) return go_on;
  // A turn that was generated already is judged, whatever the rules say by now.
  DAVINCI_ASSIGN_OR_RETURN(
      const json generated,
      run_.context.log->Find(UnitOf(UnitKind::kGeneration, run_.step, TurnId{planned_.id, turn})));
  if (!generated.is_null()) return go_on;
  const auto reason = ReasonToStop(Evaluations(), run_.settings.stop);
  if (reason) return reason;
  if (task_.at_roofline)
    return std::optional<std::string>("another rollout of the task is at the roofline");
  return go_on;
}

Status RolloutRun::TakeTurn(int turn_number) {
  Turn turn;
  turn.id = {planned_.id, turn_number};
  SlideWindow();
  DAVINCI_ASSIGN_OR_RETURN(
      ModelCall call, run_.context.calls->Call(
                          UnitOf(UnitKind::kGeneration, run_.step, turn.id),
                          [&]() -> Result<Prepared> {
                            DAVINCI_ASSIGN_OR_RETURN(llm::Request request,
                                                     BuildRequest(turn_number));
                            return Prepared{std::move(request), nullptr};
                          },
                          turn_number > 1 ? Urgency::kLaterTurn : Urgency::kNewWork,
                          task_.Order(planned_.id.scheme, planned_.id.rollout), run_.cancel()));
  run_.Tell({StepEvent::Kind::kGenerated, task_.input.id, turn.id, nullptr, "", call.from_journal});
  DAVINCI_ASSIGN_OR_RETURN(turn.evaluation, Judge(call, &turn));
  turn.prompt_hash = call.prompt_hash;
  turn.reply = call.reply.text;
  turn.reasoning = call.reply.reasoning;
  turn.finish_reason = std::string(llm::FinishReasonName(call.reply.finish_reason));
  turn.model = call.reply.model;
  turn.cost = call.cost;
  turn.finished_unix_s = call.finished_unix_s;
  const auto share = RooflineShareLow(turn.evaluation);
  if (share && run_.settings.stop.roofline_share > 0 && *share >= run_.settings.stop.roofline_share)
    task_.at_roofline = true;
  if (trajectory_.turns.empty()) trajectory_.started_unix_s = turn.finished_unix_s;
  trajectory_.finished_unix_s = turn.finished_unix_s;
  window_.push_back(trajectory_.turns.size());
  trajectory_.turns.push_back(std::move(turn));
  replies_.push_back(std::move(call.reply));
  feedback_.emplace_back();
  return Status::Ok();
}

Trajectory RolloutRun::Run() {
  const UnitId end_id = UnitOf(UnitKind::kTrajectory, run_.step, planned_.id);
  const Status status = [&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(num_turns_,
                             agent::TotalTurns(run_.settings.turns, run_.settings.iterations,
                                               run_.settings.carried_turns));
    DAVINCI_ASSIGN_OR_RETURN(const json ended, run_.context.log->Find(end_id));
    const int last = ended.is_null() ? num_turns_ : ended.value("turns", num_turns_);
    for (int turn = 1; turn <= last; ++turn) {
      if (ended.is_null() && !run_.context.log->replaying()) {
        DAVINCI_ASSIGN_OR_RETURN(const auto reason, WhyEnd(turn));
        if (reason) {
          trajectory_.end = TrajectoryEnd::kConverged;
          trajectory_.problem = *reason;
          break;
        }
      }
      DAVINCI_RETURN_IF_ERROR(TakeTurn(turn));
    }
    if (!ended.is_null()) {
      const auto end = ParseTrajectoryEnd(ended.value("end", ""));
      if (!end) return Internal("the journal holds a trajectory that ended in no known way");
      trajectory_.end = *end;
      trajectory_.problem = ended.value("problem", "");
      return Status::Ok();
    }
    if (run_.context.log->replaying()) return Status::Ok();
    return run_.context.log->Record(end_id, {{"end", TrajectoryEndName(trajectory_.end)},
                                             {"turns", trajectory_.turns.size()},
                                             {"problem", trajectory_.problem},
                                             {"finished_unix_s", NowUnixSeconds()}});
  }();
  if (!status.ok()) {
    trajectory_.problem = status.message();
    if (!run_.context.log->broken().ok())
      trajectory_.end = TrajectoryEnd::kFailed;
    else if (status.code() == StatusCode::kCancelled)
      trajectory_.end = run_.context.stop->reason();
    else if (status.code() == StatusCode::kResourceExhausted)
      trajectory_.end = TrajectoryEnd::kBudget;
    else
      trajectory_.end = TrajectoryEnd::kFailed;
    run_.StopIfHopeless(status);
  }
  run_.Tell({StepEvent::Kind::kTrajectoryEnded, task_.input.id, TurnId{planned_.id, 0}, nullptr,
             trajectory_.problem, false});
  return std::move(trajectory_);
}

}  // namespace

Trajectory RunRollout(StepRun& run, TaskRun& task, const PlannedRollout& planned) {
  return RolloutRun(run, task, planned).Run();
}

}  // namespace davinci::rollout
