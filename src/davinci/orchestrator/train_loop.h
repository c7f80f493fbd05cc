// The loop of `davinci train`: sample from the model, judge, learn, save, again.
//
//   draw tasks -> RunStep (select, roll out, summarise, verify), again while too few groups differ
//   -> flush the library
//   -> samples with advantages -> log-probabilities of the trainer, rejection -> joint update
//   -> checkpoint, from which the next step samples
//
// Every rollout's unit goes through the run store; a segment holds a batch of tasks, is read alone
// and released, so memory does not grow with steps. What is recorded is not done again: killed
// anywhere, the same call continues after the newest checkpoint, and given the recorded units of a
// step its update and checkpoint have the same bits (deterministic mode, same machine and threads).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "davinci/agent/prompt_set.h"
#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"
#include "davinci/llm/backbone.h"
#include "davinci/orchestrator/run_folder.h"
#include "davinci/orchestrator/train_recipe.h"
#include "davinci/rollout/step.h"
#include "davinci/store/kv_cache.h"

namespace davinci::orchestrator {

struct TrainRequest {
  RunHeader header;  // tasks stay empty: a set may be of any size
  TrainRecipe recipe;
  std::string resolved;  // TOML
  std::filesystem::path folder;
  std::vector<std::string> library_sources;
  comm::RankGroup* ranks = nullptr;  // nullptr: one process
};

// Not owned.
struct TrainParts {
  // Opens the model in a checkpoint's folder for sampling; `adapter` is a PEFT folder or empty.
  std::function<Result<std::unique_ptr<llm::Backbone>>(const std::filesystem::path& model,
                                                       const std::filesystem::path& adapter)>
      open_model;
  judge::Judges* judges = nullptr;
  const agent::PromptSet* prompts = nullptr;
  agent::DeviceFacts device;
  store::KvCache* verdict_cache = nullptr;
  int num_cores = 1;
};

struct TrainEvents {
  rollout::Observer step;
  std::function<void(const std::string&)> say;  // one line for people
};

struct TrainOutcome {
  int steps = 0;  // of the whole run
  int64_t updates = 0;
  std::filesystem::path checkpoint;
};

// Cancelled once `stop` fired; the same call continues.
Result<TrainOutcome> ExecuteTraining(const TrainRequest& request, const TrainParts& parts,
                                     rollout::StopFlag* stop, const TrainEvents& events);
// What the ranks other than 0 do meanwhile: their share of every update (train_ranks.h). Of the
// request they need recipe, resolved text, folder and ranks.
Status AssistTraining(const TrainRequest& request);

}  // namespace davinci::orchestrator
