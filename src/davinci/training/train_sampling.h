// Rank 0's part of `davinci train`: the run folder, tasks that are drawn and rolled out with the
// weights of a checkpoint, held-out tasks, and the library.
//
// Every rollout's unit goes through the run store; a segment holds a batch of tasks, is read alone
// and released, so memory does not grow with steps. Steps are made ahead of their training by
// train.max_staleness, in threads of their own. From 2 on the next step begins where the judgements
// of one leave places free; not where its batches or its library depend on how that one ends
// (train.max_batches, learn.enabled).
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/runs/step_engine.h"
#include "davinci/skill/library.h"
#include "davinci/training/ahead.h"
#include "davinci/training/train_evaluation.h"
#include "davinci/training/train_request.h"
#include "davinci/training/train_tasks.h"
#include "davinci/training/training_batch.h"

namespace davinci::training {

class TrainSampling {
 public:
  // A checkpoint's answers to the held-out tasks.
  struct Evaluated {
    int step = 0;  // of the checkpoint
    HeldOutLog log;
    LeftOut left_out;
    score::ScoreReport report;
    bool known = false;  // written by an earlier process
    double seconds = 0;
  };
  // The sequences that a step trains, and the figures of its log line.
  struct Step {
    TrainingBatch batch;
    int batches = 0;  // of tasks, that were rolled out
    int policy = 0;   // the step whose checkpoint sampled
    std::optional<Evaluated> evaluated;
    nlohmann::ordered_json line;
  };

  // Opens or creates the run and reads tasks and library. Nothing is owned; all of it outlives
  // this.
  static Result<std::unique_ptr<TrainSampling>> Open(const TrainRequest& request,
                                                     const TrainParts& parts,
                                                     rollout::StopFlag* stop,
                                                     const TrainEvents& events);

  const std::filesystem::path& folder() const { return run_->folder(); }
  std::filesystem::path checkpoints() const { return folder() / "checkpoints"; }

  // Steps from done + 1 on; `batches` were rolled out for those before. Called once.
  void Begin(int done, int batches);
  // The next step. Called once a step, and not again after a failure.
  Result<Step> Take();
  // The step that was taken last has a checkpoint.
  void Done(int step, int batches);
  // Checkpoints of the last steps, which no step samples from any more. After the last Done().
  Result<std::vector<Evaluated>> EvaluateRest();
  // Ends what is under way.
  void Stop(const Status& why) { stop_->Stop(TrajectoryEnd::kFailed, why); }

 private:
  TrainSampling(const TrainRequest& request, const TrainParts& parts, rollout::StopFlag* stop,
                const TrainEvents& events, std::unique_ptr<store::RunStore> run);

  Status OpenTasks();
  // Further batches are rolled out as long as too few groups differ (dynamic sampling), or the
  // judge refuses all tasks. The library is that of the step's beginning for all of them.
  struct Sampled {
    std::vector<rollout::TaskOutcome> outcomes;
    TrainingBatch batch;
    LeftOut left_out;
    int batches = 0;
    double opening_seconds = 0;  // of the model
  };
  // The first batch has been drawn.
  Result<Sampled> Sample(int step, int policy, std::vector<rollout::TaskInput> first_batch,
                         Ahead<Step>::Others* others);
  size_t TasksPerBatch() const;
  // `policy`: the step whose checkpoint samples; where the batch has been drawn before, what was
  // recorded then.
  Result<std::vector<rollout::TaskInput>> TasksOf(int batch, int* policy);
  // The checkpoint of step `policy`, for sampling.
  Result<std::unique_ptr<llm::Backbone>> OpenSampler(int policy);
  // The rollouts are recorded as units of `segment`. Refused tasks have none, enter `left_out` and
  // are named once; what was refused once stays refused in the segment, so that a resumed run does
  // as an undisturbed one.
  // `others` is null where no step follows.
  Result<std::vector<rollout::TaskOutcome>> RollOut(int step, int segment, int policy,
                                                    llm::Backbone* model,
                                                    const std::vector<rollout::TaskInput>& inputs,
                                                    const rollout::StepSettings& settings,
                                                    Ahead<Step>::Others* others, LeftOut* left_out);
  Result<Evaluated> Evaluate(int checkpoint);
  Status Answer(int checkpoint, Evaluated* evaluated);
  // The checkpoint that is evaluated before `step` is rolled out, where one is due: the newest that
  // is there for certain, so that which one it is does not depend on time.
  std::optional<int> DueBefore(int step) const;
  Status Flush(int step, const std::vector<rollout::TaskOutcome>& outcomes,
               nlohmann::ordered_json* line);
  Result<Step> Prepare(int step, int newest, Ahead<Step>::Others& others);

  const TrainRequest& request_;
  const TrainRecipe& recipe_;
  const TrainParts& parts_;
  rollout::StopFlag* const stop_;
  const TrainEvents& events_;
  const std::unique_ptr<store::RunStore> run_;
  runs::StepEngine engine_;
  std::vector<TrainTask> tasks_, held_out_;
  std::unique_ptr<skill::Library> library_;
  Mutex mutex_;
  std::set<std::string> named_ DAVINCI_GUARDED_BY(mutex_);  // of refused tasks
  int batches_ = 0;                     // of tasks, that finished steps rolled out
  std::atomic<int> next_segment_ = 1;   // of the batch that is rolled out next
  std::unique_ptr<Ahead<Step>> ahead_;  // last: its threads use the rest
};

}  // namespace davinci::training
