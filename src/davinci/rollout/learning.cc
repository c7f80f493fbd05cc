// Learning: what made the best rollout fast, as skills, each put to a paired experiment.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "davinci/agent/admission.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/agent/summary_agent.h"
#include "davinci/agent/trigger.h"
#include "davinci/base/hash.h"
#include "davinci/llm/code_extraction.h"
#include "davinci/rollout/parallel.h"
#include "davinci/rollout/step_run.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

// The pair of turns that a summary explains.
struct Lesson {
  const Trajectory* trajectory = nullptr;
  size_t first = 0;
  size_t best = 0;
  Evaluation first_evaluation;
  Evaluation best_evaluation;
};

skill::Skill SkillOf(const SkillProposal& proposal) {
  skill::Skill skill;
  skill.name = proposal.name;
  skill.description = proposal.description;
  skill.scope = proposal.scope;
  skill.tags = proposal.tags;
  skill.content = proposal.content;
  return skill;
}

UnitId ConfirmationOf(const StepRun& run, const TurnId& turn) {
  return UnitOf(UnitKind::kConfirmation, run.step, turn);
}

Result<Verdict> Confirm(StepRun& run, TaskRun& task, const TurnId& turn,
                        const std::string& code_hash) {
  const UnitId id = ConfirmationOf(run, turn);
  std::string source;
  if (!run.context.log->replaying()) {
    DAVINCI_ASSIGN_OR_RETURN(source, run.context.log->run().GetBlob(code_hash));
  }
  return run.context.verdicts->Judge(id, run.Ask(task.input, source, run.settings.final_protocol),
                                     Urgency::kFinal, task.index, run.cancel());
}

class Learner {
 public:
  Learner(StepRun& run, TaskRun& task, TaskOutcome* outcome)
      : run_(run), task_(task), outcome_(*outcome) {}

  Status Learn();

 private:
  Result<std::optional<Lesson>> FindLesson();
  Status Summarise(const Lesson& lesson);
  Result<std::vector<SkillProposal>> AskForSkills(const Lesson& lesson, int summary,
                                                  SummaryCall* record);
  void RefuseRepetitions();
  Status Verify(const Lesson& lesson);
  Result<VerificationSample> TakeSample(const Lesson& lesson, const SkillProposal* proposal,
                                        int sample);
  Result<Evaluation> JudgeAgain(const SkillProposal& proposal, const VerificationSample& sample,
                                int index, int repetition);
  Result<agent::AdmissionDecision> Experiment(const SkillProposal& proposal,
                                              const std::vector<VerificationSample>& samples);
  Result<Verification> Decide(const SkillProposal& proposal,
                              const std::vector<Result<VerificationSample>>& without,
                              const std::vector<Result<VerificationSample>>& with);

  StepRun& run_;
  TaskRun& task_;
  TaskOutcome& outcome_;
};

// The trajectory with the fastest kernel among those that qualify by their screenings is measured
// again, under the full protocol: its intervals decide.
Result<std::optional<Lesson>> Learner::FindLesson() {
  const StepSettings& settings = run_.settings;
  agent::TriggerOptions by_median = settings.trigger;
  by_median.as_published = true;
  Lesson lesson;
  double fastest = 0;
  std::string reason = "no rollout is worth a summary";
  for (const Trajectory& trajectory : outcome_.trajectories) {
    std::vector<Evaluation> turns;
    for (const Turn& turn : trajectory.turns) turns.push_back(turn.evaluation);
    const agent::TriggerDecision decision = agent::DecideTrigger(turns, by_median);
    if (!decision.fire) {
      if (fastest == 0) reason = decision.reason;
      continue;
    }
    const auto best = static_cast<size_t>(decision.best);
    if (turns[best].speedup->median <= fastest) continue;
    fastest = turns[best].speedup->median;
    lesson = {&trajectory, 0, best, turns[0], turns[best]};
  }
  const UnitId id = UnitOf(UnitKind::kTrigger, run_.step, std::string_view(task_.input.id));
  if (fastest > 0 && !settings.trigger.as_published &&
      settings.final_protocol != settings.turn_protocol) {
    for (auto [index, evaluation] : {std::pair{lesson.first, &lesson.first_evaluation},
                                     std::pair{lesson.best, &lesson.best_evaluation}}) {
      const Turn& turn = lesson.trajectory->turns[index];
      DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, Confirm(run_, task_, turn.id, turn.code_hash));
      *evaluation = std::move(verdict.evaluation);
    }
  }
  DAVINCI_ASSIGN_OR_RETURN(const json body, run_.context.log->Do(id, [&]() -> Result<json> {
    if (fastest == 0) return json{{"fire", false}, {"reason", reason}};
    agent::TriggerOptions options = settings.trigger;
    const std::vector<Evaluation> pair = {lesson.first_evaluation, lesson.best_evaluation};
    const agent::TriggerDecision decision = agent::DecideTrigger(pair, options);
    return json{{"fire", decision.fire},
                {"reason", decision.reason},
                {"gain", decision.gain},
                {"gain_low", decision.gain_low},
                {"rollout", ToString(lesson.trajectory->id)},
                {"best_turn", lesson.best + 1}};
  }));
  if (!body.value("fire", false)) {
    outcome_.remark = "no summary: " + body.value("reason", "");
    return std::optional<Lesson>();
  }
  if (fastest == 0) return Internal("the journal has a trigger for a task without a fast rollout");
  return std::optional<Lesson>(std::move(lesson));
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
            store::RunStore& store = run_.context.log->run();
            DAVINCI_ASSIGN_OR_RETURN(const auto injected, run_.Skills(lesson.trajectory->skills));
            DAVINCI_ASSIGN_OR_RETURN(const std::string before, store.GetBlob(first.code_hash));
            DAVINCI_ASSIGN_OR_RETURN(const std::string after, store.GetBlob(best.code_hash));
            DAVINCI_ASSIGN_OR_RETURN(
                llm::Request request,
                agent::BuildSummaryRequest(
                    *run_.context.prompts, task_.input.brief, task_.device, injected,
                    {first.id.turn, before, lesson.first_evaluation},
                    {best.id.turn, after, lesson.best_evaluation}, settings.max_new_skills));
            SetSampling(settings.summary_sampling, &request);
            request.seed =
                CallSeed(settings.seed, run_.step, task_.input.id, "summary", summary, 0);
            request.label =
                CallLabel(task_.input.id, run_.step, fmt::format("summary/{}", summary));
            return Prepared{std::move(request), nullptr};
          },
          Urgency::kSummary, task_.index, run_.cancel()));
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

Status Learner::Summarise(const Lesson& lesson) {
  const auto num_calls = static_cast<size_t>(run_.settings.summaries);
  std::vector<Result<std::vector<SkillProposal>>> replies(num_calls, Internal("not asked"));
  std::vector<SummaryCall> calls(num_calls);
  ForEachInParallel(num_calls, [&](size_t i) {
    const Status done = Guarded([&] {
      replies[i] = AskForSkills(lesson, static_cast<int>(i), &calls[i]);
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

// One generation of an arm: turn 1 under the winner's skills, with or without the proposed one.
// Both arms of a pair share the seed.
Result<VerificationSample> Learner::TakeSample(const Lesson& lesson, const SkillProposal* proposal,
                                               int sample) {
  const StepSettings& settings = run_.settings;
  UnitId id = UnitOf(UnitKind::kSample, run_.step, std::string_view(task_.input.id));
  id.sample = sample;
  if (proposal != nullptr) {
    id.summary = proposal->summary;
    id.proposal = proposal->proposal;
  }
  id.variant = proposal != nullptr ? "with" : "without";
  VerificationSample taken;
  taken.task = task_.input.id;
  taken.seed = CallSeed(settings.seed, run_.step, task_.input.id, "verification", sample, 1);
  taken.with_skill = proposal != nullptr;
  DAVINCI_ASSIGN_OR_RETURN(
      const ModelCall call,
      run_.context.calls->Call(
          id,
          [&]() -> Result<Prepared> {
            DAVINCI_ASSIGN_OR_RETURN(auto skills, run_.Skills(lesson.trajectory->skills));
            if (proposal != nullptr) skills.push_back(SkillOf(*proposal));
            DAVINCI_ASSIGN_OR_RETURN(
                const agent::Conversation conversation,
                agent::StartConversation(*run_.context.prompts, task_.input.brief, task_.device,
                                         skills));
            const int room = settings.context_tokens - settings.policy_sampling.max_tokens;
            DAVINCI_ASSIGN_OR_RETURN(
                llm::Request request,
                agent::BuildPolicyRequest(conversation, static_cast<size_t>(std::max(room, 1))));
            SetSampling(settings.policy_sampling, &request);
            request.seed = taken.seed;
            request.label = CallLabel(task_.input.id, run_.step,
                                      proposal == nullptr
                                          ? fmt::format("verify/without/{}", sample)
                                          : fmt::format("verify/with/{}.{}/{}", proposal->summary,
                                                        proposal->proposal, sample));
            return Prepared{std::move(request), nullptr};
          },
          Urgency::kVerification, task_.index, run_.cancel()));
  taken.reply = call.reply.text;
  taken.cost = call.cost;
  const llm::Extraction extraction = llm::ExtractCode(call.reply, task_.input.brief.class_name);
  if (!extraction.ok()) {
    taken.evaluation.outcome = Outcome::kParseError;
    taken.evaluation.message = extraction.diagnosis;
    return taken;
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::string kept, run_.context.log->Keep(extraction.source));
  taken.code_hash = kept.empty() ? Sha256Hex(extraction.source) : kept;
  id.kind = UnitKind::kSampleVerdict;
  DAVINCI_ASSIGN_OR_RETURN(
      Verdict verdict,
      run_.context.verdicts->Judge(
          id, run_.Ask(task_.input, extraction.source, settings.verification.protocol),
          Urgency::kVerification, task_.index, run_.cancel()));
  taken.evaluation = std::move(verdict.evaluation);
  return taken;
}

Result<Evaluation> Learner::JudgeAgain(const SkillProposal& proposal,
                                       const VerificationSample& sample, int index,
                                       int repetition) {
  if (sample.code_hash.empty()) return sample.evaluation;
  UnitId id = UnitOf(UnitKind::kSampleVerdict, run_.step, std::string_view(task_.input.id));
  id.sample = index;
  if (sample.with_skill) {
    id.summary = proposal.summary;
    id.proposal = proposal.proposal;
  }
  id.variant = fmt::format("{} again={}", sample.with_skill ? "with" : "without", repetition);
  DAVINCI_ASSIGN_OR_RETURN(const std::string source,
                           run_.context.log->run().GetBlob(sample.code_hash));
  Question question = run_.Ask(task_.input, source, run_.settings.verification.protocol);
  question.repetition = repetition;
  // The other way round than the first time, when the control came first.
  DAVINCI_ASSIGN_OR_RETURN(
      Verdict verdict,
      run_.context.verdicts->Judge(id, question, Urgency::kVerification,
                                   2 * task_.index + (sample.with_skill ? 0 : 1), run_.cancel()));
  return std::move(verdict.evaluation);
}

// `samples`: control and treatment in turn. The decision with the least uplift is the one that is
// reported, because it is the one that had to pass.
Result<agent::AdmissionDecision> Learner::Experiment(
    const SkillProposal& proposal, const std::vector<VerificationSample>& samples) {
  const VerificationSettings& settings = run_.settings.verification;
  std::vector<Evaluation> evaluations;
  for (const VerificationSample& sample : samples) evaluations.push_back(sample.evaluation);
  auto decide = [&] {
    std::vector<agent::VerificationPair> pairs;
    for (size_t i = 0; i + 1 < evaluations.size(); i += 2)
      pairs.push_back({&evaluations[i + 1], &evaluations[i]});
    return agent::DecideAdmission(pairs, settings.admission);
  };
  agent::AdmissionDecision decision = decide();
  for (int repetition = 1; decision.admitted && repetition <= settings.repetitions; ++repetition) {
    std::vector<Result<Evaluation>> again(samples.size(), Internal("not judged"));
    ForEachInParallel(samples.size(), [&](size_t i) {
      const Status done = Guarded([&] {
        again[i] = JudgeAgain(proposal, samples[i], static_cast<int>(i / 2), repetition);
        return again[i].status();
      });
      if (!done.ok()) again[i] = done;
    });
    for (size_t i = 0; i < samples.size(); ++i) {
      if (!again[i].ok()) return again[i].status();
      evaluations[i] = std::move(again[i]).value();
    }
    const agent::AdmissionDecision repeated = decide();
    const bool less = !repeated.admitted || !repeated.uplift || !decision.uplift ||
                      repeated.uplift->low < decision.uplift->low;
    const std::string first = decision.reason;
    if (less) decision = repeated;
    decision.reason =
        repeated.admitted
            ? fmt::format("{}; it held when measured again", decision.reason)
            : fmt::format("not when measured again: {} (first: {})", repeated.reason, first);
  }
  return decision;
}

Result<Verification> Learner::Decide(const SkillProposal& proposal,
                                     const std::vector<Result<VerificationSample>>& without,
                                     const std::vector<Result<VerificationSample>>& with) {
  const agent::AdmissionOptions& options = run_.settings.verification.admission;
  Verification verification;
  verification.task = task_.input.id;
  verification.step = run_.step;
  verification.summary = proposal.summary;
  verification.proposal = proposal.proposal;
  verification.threshold = options.min_uplift;
  for (size_t i = 0; i < with.size(); ++i) {
    if (!with[i].ok()) return with[i].status();
    if (!without[i].ok()) return without[i].status();
    verification.samples.push_back(*without[i]);
    verification.samples.push_back(*with[i]);
  }
  UnitId id = UnitOf(UnitKind::kVerification, run_.step, std::string_view(task_.input.id));
  id.summary = proposal.summary;
  id.proposal = proposal.proposal;
  // The samples have units of their own; this one holds the decision.
  DAVINCI_ASSIGN_OR_RETURN(const json body, run_.context.log->Do(id, [&]() -> Result<json> {
    DAVINCI_ASSIGN_OR_RETURN(const agent::AdmissionDecision decision,
                             Experiment(proposal, verification.samples));
    Verification decided = verification;
    decided.samples.clear();
    decided.uplift = decision.uplift;
    decided.admitted = decision.admitted;
    decided.reason = decision.reason;
    return ToJson(decided);
  }));
  DAVINCI_ASSIGN_OR_RETURN(Verification decided, VerificationFromJson(body));
  decided.samples = std::move(verification.samples);
  run_.Tell({StepEvent::Kind::kVerified, task_.input.id, std::nullopt, nullptr,
             fmt::format("{} {}: {}", proposal.name, decided.admitted ? "admitted" : "refused",
                         decided.reason),
             false});
  return decided;
}

Status Learner::Verify(const Lesson& lesson) {
  const auto generations =
      static_cast<size_t>(std::max(run_.settings.verification.generations, agent::kMinPairs));
  std::vector<const SkillProposal*> proposals;
  for (const SkillProposal& proposal : outcome_.proposals)
    if (proposal.refused.empty()) proposals.push_back(&proposal);
  if (proposals.empty()) return Status::Ok();
  // Arm 0 is the control, which all proposals share: its prompts are the same for all of them.
  using Arm = std::vector<Result<VerificationSample>>;
  std::vector<Arm> arms(proposals.size() + 1,
                        Arm(generations, Result<VerificationSample>(Internal("not taken"))));
  ForEachInParallel(arms.size() * generations, [&](size_t i) {
    const size_t arm = i / generations;
    const size_t sample = i % generations;
    auto& slot = arms[arm][sample];
    const Status done = Guarded([&] {
      slot = TakeSample(lesson, arm == 0 ? nullptr : proposals[arm - 1], static_cast<int>(sample));
      return slot.status();
    });
    if (!done.ok()) slot = done;
  });
  Status failed;
  for (size_t i = 0; i < proposals.size(); ++i) {
    auto verification = Decide(*proposals[i], arms[0], arms[i + 1]);
    if (verification.ok())
      outcome_.verifications.push_back(std::move(verification).value());
    else if (failed.ok())
      failed = verification.status();  // the other experiments may be complete
  }
  return failed;
}

Status Learner::Learn() {
  DAVINCI_ASSIGN_OR_RETURN(const std::optional<Lesson> lesson, FindLesson());
  if (!lesson) return Status::Ok();
  DAVINCI_RETURN_IF_ERROR(Summarise(*lesson));
  return Verify(*lesson);
}

}  // namespace

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
      DAVINCI_ASSIGN_OR_RETURN(Verdict verdict, Confirm(run, task, kernel.turn, kernel.code_hash));
      run.Tell({StepEvent::Kind::kConfirmed, task.input.id, kernel.turn, &verdict.evaluation, "",
                verdict.from_journal});
      // A judge that failed says nothing about the kernel: its screening stands.
      if (verdict.evaluation.outcome != Outcome::kJudgeError)
        kernel.confirmed = std::move(verdict.evaluation);
      return Status::Ok();
    });
  });
  for (const Status& status : statuses) DAVINCI_RETURN_IF_ERROR(status);
  return Status::Ok();
}

}  // namespace davinci::rollout
