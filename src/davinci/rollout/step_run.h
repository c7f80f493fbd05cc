// What the stages of one step share. Internal to rollout/.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/agent/sound_kernels.h"
#include "davinci/base/mutex.h"
#include "davinci/rollout/settings.h"
#include "davinci/rollout/step_context.h"
#include "davinci/search/strategy.h"

namespace davinci::rollout {

// What is judged of a reply.
struct CandidateFile {
  std::string source;
  agent::SoundKernels kernels;  // of a delta reply
};

struct StepRun {
  StepRun(const StepContext& c, const StepSettings& s, int n) : context(c), settings(s), step(n) {}

  const StepContext& context;
  const StepSettings& settings;
  const int step;
  const std::vector<TaskInput>* tasks = nullptr;  // of the step
  const search::Strategy* strategy = nullptr;     // not owned
  Mutex observer_mutex;                           // the observer is called by one thread at a time

  CancelToken cancel() const { return context.stop->token(); }
  // Seed of a model call.
  int64_t Seed(std::string_view task, std::string_view purpose, int index, int turn) const {
    return CallSeed(settings.seed, settings.seed_step.value_or(step), task, purpose, index, turn);
  }
  void Tell(const StepEvent& event);
  // The text about the device that every prompt of a task gets.
  Result<std::string> DescribeDevice(Target target, const TaskOutcome& outcome) const;
  // Skills by name, from the run's library.
  Result<std::vector<skill::Skill>> Skills(const std::vector<std::string>& names) const;
  // The file that is judged of a reply's code: itself, or what a delta reply stands for, without
  // kernels that are `wrong`. `id`: of the call that gave the reply, or of its judgement.
  Result<CandidateFile> CandidateOf(UnitId id, const TaskInput& task, const std::string& code,
                                    const std::vector<agent::LeftOut>& wrong = {});
  judge::EvaluationRequest Ask(const TaskInput& task, const std::string& source,
                               const std::string& protocol, Urgency urgency, int64_t order) const;
  // Ends the step when every task would fail alike.
  void StopIfHopeless(const Status& status);
};

// One task under way.
struct TaskRun {
  const TaskInput& input;
  int index = 0;                          // of the task in the step; orders the lanes
  std::string device = {};                // DescribeDevice()
  std::atomic<double> spent_seconds = 0;  // StepSettings::task_seconds
  std::atomic<bool> at_roofline = false;  // some rollout is there: no new turns
  // A judgement of a reply said that the task itself cannot be judged.
  mutable std::atomic<bool> is_refused = false;
  search::TaskContext search_context = {};
  // Rollouts of former rounds, and the trajectories they are taken from; unchanged during a round.
  search::History history = {};
  std::vector<Trajectory>* trajectories = nullptr;  // the outcome's

  int64_t Order(int scheme, int rollout) const;
  // A turn of a former round; both null when there is none.
  void Look(const TurnId& id, const search::Attempt** attempt, const Evaluation** evaluation) const;
};

using search::PlannedRollout;
struct Plan {
  std::vector<Selection> selections;
  std::vector<PlannedRollout> rollouts;
};

// What the library would hold of a proposal.
skill::Skill SkillOf(const SkillProposal& proposal);

// The sampling parameters of a request.
void SetSampling(const Sampling& sampling, llm::Request* request);

// The `count` skills that fit a task best: for its target and language, best match first.
Result<std::vector<skill::Skill>> FindSkills(StepRun& run, const TaskInput& task, size_t count);

// Selection calls, deduplication, and the rollouts that come of it (one unit kSchemes).
Result<Plan> PlanSchemes(StepRun& run, TaskRun& task);

// What a strategy sees of a turn, without code and insight.
search::Attempt AttemptOf(const Turn& turn);

// All turns of one rollout. Failures end the trajectory (kFailed, with `problem`). `by_rules`: the
// context's author writes them.
Trajectory RunRollout(StepRun& run, TaskRun& task, const PlannedRollout& planned, bool by_rules);

// RunRollout() in a place of the rollout lane.
Trajectory RunInLane(StepRun& run, TaskRun& task, const PlannedRollout& planned, bool by_rules);

// The author's rollout under a language model, and what the model's prompts show of it: `brief`
// gets the author's best kernel, where that is faster than what it has. Nothing where the author
// has no kernel.
Status RunAuthor(StepRun& run, TaskRun& task, int scheme, agent::TaskBrief* brief,
                 TaskOutcome* outcome);
// The words of a prompt about a kernel that stands in it: "ok, 1.32x over eager (…).".
std::string MeasurementText(const Evaluation& evaluation);

// Judges the best kernels under the full protocol.
Status ConfirmFinalists(StepRun& run, TaskRun& task, std::vector<Kernel>* kernels);

// Judges again what is paid for, and what the audit draws (paid_turns.h); the turns of `outcome`
// have those verdicts then.
Status ConfirmPaid(StepRun& run, TaskRun& task, TaskOutcome* outcome);

// Trigger, summaries and verification; fills proposals, verifications and remark.
Status Learn(StepRun& run, TaskRun& task, TaskOutcome* outcome);

}  // namespace davinci::rollout
