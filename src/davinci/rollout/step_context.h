// StepContext holds what a step works on and with: its tasks, what becomes of them, and what it is
// given. These are plain values, and the flag that stops a run.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "davinci/agent/device_facts.h"
#include "davinci/agent/prompt_set.h"
#include "davinci/agent/task_brief.h"
#include "davinci/base/cancel.h"
#include "davinci/base/lane.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/data/rollout.h"
#include "davinci/rollout/kernels.h"
#include "davinci/rollout/model_calls.h"
#include "davinci/rollout/rule_author.h"
#include "davinci/rollout/unit_log.h"
#include "davinci/rollout/verdicts.h"
#include "davinci/skill/library.h"
#include "davinci/task/task.h"

namespace davinci::rollout {

// A task as the engine needs it.
struct TaskInput {
  std::string id;  // unique within the run
  // As it is judged, the settings' shapes included; null in a replay.
  std::shared_ptr<const task::Task> task;
  int rollouts = 0;  // per scheme, instead of the settings' number; 0: that
  agent::TaskBrief brief;
};

// A turn that was judged again before it was paid for.
struct PaidCheck {
  TurnId turn;
  bool audited = false;  // drawn; else among the best of its group
  Evaluation first;      // under the turns' protocol
  Evaluation second;
};

struct TaskOutcome {
  std::string task;
  int step = 1;
  Target target = Target::kCpu;  // of the task
  Language language = Language::kCpp;
  Status status;  // not OK: nothing of this task can be relied on being complete
  // The judge refuses the task itself: known before the model is asked, whatever it would answer.
  bool refused = false;
  std::vector<Selection> selections;
  std::vector<Trajectory> trajectories;
  std::optional<Evaluation> probe;  // the reference judged against itself: device, roofline
  std::vector<Kernel> best;         // distinct sources, confirmed ones first, best first
  std::vector<PaidCheck> paid_checks;
  std::vector<SummaryCall> summaries;  // every call of the Summary agent
  std::vector<SkillProposal> proposals;
  // Proposals (summary, index) that are better versions of the library's skill of that name.
  std::set<std::pair<int, int>> versions;
  std::vector<Verification> verifications;
  bool complete = false;  // with every rollout and what was learned from them
  std::string remark;     // why there was no summary, or why it ended early; for people
};

// An event says what just happened, for progress displays. Observers are called one at a time.
struct StepEvent {
  enum class Kind {
    kSelected,
    kGenerated,
    kJudged,
    kNotJudged,  // a reply without usable code, or in a language that is refused
    kTrajectoryEnded,
    kConfirmed,
    kVerified,
    kTaskEnded
  };
  Kind kind = Kind::kGenerated;
  std::string task;
  std::optional<TurnId> turn;
  const Evaluation* evaluation = nullptr;  // kJudged, kNotJudged, kConfirmed
  std::string text;                        // one short sentence, may be empty
  bool from_journal = false;               // known from an earlier process
};
using Observer = std::function<void(const StepEvent&)>;

// A flag stops a run before its work is done, and keeps the reason.
class StopFlag {
 public:
  // The first reason counts.
  void Stop(TrajectoryEnd reason, Status why);
  CancelToken token() const { return source_.get_token(); }
  bool stopped() const { return source_.stop_requested(); }
  // kStopped unless set otherwise.
  TrajectoryEnd reason();
  // For a replay: why the run that is replayed stopped, if it did.
  void Presume(TrajectoryEnd reason);
  Status why();

 private:
  CancelSource source_;
  Mutex mutex_;
  TrajectoryEnd reason_ DAVINCI_GUARDED_BY(mutex_) = TrajectoryEnd::kStopped;
  Status why_ DAVINCI_GUARDED_BY(mutex_);
};

// Everything a step works with; nothing is owned, all of it outlives the step. In a replay library
// and prompts are not looked at.
struct StepContext {
  UnitLog* log = nullptr;
  ModelCalls* calls = nullptr;
  Verdicts* verdicts = nullptr;
  skill::Library* library = nullptr;  // null: no skills, the null scheme only
  const agent::PromptSet* prompts = nullptr;
  std::vector<agent::DeviceFacts> devices;  // one for each target of the tasks
  Lane* rollout_lane = nullptr;             // rollouts under way
  StopFlag* stop = nullptr;
  Observer observer;
  // Writes one rollout of each task before the model's first turn, whose prompt shows its best
  // kernel; null: none, and in a replay.
  const RuleAuthor* author = nullptr;
  bool author_alone = false;  // every rollout is the author's; no model is asked
};

}  // namespace davinci::rollout
