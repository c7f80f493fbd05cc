// What a run's steps work with: the unit log, the lanes of model and judge, the verdicts. One
// definition for optimize, bench and train.
#pragma once

#include "davinci/orchestrator/run_recipe.h"
#include "davinci/rollout/step.h"
#include "davinci/store/kv_cache.h"
#include "davinci/store/run_store.h"

namespace davinci::orchestrator {

struct StepEngine {
  // Nothing is owned. A journal that can no longer be written fires `stop`. `evaluator` is null in
  // a replay.
  StepEngine(store::RunStore* run, rollout::UnitLog::Mode mode, const RunRecipe& recipe,
             rollout::Evaluator* evaluator, store::KvCache* verdict_cache, int num_cores,
             rollout::StopFlag* stop_flag)
      : stop(stop_flag),
        log(run, mode,
            [stop_flag](const Status& why) { stop_flag->Stop(TrajectoryEnd::kFailed, why); }),
        judge_places(JudgePlaces(recipe.judge, num_cores)),
        llm_lane("language model", recipe.llm.concurrency),
        judge_lane("judge", judge_places),
        rollout_lane("rollouts", RolloutPlaces(recipe, judge_places)),
        verdicts(&log, evaluator, &judge_lane, verdict_cache) {}

  rollout::StepContext Context(rollout::ModelCalls* calls, skill::Library* library,
                               const agent::PromptSet* prompts, const agent::DeviceFacts& device,
                               const rollout::Observer& observer) {
    return {&log, calls, &verdicts, library, prompts, device, &rollout_lane, stop, observer};
  }

  rollout::StopFlag* const stop;
  rollout::UnitLog log;
  const int judge_places;
  rollout::Lane llm_lane;
  rollout::Lane judge_lane;
  rollout::Lane rollout_lane;
  rollout::Verdicts verdicts;
};

}  // namespace davinci::orchestrator
