// The experiments that admit or refuse proposed skills.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "davinci/agent/admission.h"
#include "davinci/agent/delta_reply.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/base/hash.h"
#include "davinci/base/mutex.h"
#include "davinci/llm/code_extraction.h"
#include "davinci/rollout/lesson.h"
#include "davinci/rollout/parallel.h"
#include "davinci/rollout/policy_check.h"
#include "davinci/skill/reference_query.h"
#include "davinci/skill/tokenizer.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;
using Sample = Result<VerificationSample>;

// A result that the first asker computes while the others wait. Not owned by a lane: waiting
// takes no place.
class SharedSamples {
 public:
  template <typename Take>
  Sample Get(const std::string& key, const Take& take) {
    std::promise<Sample> promise;
    std::shared_future<Sample> future;
    bool mine = false;
    {
      MutexLock lock(mutex_);
      const auto [entry, fresh] = samples_.try_emplace(key);
      if (fresh) entry->second = promise.get_future().share();
      mine = fresh;
      future = entry->second;
    }
    if (mine) promise.set_value(take());
    return future.get();
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::shared_future<Sample>> samples_ DAVINCI_GUARDED_BY(mutex_);
};

// One experiment under way.
class TrialRun {
 public:
  TrialRun(StepRun& run, TaskRun& task, const Trial& trial, SharedSamples* controls)
      : run_(run), task_(task), trial_(trial), controls_(*controls) {}

  Result<Verification> Run();
  // Of sample `index` of the control arm: what tells it from that of another experiment.
  std::string ControlKey(int index) const { return ControlUnit(index).ToString(); }

 private:
  const TaskInput& TaskOf(int index) const {
    return trial_.second != nullptr && index % 2 == 1 ? *trial_.second : task_.input;
  }
  std::vector<std::string> ControlSkills() const;
  UnitId ControlUnit(int index) const;
  UnitId TreatedUnit(int index) const;
  Result<std::vector<skill::Skill>> Skills(bool with_skill) const;
  std::string Label(bool with_skill, int index) const;
  Sample Take(bool with_skill, int index);
  Status TakePairs(size_t target);
  agent::AdmissionDecision Decide(const std::vector<Evaluation>& evaluations) const;
  std::vector<Evaluation> Evaluations() const;
  Result<Evaluation> JudgeAgain(size_t index, int repetition);
  Result<agent::AdmissionDecision> MeasureAgain(agent::AdmissionDecision decision);

  StepRun& run_;
  TaskRun& task_;
  const Trial& trial_;
  SharedSamples& controls_;
  std::vector<VerificationSample> samples_;  // control and treatment in turn
};

std::vector<std::string> TrialRun::ControlSkills() const {
  std::vector<std::string> names = trial_.lesson->trajectory->skills;
  const std::string& name = trial_.proposal->name;
  if (trial_.is_version && std::find(names.begin(), names.end(), name) == names.end())
    names.push_back(name);
  return names;
}

UnitId TrialRun::ControlUnit(int index) const {
  UnitId id = UnitOf(UnitKind::kSample, run_.step, std::string_view(task_.input.id));
  id.sample = index;
  id.variant =
      fmt::format("without skills={} on={}", fmt::join(ControlSkills(), ","), TaskOf(index).id);
  return id;
}

UnitId TrialRun::TreatedUnit(int index) const {
  UnitId id = UnitOf(UnitKind::kSample, run_.step, std::string_view(task_.input.id));
  id.sample = index;
  id.summary = trial_.proposal->summary;
  id.proposal = trial_.proposal->proposal;
  id.variant = fmt::format("with on={}", TaskOf(index).id);
  return id;
}

Result<std::vector<skill::Skill>> TrialRun::Skills(bool with_skill) const {
  DAVINCI_ASSIGN_OR_RETURN(std::vector<skill::Skill> skills, run_.Skills(ControlSkills()));
  if (!with_skill) return skills;
  const skill::Skill proposed = SkillOf(*trial_.proposal);
  for (skill::Skill& skill : skills) {
    if (skill.name != proposed.name) continue;
    skill = proposed;
    return skills;
  }
  skills.push_back(proposed);
  return skills;
}

std::string TrialRun::Label(bool with_skill, int index) const {
  std::string label = with_skill ? fmt::format("verify/with/{}.{}/{}", trial_.proposal->summary,
                                               trial_.proposal->proposal, index)
                                 : fmt::format("verify/without/{}", index);
  if (!with_skill && trial_.lesson->index > 0)
    label += fmt::format("/lesson/{}", trial_.lesson->index);
  if (!with_skill && trial_.is_version) label += "/version/" + trial_.proposal->name;
  if (&TaskOf(index) != &task_.input) label += "/on/" + TaskOf(index).id;
  return CallLabel(task_.input.id, run_.step, label);
}

// One generation: turn 1 of a conversation. Both arms of a pair share the seed.
Sample TrialRun::Take(bool with_skill, int index) {
  const StepSettings& settings = run_.settings;
  const TaskInput& input = TaskOf(index);
  UnitId id = with_skill ? TreatedUnit(index) : ControlUnit(index);
  VerificationSample taken;
  taken.task = input.id;
  taken.seed = run_.Seed(task_.input.id, "verification", index, 1);
  taken.with_skill = with_skill;
  DAVINCI_ASSIGN_OR_RETURN(
      const ModelCall call,
      run_.context.calls->Call(
          id,
          [&]() -> Result<Prepared> {
            DAVINCI_ASSIGN_OR_RETURN(const auto skills, Skills(with_skill));
            DAVINCI_ASSIGN_OR_RETURN(
                const agent::Conversation conversation,
                agent::StartConversation(*run_.context.prompts, input.brief, task_.device, skills));
            const int room = settings.context_tokens - settings.policy_sampling.max_tokens;
            DAVINCI_ASSIGN_OR_RETURN(
                llm::Request request,
                agent::BuildPolicyRequest(conversation, static_cast<size_t>(std::max(room, 1))));
            SetSampling(settings.policy_sampling, &request);
            request.seed = taken.seed;
            request.label = Label(with_skill, index);
            return Prepared{std::move(request), nullptr};
          },
          Urgency::kVerification, task_.index, run_.cancel()));
  taken.reply = call.reply.text;
  taken.cost = call.cost;
  const llm::Extraction extraction =
      agent::ExtractReply(call.reply.text, call.reply.finish_reason, input.brief);
  if (!extraction.ok()) {
    taken.evaluation.outcome = Outcome::kParseError;
    taken.evaluation.message = extraction.diagnosis;
    return taken;
  }
  DAVINCI_ASSIGN_OR_RETURN(const CandidateFile candidate,
                           run_.CandidateOf(id, input, extraction.source));
  const std::string& source = candidate.source;
  DAVINCI_ASSIGN_OR_RETURN(const std::string kept, run_.context.log->Keep(source));
  taken.code_hash = kept.empty() ? Sha256Hex(source) : kept;
  const Language language = DetectLanguage(source);
  if (auto refused = RefuseUnjudged(settings, input.brief.language, language, extraction.source)) {
    taken.evaluation = *std::move(refused);
    return taken;
  }
  id.kind = UnitKind::kSampleVerdict;
  auto verdict = run_.context.verdicts->Judge(
      id,
      run_.Ask(input, source, settings.verification.protocol, Urgency::kVerification, task_.index),
      run_.cancel());
  if (!verdict.ok()) {
    // A second task that cannot be judged takes its pairs away, not the experiment.
    const StatusCode code = verdict.status().code();
    const bool task_is_bad = code == StatusCode::kInvalidArgument || code == StatusCode::kNotFound;
    if (&input == &task_.input || !task_is_bad) return verdict.status();
    taken.evaluation.outcome = Outcome::kJudgeError;
    taken.evaluation.message = verdict.status().message();
    return taken;
  }
  taken.evaluation = std::move(verdict->evaluation);
  ApplyPolicy(settings, input.brief.language, language, &taken.evaluation);
  return taken;
}

// Until there are `target` pairs.
Status TrialRun::TakePairs(size_t target) {
  const size_t begin = samples_.size();
  std::vector<Sample> taken(2 * target - begin, Internal("not taken"));
  ForEachInParallel(taken.size(), [&](size_t i) {
    const auto index = static_cast<int>((begin + i) / 2);
    const bool with_skill = i % 2 == 1;
    const auto guarded = [&]() -> Sample {
      Sample sample = Internal("not taken");
      const Status done = Guarded([&] {
        sample = Take(with_skill, index);
        return Status::Ok();
      });
      return done.ok() ? std::move(sample) : Sample(done);
    };
    taken[i] = with_skill ? guarded() : controls_.Get(ControlKey(index), guarded);
  });
  for (Sample& sample : taken) {
    if (!sample.ok()) return sample.status();
    samples_.push_back(std::move(sample).value());
  }
  return Status::Ok();
}

std::vector<Evaluation> TrialRun::Evaluations() const {
  std::vector<Evaluation> evaluations;
  for (const VerificationSample& sample : samples_) evaluations.push_back(sample.evaluation);
  return evaluations;
}

agent::AdmissionDecision TrialRun::Decide(const std::vector<Evaluation>& evaluations) const {
  std::vector<agent::VerificationPair> pairs;
  for (size_t i = 0; i + 1 < evaluations.size(); i += 2)
    pairs.push_back({&evaluations[i + 1], &evaluations[i],
                     &TaskOf(static_cast<int>(i / 2)) == &task_.input ? 0 : 1});
  return agent::DecideAdmission(pairs, run_.settings.verification.admission);
}

Result<Evaluation> TrialRun::JudgeAgain(size_t index, int repetition) {
  const VerificationSample& sample = samples_[index];
  const Outcome outcome = sample.evaluation.outcome;
  if (sample.code_hash.empty() || outcome == Outcome::kJudgeError ||
      outcome == Outcome::kPolicyViolation)
    return sample.evaluation;
  const auto pair = static_cast<int>(index / 2);
  UnitId id = sample.with_skill ? TreatedUnit(pair) : ControlUnit(pair);
  id.kind = UnitKind::kSampleVerdict;
  // Of this experiment: another one that shares the control measures it at another time.
  id.summary = trial_.proposal->summary;
  id.proposal = trial_.proposal->proposal;
  id.variant += fmt::format(" again={}", repetition);
  DAVINCI_ASSIGN_OR_RETURN(const std::string source,
                           run_.context.log->run().GetBlob(sample.code_hash));
  judge::EvaluationRequest request =
      run_.Ask(TaskOf(pair), source, run_.settings.verification.protocol, Urgency::kVerification,
               2 * task_.index + (sample.with_skill ? 0 : 1));
  request.repetition = repetition;
  // The other way round than the first time, when the control came first.
  DAVINCI_ASSIGN_OR_RETURN(Verdict verdict,
                           run_.context.verdicts->Judge(id, std::move(request), run_.cancel()));
  return std::move(verdict.evaluation);
}

// The decision with the least uplift is the one that is reported, because it is the one that had to
// pass.
Result<agent::AdmissionDecision> TrialRun::MeasureAgain(agent::AdmissionDecision decision) {
  const int repetitions = run_.settings.verification.repetitions;
  for (int repetition = 1; decision.admitted && repetition <= repetitions; ++repetition) {
    std::vector<Result<Evaluation>> again(samples_.size(), Internal("not judged"));
    ForEachInParallel(samples_.size(), [&](size_t i) {
      const Status done = Guarded([&] {
        again[i] = JudgeAgain(i, repetition);
        return again[i].status();
      });
      if (!done.ok()) again[i] = done;
    });
    std::vector<Evaluation> evaluations;
    for (auto& one : again) {
      if (!one.ok()) return one.status();
      evaluations.push_back(std::move(one).value());
    }
    const agent::AdmissionDecision repeated = Decide(evaluations);
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

Result<Verification> TrialRun::Run() {
  const VerificationSettings& settings = run_.settings.verification;
  agent::AdmissionDecision decision;
  for (auto target = static_cast<size_t>(agent::kMinPairs);
       !decision.decided && target <= static_cast<size_t>(settings.admission.max_pairs); ++target) {
    DAVINCI_RETURN_IF_ERROR(TakePairs(target));
    decision = Decide(Evaluations());
  }
  UnitId id = UnitOf(UnitKind::kVerification, run_.step, std::string_view(task_.input.id));
  id.summary = trial_.proposal->summary;
  id.proposal = trial_.proposal->proposal;
  // The samples have units of their own; this one holds the decision.
  DAVINCI_ASSIGN_OR_RETURN(const json body, run_.context.log->Do(id, [&]() -> Result<json> {
    DAVINCI_ASSIGN_OR_RETURN(const agent::AdmissionDecision final, MeasureAgain(decision));
    Verification decided;
    decided.task = task_.input.id;
    decided.step = run_.step;
    decided.summary = trial_.proposal->summary;
    decided.proposal = trial_.proposal->proposal;
    decided.threshold = settings.admission.min_uplift;
    decided.uplift = final.uplift;
    decided.admitted = final.admitted;
    decided.reason = final.reason;
    return ToJson(decided);
  }));
  DAVINCI_ASSIGN_OR_RETURN(Verification decided, VerificationFromJson(body));
  decided.samples = std::move(samples_);
  run_.Tell({StepEvent::Kind::kVerified, task_.input.id, std::nullopt, nullptr,
             fmt::format("{} {}: {}", trial_.proposal->name,
                         decided.admitted ? "admitted" : "refused", decided.reason),
             false});
  return decided;
}

}  // namespace

const TaskInput* SecondTask(const SkillProposal& proposal, const TaskInput& own,
                            const std::vector<TaskInput>& tasks) {
  std::string subject = proposal.name + " " + proposal.scope;
  for (const std::string& tag : proposal.tags) subject += " " + tag;
  const std::vector<std::string> words = skill::Tokenize(subject);
  const TaskInput* best = nullptr;
  size_t most = 0;
  for (const TaskInput& task : tasks) {
    if (&task == &own || task.id == own.id || task.brief.target != own.brief.target ||
        task.brief.language != own.brief.language)
      continue;
    const auto names = skill::Tokenize(skill::QueryFromReference(task.brief.reference));
    const std::set<std::string> known(names.begin(), names.end());
    std::set<std::string> shared;
    for (const std::string& word : words)
      if (known.contains(word)) shared.insert(word);
    if (shared.size() > most) {
      most = shared.size();
      best = &task;
    }
  }
  return best;
}

Status RunTrials(StepRun& run, TaskRun& task, const std::vector<Trial>& trials,
                 std::vector<Verification>* verifications) {
  SharedSamples controls;
  std::vector<std::unique_ptr<TrialRun>> runs;
  for (const Trial& trial : trials)
    runs.push_back(std::make_unique<TrialRun>(run, task, trial, &controls));
  std::vector<Result<Verification>> results(trials.size(), Internal("not tried"));
  ForEachInParallel(trials.size(), [&](size_t i) {
    const Status done = Guarded([&] {
      results[i] = runs[i]->Run();
      return results[i].status();
    });
    if (!done.ok()) results[i] = done;
  });
  Status failed;
  std::set<std::string> paid;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].ok()) {
      if (failed.ok()) failed = results[i].status();  // the other experiments may be complete
      continue;
    }
    Verification verification = std::move(results[i]).value();
    for (size_t s = 0; s < verification.samples.size(); s += 2)
      if (!paid.insert(runs[i]->ControlKey(static_cast<int>(s / 2))).second)
        verification.samples[s].cost = LlmCost{};
    verifications->push_back(std::move(verification));
  }
  return failed;
}

}  // namespace davinci::rollout
