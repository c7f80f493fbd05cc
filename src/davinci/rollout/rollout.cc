// One rollout: turns of generating, judging and feedback. What a turn's prompt shows is the
// strategy's, how it is worded agent/'s.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "davinci/agent/delta_reply.h"
#include "davinci/agent/digest_prompt.h"
#include "davinci/agent/evolution_prompt.h"
#include "davinci/agent/feedback.h"
#include "davinci/agent/messages.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/base/clock.h"
#include "davinci/base/hash.h"
#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"
#include "davinci/llm/code_extraction.h"
#include "davinci/rollout/part_replies.h"
#include "davinci/rollout/policy_check.h"
#include "davinci/rollout/reply_verdict.h"
#include "davinci/rollout/sound_reply.h"
#include "davinci/rollout/step_run.h"
#include "davinci/rollout/stop_rules.h"
#include "davinci/search/turn_window.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

// For the windows of sequential scaling.
search::TurnScore ScoreOf(const Evaluation& evaluation) {
  search::TurnScore score;
  if (!IsAccepted(evaluation)) return score;
  score.performance = evaluation.speedup ? evaluation.speedup->median : 0;
  score.coverage = Coverage(evaluation).value_or(0);
  score.reward = PublishedReward(true, score.performance, score.coverage);
  return score;
}

// An append-only conversation ends when less than this is left for a reply: no kernel fits into it.
constexpr int kMinReplyTokens = 256;

class RolloutRun {
 public:
  RolloutRun(StepRun& run, TaskRun& task, const PlannedRollout& planned, bool by_rules)
      : run_(run), task_(task), planned_(planned), by_rules_(by_rules) {
    trajectory_.id = planned.id;
    trajectory_.skills = planned.skills;
    history_.id = planned.id;
  }

  Trajectory Run();

 private:
  bool OutOfTime();
  Status TakeTurn(int turn, const search::TurnPlan& plan);
  Result<ModelCall> Generate(const TurnId& turn, const search::TurnPlan& plan);
  TurnBefore Before(int turn);
  // Why there is no further turn, or nothing; sets the trajectory's end.
  Result<bool> EndsBefore(int turn, const search::TurnPlan& plan);
  Result<Prepared> Prepare(int turn, const search::TurnPlan& plan);
  Result<llm::Request> BuildDialogue(const search::TurnPlan& plan);
  Result<llm::Request> BuildDigest(const search::TurnPlan& plan);
  Result<llm::Request> BuildEvolution(const search::TurnPlan& plan);
  Result<Prepared> ContinueTokens();
  size_t Room() const;
  agent::TokenCounter Counter() const {
    return [this](std::string_view text) { return run_.context.calls->CountTokens(text); };
  }
  Result<Evaluation> Judge(const ModelCall& call, Turn* turn);
  Result<std::string> Feedback(size_t index);
  agent::Progress ProgressAt(size_t index) const;
  std::vector<Evaluation> Evaluations() const;

  StepRun& run_;
  TaskRun& task_;
  const PlannedRollout& planned_;
  const bool by_rules_;
  Trajectory trajectory_;
  std::vector<llm::Reply> replies_;    // of each turn
  std::vector<json> notes_;            // likewise
  std::vector<std::string> feedback_;  // to each turn, made when it is first needed
  std::map<int, std::vector<agent::LeftOut>> left_out_;  // of a turn's reply
  search::RolloutHistory history_;
  std::optional<Prepared> prepared_;   // of the next turn, when it was needed to decide about it
  std::optional<RuleKernel> written_;  // likewise
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
    if (!IsAccepted(evaluation)) continue;
    const double sure = evaluation.speedup ? SureSpeedup(*evaluation.speedup) : 0;
    if (progress.best_turn == 0 || sure > (progress.best ? SureSpeedup(*progress.best) : 0)) {
      progress.best_turn = static_cast<int>(i) + 1;
      progress.best = evaluation.speedup;
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
                            agent::ExtractReply(replies_[index].text, replies_[index].finish_reason,
                                                task_.input.brief),
                            ProgressAt(index)));
  } else {
    DAVINCI_ASSIGN_OR_RETURN(
        feedback_[index],
        agent::RenderFeedback(prompts, task_.input.brief, turn.evaluation, ProgressAt(index),
                              run_.settings.feedback, left_out_[turn.id.turn]));
  }
  return feedback_[index];
}

// Tokens that a prompt may take, so that a whole reply fits behind it.
size_t RolloutRun::Room() const {
  const StepSettings& settings = run_.settings;
  const int context = run_.context.calls->ContextTokens(settings.context_tokens);
  return static_cast<size_t>(std::max(context - settings.policy_sampling.max_tokens, 1));
}

Result<llm::Request> RolloutRun::BuildDialogue(const search::TurnPlan& plan) {
  DAVINCI_ASSIGN_OR_RETURN(const auto skills, run_.Skills(planned_.skills));
  DAVINCI_ASSIGN_OR_RETURN(
      agent::Conversation conversation,
      agent::StartConversation(*run_.context.prompts, task_.input.brief, task_.device, skills));
  for (const TurnId& shown : plan.shown) {
    const auto index = static_cast<size_t>(shown.turn) - 1;
    DAVINCI_ASSIGN_OR_RETURN(const std::string feedback, Feedback(index));
    conversation.turns.push_back({agent::HistoryText(replies_[index]), feedback});
  }
  return agent::BuildPolicyRequest(conversation, Room(), plan.keep, Counter());
}

Result<llm::Request> RolloutRun::BuildDigest(const search::TurnPlan& plan) {
  const agent::PromptSet& prompts = *run_.context.prompts;
  DAVINCI_ASSIGN_OR_RETURN(const auto skills, run_.Skills(planned_.skills));
  DAVINCI_ASSIGN_OR_RETURN(
      agent::Conversation conversation,
      agent::StartDigest(prompts, task_.input.brief, task_.device, skills, plan.shown.empty()));
  for (const TurnId& shown : plan.shown) {
    const auto index = static_cast<size_t>(shown.turn) - 1;
    const Turn& turn = trajectory_.turns[index];
    std::string code;
    if (!turn.code_hash.empty()) {
      DAVINCI_ASSIGN_OR_RETURN(code, run_.context.log->run().GetBlob(turn.code_hash));
    }
    DAVINCI_ASSIGN_OR_RETURN(const std::string verdict,
                             agent::RenderVerdict(prompts, task_.input.brief, turn.evaluation,
                                                  ProgressAt(index), run_.settings.feedback));
    conversation.turns.push_back(
        {agent::DigestText(code, agent::SummaryOf(replies_[index])), verdict});
  }
  return agent::BuildPolicyRequest(conversation, Room(), plan.keep, Counter());
}

Result<llm::Request> RolloutRun::BuildEvolution(const search::TurnPlan& plan) {
  agent::EvolutionPrompt evolution;
  evolution.mutation = plan.op == search::Operator::kMutation;
  evolution.crossover = plan.op == search::Operator::kCrossover;
  DAVINCI_ASSIGN_OR_RETURN(evolution.knowledge, run_.Skills(planned_.skills));
  const auto show = [&](const TurnId& id) -> Result<agent::ShownKernel> {
    const search::Attempt* attempt = nullptr;
    const Evaluation* evaluation = nullptr;
    task_.Look(id, &attempt, &evaluation);
    if (attempt == nullptr) return Internal(ToString(id) + " is not among the earlier attempts");
    return agent::ShownKernel{attempt->code, evaluation};
  };
  if (plan.best) {
    DAVINCI_ASSIGN_OR_RETURN(auto kernel, show(*plan.best));
    evolution.best.push_back(std::move(kernel));
  }
  for (const TurnId& id : plan.shown) {
    DAVINCI_ASSIGN_OR_RETURN(auto kernel, show(id));
    evolution.solutions.push_back(std::move(kernel));
  }
  for (const TurnId& id : plan.insights) {
    const search::Attempt* attempt = nullptr;
    const Evaluation* evaluation = nullptr;
    task_.Look(id, &attempt, &evaluation);
    if (attempt == nullptr) return Internal(ToString(id) + " is not among the earlier attempts");
    evolution.insights.push_back({attempt->insight, evaluation});
  }
  return agent::BuildEvolutionRequest(*run_.context.prompts, task_.input.brief, task_.device,
                                      std::move(evolution), Room(), Counter());
}

// The whole conversation, verbatim, and where the backbone has tokens, the very tokens.
Result<Prepared> RolloutRun::ContinueTokens() {
  DAVINCI_ASSIGN_OR_RETURN(const auto skills, run_.Skills(planned_.skills));
  DAVINCI_ASSIGN_OR_RETURN(
      const agent::Conversation start,
      agent::StartConversation(*run_.context.prompts, task_.input.brief, task_.device, skills));
  Prepared prepared;
  llm::Request& request = prepared.request;
  request.messages = {agent::Says(llm::Role::kSystem, start.system),
                      agent::Says(llm::Role::kUser, start.task)};
  for (size_t i = 0; i < trajectory_.turns.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string feedback, Feedback(i));
    request.messages.push_back(agent::Says(llm::Role::kAssistant, replies_[i].text));
    request.messages.push_back(agent::Says(llm::Role::kUser, feedback));
  }
  if (!trajectory_.turns.empty() && !trajectory_.turns.back().trace_hash.empty()) {
    prepared.continues = trajectory_.turns.back().trace_hash;
    DAVINCI_ASSIGN_OR_RETURN(const llm::TokenTrace trace,
                             LoadTrace(run_.context.log->run(), prepared.continues));
    request.prefix_tokens = llm::AllTokens(trace);
    request.prefix_messages = static_cast<int>(request.messages.size()) - 1;
  }
  return prepared;
}

Result<Prepared> RolloutRun::Prepare(int turn, const search::TurnPlan& plan) {
  const StepSettings& settings = run_.settings;
  Prepared prepared;
  if (settings.conversation == ConversationMode::kAppendOnly &&
      plan.form == search::PromptForm::kDialogue) {
    DAVINCI_ASSIGN_OR_RETURN(prepared, ContinueTokens());
  } else {
    auto request = plan.form == search::PromptForm::kDialogue ? BuildDialogue(plan)
                   : plan.form == search::PromptForm::kDigest ? BuildDigest(plan)
                                                              : BuildEvolution(plan);
    if (!request.ok()) return request.status();
    prepared.request = std::move(request).value();
  }
  llm::Request& request = prepared.request;
  SetSampling(settings.policy_sampling, &request);
  request.logprobs = settings.logprobs;
  request.seed = run_.Seed(task_.input.id, "policy", planned_.id.rollout, turn);
  request.label = ToString(TurnId{planned_.id, turn});
  return prepared;
}

Result<Evaluation> RolloutRun::Judge(const ModelCall& call, Turn* turn) {
  const llm::Extraction extraction =
      agent::ExtractReply(call.reply.text, call.reply.finish_reason, task_.input.brief);
  if (!extraction.ok()) {
    Evaluation evaluation;
    evaluation.outcome = Outcome::kParseError;
    evaluation.message = extraction.diagnosis;
    run_.Tell({StepEvent::Kind::kNotJudged, task_.input.id, turn->id, &evaluation, "",
               call.from_journal});
    return evaluation;
  }
  DAVINCI_ASSIGN_OR_RETURN(CandidateFile candidate,
                           run_.CandidateOf(UnitOf(UnitKind::kGeneration, run_.step, turn->id),
                                            task_.input, extraction.source));
  turn->language = DetectLanguage(candidate.source);
  const auto keep = [&]() -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const std::string kept, run_.context.log->Keep(candidate.source));
    turn->code_hash = kept.empty() ? Sha256Hex(candidate.source) : kept;
    left_out_[turn->id.turn] = candidate.kernels.left_out;
    return Status::Ok();
  };
  DAVINCI_RETURN_IF_ERROR(keep());
  if (auto refused = RefuseUnjudged(run_.settings, task_.input.brief.language, turn->language,
                                    extraction.source)) {
    run_.Tell(
        {StepEvent::Kind::kNotJudged, task_.input.id, turn->id, &*refused, "", call.from_journal});
    return *std::move(refused);
  }
  DAVINCI_ASSIGN_OR_RETURN(Verdict verdict,
                           JudgeReply(run_, task_, turn->id, extraction.source, &candidate));
  DAVINCI_RETURN_IF_ERROR(keep());
  ApplyPolicy(run_.settings, task_.input.brief.language, turn->language, &verdict.evaluation);
  turn->judged_before = verdict.judged_before;
  turn->queue_seconds = verdict.queue_seconds;
  turn->judge_seconds = verdict.judge_seconds;
  run_.Tell({StepEvent::Kind::kJudged, task_.input.id, turn->id, &verdict.evaluation, "",
             verdict.from_journal});
  return std::move(verdict.evaluation);
}

TurnBefore RolloutRun::Before(int turn) {
  return turn > 1 ? TurnBefore{turn - 1, JoinedNoteFromJson(notes_.back()), left_out_[turn - 1]}
                  : TurnBefore();
}

Result<bool> RolloutRun::EndsBefore(int turn, const search::TurnPlan& plan) {
  // A turn that was generated already is judged, whatever the rules say by now.
  DAVINCI_ASSIGN_OR_RETURN(
      const json generated,
      run_.context.log->Find(UnitOf(UnitKind::kGeneration, run_.step, TurnId{planned_.id, turn})));
  if (!generated.is_null()) return false;
  std::optional<std::string> reason;
  if (turn > 1) {
    reason = ReasonToStop(Evaluations(), run_.settings.stop);
    if (!reason && task_.at_roofline && run_.settings.stop.shared)
      reason = "another rollout of the task is at the roofline";
  }
  trajectory_.end = TrajectoryEnd::kConverged;
  if (!reason && by_rules_) {
    written_ = run_.context.author->Next(planned_.id, Evaluations());
    trajectory_.end = TrajectoryEnd::kTurns;
    return !written_;
  }
  if (!reason && run_.settings.conversation == ConversationMode::kAppendOnly &&
      PartsOfTurn(run_, task_, plan, Before(turn)).empty()) {
    // Nothing may be left out, so the reply gets what the context has left.
    DAVINCI_ASSIGN_OR_RETURN(prepared_, Prepare(turn, plan));
    llm::Request& request = prepared_->request;
    const int64_t context = run_.context.calls->ContextTokens(run_.settings.context_tokens);
    const int64_t left = context - run_.context.calls->CountPromptTokens(request);
    if (left < std::min<int64_t>(kMinReplyTokens, request.max_tokens.value_or(kMinReplyTokens))) {
      trajectory_.end = TrajectoryEnd::kContext;
      reason = turn > 1 ? fmt::format("the conversation leaves {} of {} tokens for a reply", left,
                                      context)
                        : fmt::format(
                              "the prompt leaves {} of {} tokens for a reply; give the model a "
                              "longer context or shorten the prompts",
                              left, context);
    } else {
      request.max_tokens = static_cast<int>(std::min<int64_t>(request.max_tokens.value(), left));
    }
  }
  if (!reason) {
    trajectory_.end = TrajectoryEnd::kTurns;
    return false;
  }
  trajectory_.problem = *reason;
  return true;
}

// Such an end is not recorded: a run that goes on with more time takes the turn.
bool RolloutRun::OutOfTime() {
  const double limit = run_.settings.task_seconds;
  if (limit <= 0 || task_.spent_seconds < limit) return false;
  trajectory_.end = TrajectoryEnd::kBudget;
  trajectory_.problem = fmt::format("the {:.3g} minutes of this task are over", limit / 60);
  return true;
}

// The author's answer as a reply: what it is, what it leaves, and the source.
llm::Reply ReplyOf(const RuleKernel& kernel) {
  llm::Reply reply;
  reply.finish_reason = llm::FinishReason::kStop;
  reply.cost_usd = 0;
  reply.model = kRulesModel;
  reply.endpoint = kRulesModel;
  reply.text = kernel.name + ".\n";
  if (kernel.source.empty()) return reply;
  reply.text += fmt::format("Rules: {}.\n", fmt::join(kernel.rules, ", "));
  if (!kernel.skills.empty())
    reply.text += fmt::format("Skills: {}.\n", fmt::join(kernel.skills, ", "));
  if (!kernel.kept.empty()) reply.text += fmt::format("Stays PyTorch's: {}.\n", kernel.kept);
  reply.text += fmt::format("\n```python\n{}```\n", kernel.source);
  return reply;
}

Result<ModelCall> RolloutRun::Generate(const TurnId& turn, const search::TurnPlan& plan) {
  const UnitId unit = UnitOf(UnitKind::kGeneration, run_.step, turn);
  if (by_rules_)
    return run_.context.calls->Written(unit, ToString(turn), [&]() -> Result<WrittenReply> {
      const std::optional<RuleKernel> kernel = std::exchange(written_, std::nullopt);
      if (!kernel) return Internal("a turn of the expert without a kernel");
      return WrittenReply{ReplyOf(*kernel),
                          {{"name", kernel->name},
                           {"rules", kernel->rules},
                           {"skills", kernel->skills},
                           {"kept", kernel->kept}}};
    });
  const TurnBefore before = Before(turn.turn);
  if (const auto parts = PartsOfTurn(run_, task_, plan, before); !parts.empty())
    return CallForParts(run_, task_, planned_, turn, parts, before);
  const auto ask = [&](const UnitId& id, int again) {
    return run_.context.calls->Call(
        id,
        [&]() -> Result<Prepared> {
          if (prepared_) return *std::exchange(prepared_, std::nullopt);
          DAVINCI_ASSIGN_OR_RETURN(Prepared prepared, Prepare(turn.turn, plan));
          SampleAgain(again, &prepared.request);
          return prepared;
        },
        turn.turn > 1 ? Urgency::kLaterTurn : Urgency::kNewWork,
        task_.Order(planned_.id.scheme, planned_.id.rollout), run_.cancel());
  };
  const StepSettings& settings = run_.settings;
  if (settings.retries == 0 || settings.conversation == ConversationMode::kAppendOnly ||
      task_.input.brief.plain.code.empty())
    return ask(unit, 0);
  // As a turn of one part.
  return run_.context.calls->Written(unit, ToString(turn), [&]() -> Result<WrittenReply> {
    UnitId part = unit;
    part.sample = 0;
    const agent::TaskBrief& brief = task_.input.brief;
    DAVINCI_ASSIGN_OR_RETURN(
        ModelCall call, CallUntilSound(run_, task_.input, part, ask, [&](const llm::Reply& reply) {
          return agent::ExtractReply(reply.text, reply.finish_reason, brief).source;
        }));
    return WrittenReply{std::move(call.reply), NoteOfChosen(), std::move(call.prompt_hash),
                        call.cost.calls};
  });
}

Status RolloutRun::TakeTurn(int turn_number, const search::TurnPlan& plan) {
  Turn turn;
  turn.id = {planned_.id, turn_number};
  DAVINCI_ASSIGN_OR_RETURN(ModelCall call, Generate(turn.id, plan));
  if (call.reply.model == kRulesModel)
    for (const json& skill : call.note.value("skills", json::array()))
      if (std::ranges::find(trajectory_.skills, skill.get<std::string>()) ==
          trajectory_.skills.end())
        trajectory_.skills.push_back(skill.get<std::string>());
  run_.Tell({StepEvent::Kind::kGenerated, task_.input.id, turn.id, nullptr, "", call.from_journal});
  DAVINCI_ASSIGN_OR_RETURN(turn.evaluation, Judge(call, &turn));
  turn.prompt_hash = call.prompt_hash;
  turn.trace_hash = call.trace_hash;
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
  history_.turns.push_back(AttemptOf(turn));
  trajectory_.turns.push_back(std::move(turn));
  replies_.push_back(std::move(call.reply));
  notes_.push_back(std::move(call.note));
  feedback_.emplace_back();
  task_.spent_seconds +=
      trajectory_.turns.back().cost.seconds + trajectory_.turns.back().judge_seconds;
  return Status::Ok();
}

Trajectory RolloutRun::Run() {
  const UnitId end_id = UnitOf(UnitKind::kTrajectory, run_.step, planned_.id);
  const Status status = [&]() -> Status {
    const search::Strategy& strategy = *run_.strategy;
    num_turns_ = strategy.num_turns();
    DAVINCI_ASSIGN_OR_RETURN(const json ended, run_.context.log->Find(end_id));
    const int last = ended.is_null() ? num_turns_ : ended.value("turns", num_turns_);
    for (int turn = 1; turn <= last; ++turn) {
      search::TurnPlan plan;
      if (ended.is_null() && !run_.context.log->replaying()) {
        if (!by_rules_) {
          auto next = strategy.NextTurn(task_.search_context, history_, task_.history);
          if (!next) break;
          plan = *std::move(next);
        }
        DAVINCI_ASSIGN_OR_RETURN(const bool ends, EndsBefore(turn, plan));
        if (ends) break;
        if (OutOfTime()) return Status::Ok();
      }
      DAVINCI_RETURN_IF_ERROR(TakeTurn(turn, plan));
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
    const bool writable = run_.context.log->broken().ok();
    if (writable && status.code() == StatusCode::kCancelled)
      trajectory_.end = run_.context.stop->reason();
    else if (writable && status.code() == StatusCode::kResourceExhausted)
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

search::Attempt AttemptOf(const Turn& turn) {
  search::Attempt attempt;
  attempt.id = turn.id;
  attempt.correct = IsAccepted(turn.evaluation);
  if (attempt.correct && turn.evaluation.speedup) attempt.speedup = turn.evaluation.speedup->median;
  attempt.score = ScoreOf(turn.evaluation);
  return attempt;
}

Trajectory RunRollout(StepRun& run, TaskRun& task, const PlannedRollout& planned, bool by_rules) {
  return RolloutRun(run, task, planned, by_rules).Run();
}

}  // namespace davinci::rollout
