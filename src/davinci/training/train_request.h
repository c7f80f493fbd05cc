// TrainRequest: the arguments of a training run, and the parts that it works with.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/base/status.h"
#include "davinci/comm/rank_group.h"
#include "davinci/llm/backbone.h"
#include "davinci/rollout/step.h"
#include "davinci/runs/run_folder.h"
#include "davinci/store/kv_cache.h"
#include "davinci/training/train_recipe.h"

namespace davinci::training {

struct TrainRequest {
  runs::RunHeader header;  // tasks stay empty: a set may be of any size
  TrainRecipe recipe;
  std::string resolved;  // TOML
  std::filesystem::path folder;
  std::vector<std::string> library_sources;
  comm::RankGroup* ranks = nullptr;  // nullptr: one process
  // Waits for a turn at a device ("cuda:0") on which kernels are timed while a step is trained
  // (train.max_staleness), and ends it when what is returned is destroyed. Null, and an empty
  // function: nothing is timed there.
  std::function<Result<std::shared_ptr<void>>(const std::string& device)> take_turn;
};

// The parts that rank 0 samples and judges with; other ranks leave it empty. Nothing is owned.
struct TrainParts {
  // Opens the model in a checkpoint's folder for sampling; `adapter` is a PEFT folder or empty.
  std::function<Result<std::unique_ptr<llm::Backbone>>(const std::filesystem::path& model,
                                                       const std::filesystem::path& adapter)>
      open_model;
  judge::Judges* judges = nullptr;
  const agent::PromptSet* prompts = nullptr;
  std::vector<agent::DeviceFacts> devices;  // one for each target of the tasks
  store::KvCache* verdict_cache = nullptr;
  // Fills the briefs' steps (agents.task = "steps"); empty: prompts show files.
  std::function<void(std::vector<rollout::TaskInput>*)> add_steps;
  int num_cores = 1;
};

struct TrainEvents {
  rollout::Observer step;
  std::function<void(const std::string&)> say;  // one line for people
};

}  // namespace davinci::training
