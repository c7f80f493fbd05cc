// What a run's steps work with: the unit log, the lanes of model and judge, the evaluation service,
// the verdicts. One definition for optimize, bench and train.
#pragma once

#include <utility>
#include <vector>

#include "davinci/rollout/step.h"
#include "davinci/runs/run_recipe.h"
#include "davinci/store/kv_cache.h"
#include "davinci/store/run_store.h"

namespace davinci::runs {

struct StepEngine {
  // Nothing is owned. A journal that can no longer be written fires `stop`. `judges` is null in a
  // replay.
  StepEngine(store::RunStore* run, rollout::UnitLog::Mode mode, const RunRecipe& recipe,
             judge::Judges* judges, store::KvCache* verdict_cache, int num_cores,
             rollout::StopFlag* stop_flag)
      : stop(stop_flag),
        log(run, mode,
            [stop_flag](const Status& why) { stop_flag->Stop(TrajectoryEnd::kFailed, why); }),
        judge_places(JudgePlaces(recipe.judge, num_cores)),
        llm_lane("language model", recipe.llm.concurrency),
        judge_lane("judge", judge_places),
        rollout_lane("rollouts", RolloutPlaces(recipe, judge_places)),
        service(judges, &judge_lane, verdict_cache),
        verdicts(&log, &service) {}

  rollout::StepContext Context(rollout::ModelCalls* calls, skill::Library* library,
                               const agent::PromptSet* prompts,
                               std::vector<agent::DeviceFacts> devices,
                               const rollout::Observer& observer) {
    rollout::StepContext context;
    context.log = &log;
    context.calls = calls;
    context.verdicts = &verdicts;
    context.library = library;
    context.prompts = prompts;
    context.devices = std::move(devices);
    context.rollout_lane = &rollout_lane;
    context.stop = stop;
    context.observer = observer;
    return context;
  }

  rollout::StopFlag* const stop;
  rollout::UnitLog log;
  const int judge_places;
  Lane llm_lane;
  Lane judge_lane;
  Lane rollout_lane;
  judge::LocalService service;
  rollout::Verdicts verdicts;
};

}  // namespace davinci::runs
