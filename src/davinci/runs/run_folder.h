// A run on disk: what its header says, and whether a command may go on with it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/runs/run_recipe.h"
#include "davinci/store/run_store.h"
#include "davinci/task/task_set.h"

namespace davinci::runs {

// What a run is about. Written as the first line of its journal, never changed.
struct RunHeader {
  std::string command;  // "optimize", "bench"
  std::string title;
  std::string version;    // of davinci
  bool recorded = false;  // replies come from a recording
  double created_unix_s = 0;
  std::vector<task::TaskEntry> tasks;  // `source` holds the reference's text, also of files
  std::map<std::string, std::string> identity;  // run_recipe.h, plus "llm"
};

// A task as a run keeps it; its texts are blobs under their SHA-256. TaskFromRecord throws
// json::exception where a member is missing.
nlohmann::json TaskRecord(const task::TaskEntry& task);
Result<task::TaskEntry> TaskFromRecord(const nlohmann::json& record, store::RunStore& run);

// Where training keeps the units of held-out tasks, behind every segment that is trained on.
inline constexpr int kFirstHeldOutSegment = 50000000;

nlohmann::json ToJson(const RunHeader& header);
Result<RunHeader> HeaderFrom(store::RunStore& run);

// The reference's text of every entry that is a file, so that a run needs the file no longer.
Status KeepSources(std::vector<task::TaskEntry>* tasks);

// Entries that are files keep their path; rows become files below `folder`/tasks.
Status PlaceTaskRows(const std::filesystem::path& folder, std::vector<task::TaskEntry>* entries);

// "davinci-runs/softmax_rows-1a2b3c4d": the same question gives the same folder, so that the same
// command goes on where it was stopped.
std::filesystem::path DefaultRunFolder(const RunHeader& header);

// Creates the run or goes on with it. InvalidArgument when the folder holds another run: names the
// settings or tasks that differ.
Result<std::unique_ptr<store::RunStore>> OpenRun(const std::filesystem::path& folder,
                                                 const RunHeader& header,
                                                 const std::string& resolved_recipe);

// The recipe a run was made with (RUN/recipe.toml).
Result<RunRecipe> RecipeOf(const std::filesystem::path& folder, std::string* resolved);

// "softmax/rows" -> "softmax_rows": usable as a file name, different for different ids.
std::string FileNameFor(const std::string& task_id);

}  // namespace davinci::runs
