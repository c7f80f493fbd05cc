// The loop of `davinci optimize` and `davinci bench`. The front header of this module.
//
//   open the run -> tasks -> library -> for each step: roll out, flush what was learned
//   -> certify winners -> export, results, report
//
// Everything goes through the run store (store/run_store.h): killed anywhere, the same call goes on
// behind the last finished unit and ends with the same run. A replay walks the same path with the
// journal in the place of model and judge, and writes nothing into the run.
//
// Never: loses a paid reply, reports a winner that was not judged again, lets one task's failure
// end another's work.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "davinci/agent/prompt_set.h"
#include "davinci/base/status.h"
#include "davinci/llm/ledger.h"
#include "davinci/report/run_view.h"
#include "davinci/rollout/step.h"
#include "davinci/runs/run_folder.h"
#include "davinci/runs/run_recipe.h"
#include "davinci/runs/stages.h"
#include "davinci/store/kv_cache.h"

namespace davinci::runs {

struct RunRequest {
  RunHeader header;
  RunRecipe recipe;
  std::string resolved_recipe;  // TOML
  std::filesystem::path folder;
  std::map<std::string, int> rollouts;       // per scheme of single tasks, instead of the recipe's
  std::map<std::string, std::string> start;  // kernels to start from, by task: source
  bool winners = true;                       // certify and export the best kernel of each task
  bool recertify = false;  // the steps are replayed, and their best kernels are certified anew
  std::filesystem::path export_folder;       // "" = <folder>/results
  std::vector<std::string> library_sources;  // what the run's library is filled from; none = empty
  std::filesystem::path publish_library;     // what was learned goes there, too; "" = nowhere
};

// What the loop works with. Not owned.
struct RunParts {
  rollout::Backbones backbones;
  llm::Ledger* ledger = nullptr;  // the backbone's; restored from the journal
  judge::Judges* judges = nullptr;
  const agent::PromptSet* prompts = nullptr;
  agent::DeviceFacts device;
  store::KvCache* verdict_cache = nullptr;  // may be null
  std::string runtime_source;               // python/davinci_runtime, for exports
  std::string guard_source;                 // python/davinci_runtime/guard.py, likewise
  std::string harness_source;               // python/davinci_runtime/harness.py, likewise
  int num_cores = 1;
  // Fills the briefs' steps (agents.task = "steps"); empty: prompts show files.
  std::function<void(std::vector<rollout::TaskInput>*)> add_steps;
  // Called with the tasks before the first rollout: may set their numbers of rollouts and the
  // kernels to start from; an error ends the run before it begins. May be empty.
  std::function<Status(std::vector<rollout::TaskInput>*)> prepare_tasks;
  // Writes a rollout of each task without a model, or all of them (rollout/step.h); may be null.
  const rollout::RuleAuthor* author = nullptr;
  bool author_alone = false;
  // What the user should know about the models (OpenAiClient::Notices); may be empty.
  std::function<std::vector<std::string>()> notices;
};

struct RunResult {
  report::RunView view;
  std::vector<std::pair<std::string, Status>> failed_tasks;
  // Why it stopped before its work was done; kFailed with `trouble` when nothing could go on.
  std::optional<TrajectoryEnd> stopped;
  Status trouble;
  std::vector<std::string> notices;  // fields that an endpoint refused, endpoints left out
  std::vector<std::string> learned;  // skills that entered the library
  LlmCost cost;                      // of the whole run
  RunStages stages;
  bool finished() const { return !stopped && failed_tasks.empty() && view.finished; }
};

// Events of the loop itself, besides those of its steps.
struct RunEvents {
  rollout::Observer step;
  std::function<void(const std::string&)> note;  // one line for people
};

Result<RunResult> ExecuteRun(RunRequest request, const RunParts& parts, rollout::StopFlag* stop,
                             const RunEvents& events);

// Measures the best kernels of the run in `folder` again, replaying all else: no model is asked.
// InvalidArgument where the run has no certification, or a task file has changed since.
Result<RunResult> RecertifyRun(const std::filesystem::path& folder,
                               const std::filesystem::path& export_folder, const RunParts& parts,
                               rollout::StopFlag* stop, const RunEvents& events);

// The finished (or unfinished) run in `folder` once more, from its journal.
Result<RunResult> ReplayRun(const std::filesystem::path& folder, const RunEvents& events);

// The document of --json, schema "davinci.run_result/1".
nlohmann::json ToJson(const RunResult& result);

}  // namespace davinci::runs
