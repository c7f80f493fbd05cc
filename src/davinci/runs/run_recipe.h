// RunRecipe: every knob of optimize and bench, typed. recipes/davinci.toml lists them all with what
// they mean; its values are the defaults here (a test compares).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/recipe.h"
#include "davinci/rollout/settings.h"

namespace davinci::runs {

// Of one model. Those of a role (llm.policy, llm.selection, llm.summary) begin as copies of [llm].
struct LlmSettings {
  std::vector<std::string> endpoints;  // URLs; or one of "recorded:FILE", "embedded"
  std::string model;
  int concurrency = 8;      // model calls in flight
  std::string api_key_env;  // "" = OPENAI_API_KEY, if it is set
  std::string api_key_file;
  std::string ca_file;
  std::string prices;  // TOML file (llm/prices.h)
  // Of every request to an endpoint (llm/request_extras.h).
  nlohmann::json extra_body = nlohmann::json::object();
  std::map<std::string, std::string> headers;
  std::string proxy;
  bool stream = true;
  double attempt_timeout_seconds = 1800;
  int max_attempts = 6;
  std::string lora;                   // "embedded": PEFT adapter
  double release_after_seconds = -1;  // "embedded": frees its memory when idle so long; < 0: never
};

struct JudgeSettings {
  int in_flight = 0;  // judgements at once; 0 = half the cores, at least one
  int threads = 0;    // of reference and candidate; 0 = all cores
  // The GPUs that judge, as `davinci judge --devices` names them. Named ones judge alone: no model
  // runs on them. "none": kernels for cuda are compiled and interpreted on the cores.
  std::string devices = "all";
  bool verdict_cache = true;  // take over verdicts about identical questions from earlier runs
  bool unsafe_no_sandbox = false;
};

struct BudgetSettings {  // 0 = no limit
  double usd = 0;
  double minutes = 0;       // of one process
  double task_minutes = 0;  // StepSettings::task_seconds
  int64_t calls = 0;
};

struct RunRecipe {
  rollout::StepSettings step;
  LlmSettings llm;
  std::map<std::string, LlmSettings> roles;  // "policy", "selection", "summary": where they differ
  JudgeSettings judge;
  BudgetSettings budget;
  // One more rollout of each task, which the expert writes. "auto": under a language model of
  // `optimize` that has more than one rollout and whose replies are not recorded.
  std::string expert = "auto";
  int rollouts_in_flight = 0;  // 0 = twice the places of both lanes
  int tasks_in_flight = 8;
  int tasks_per_step = 16;  // with learning: later steps profit from what earlier ones learned
  // What winners are compared with besides the baseline, when they are certified.
  std::vector<std::string> also_against = {"compile"};
  int certify_attempts = 3;  // kernels per task that may fail certification before none is reported
  std::string skills;   // library file, JSONL or folder; "" = the user's, else the installed one
  std::string prompts;  // folder with prompts that replace installed ones
};

// All problems at once, each with file, line and remedy. `resolved` (may be null) gets the settings
// in force as TOML.
Result<RunRecipe> ReadRecipe(const config::Recipe& recipe, std::string* resolved);

// Reads the same keys for a recipe that has others besides; the caller finishes `reader`.
RunRecipe ReadRunKeys(const config::Recipe& recipe, config::RecipeReader* reader);

// Problems of the [llm] tables of `recipe`, as ReadRecipe() names them, and keys outside of them.
Status CheckLlmTables(const config::Recipe& recipe);

// How many judgements are made at once: settings, or half of `num_cores`.
int JudgePlaces(const JudgeSettings& settings, int num_cores);
int RolloutPlaces(const RunRecipe& recipe, int judge_places);

}  // namespace davinci::runs
