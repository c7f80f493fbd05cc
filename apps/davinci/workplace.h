// What optimize and bench work with: recipe and flags resolved, model, judge, prompts, library.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "davinci/base/status.h"
#include "davinci/expert/expert_author.h"
#include "davinci/gpu/device.h"
#include "davinci/judge/judge_pool.h"
#include "davinci/llm/openai_client.h"
#include "davinci/runs/run_loop.h"
#include "installation.h"

namespace davinci::app {

// Flags that both commands have. An empty or negative value was not given.
struct RunFlags {
  std::vector<std::string> defaults;  // of the command, "a.b=c"; recipes and flags win
  std::vector<std::string> recipes;
  std::vector<std::string> sets;  // "a.b=c"
  std::string target;
  std::string language;
  std::vector<std::string> shapes;  // "ROWS=1024,COLS=77"
  std::string hints;                // text, or @FILE
  std::vector<std::string> llm;     // URLs, "recorded:FILE", "embedded"
  std::string model;
  std::vector<std::string> llm_headers;  // "Name: value"
  std::vector<std::string> llm_body;     // "KEY=VALUE"
  std::string llm_proxy;
  std::string strategy;
  // In the place of --llm: a backbone made by the command, and what of it decides a run's content.
  std::shared_ptr<llm::Backbone> backbone;
  std::string backbone_identity;
  bool expert_by_default = false;  // without a model the expert writes the kernels
  std::string record;              // file that replies are recorded to
  std::string library;             // skills
  int turns = -1;
  int rollouts = -1;
  int schemes = -1;
  double budget_usd = -1;
  double budget_minutes = -1;
  int64_t max_calls = -1;
  std::string run;
  std::string replay;
  bool learn = false;
  bool publish = true;  // what is learned enters the user's library, too
  bool json = false;
  bool no_sandbox = false;
  std::vector<davinci::Target> further_targets;  // of tasks, besides the recipe's
};

// The text of prompts about the device of a target, which is the first of `described`.
agent::DeviceFacts FactsOf(davinci::Target target, int num_cores,
                           const std::vector<gpu::DeviceInfo>& described);

void AddRunFlags(CLI::App* command, RunFlags* flags);

struct ResolvedRecipe {
  runs::RunRecipe recipe;
  std::string toml;
  bool expert_by_default = false;   // nothing named a model
  bool concurrency_is_set = false;  // llm.concurrency, by a recipe or flag
};
// The user's configuration (runs/user_config.h), recipe files, --set, then flags; the later
// one wins.
Result<ResolvedRecipe> ResolveRecipe(const RunFlags& flags);

// Owns everything that runs::RunParts points to.
struct Workplace {
  Installation installation;
  std::unique_ptr<llm::Ledger> ledger;
  std::shared_ptr<llm::Backbone> backbone;
  std::vector<std::unique_ptr<llm::Backbone>> role_backbones;  // of [llm.ROLE]
  std::unique_ptr<llm::Backbone> recorder;                     // around backbone, with --record
  std::vector<const llm::OpenAiClient*> clients;               // those of the above at endpoints
  std::function<void(const std::string&)> on_notice;           // of the clients; may be empty
  std::vector<gpu::DeviceInfo> judging;                        // the GPUs that judge
  std::vector<gpu::DeviceInfo> described;                      // `judging`, or if none does, all
  std::unique_ptr<judge::JudgePool> judges;
  // `judges`, for who is made before them and outlives a move of this.
  std::shared_ptr<judge::JudgePool*> pool = std::make_shared<judge::JudgePool*>(nullptr);
  std::unique_ptr<expert::ExpertAuthor> author;  // null: no rollout of the expert's
  std::unique_ptr<agent::PromptSet> prompts;
  std::unique_ptr<store::KvCache> verdict_cache;
  runs::RunParts parts;
  std::string llm_identity;  // what of the model decides a run's content
  bool recorded = false;
  int default_concurrency = 0;  // of the model, where it has one (embedded: its batch)
  std::vector<std::string> library_sources;
  std::string publish_library;
};

// Checks everything that can be checked before work begins: the endpoint answers and knows the
// model, the interpreter exists, prompts are complete.
// `on_notice` gets what comes up later about the endpoints (llm/openai_client.h).
Result<Workplace> OpenWorkplace(const RunFlags& flags, const runs::RunRecipe& recipe,
                                const GlobalOptions& global,
                                std::function<void(const std::string&)> on_notice);

// Opens the workplace and carries the run out in it. `request` comes with the command, title and
// tasks in its header and with what only its command knows; the rest is filled in here.
Result<runs::RunResult> ExecuteIn(const RunFlags& flags, const ResolvedRecipe& resolved,
                                  const GlobalOptions& global, runs::RunRequest request,
                                  const runs::RunEvents& events);

}  // namespace davinci::app
