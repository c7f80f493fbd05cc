// davinci judge --batch: many evaluations in flight, results as they finish.
//
// With `out_path` the next start skips jobs whose verdict is already in it (runs/batch_results.h).
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "commands.h"
#include "davinci/judge/judge.h"
#include "installation.h"
#include "judging.h"

namespace davinci::app {

struct BatchOptions {
  std::string jobs_path;
  std::string out_path;       // empty: results are only printed
  int in_flight = 0;          // evaluations at a time; 0 = half the cores
  bool json = false;          // one compact JSON document per line on stdout, also on a terminal
  judge::JobFiles defaults;   // for keys a line leaves out
  std::string export_folder;  // correct candidates as files for the user, ID.py; empty: none
  const Installation* installation = nullptr;  // not owned; of the export
  // Job by job, what has to be correct first: the id of another job. A job whose condition is known
  // and not correct is left out. A task's jobs are judged in the order of the file by one worker;
  // others that help with its last jobs may not know the condition yet.
  std::map<std::string, std::string> conditions;
};

// 0 every job was judged, 2 some line was bad input, 3 anything else (our failure, interrupted,
// results not written).
int RunBatch(const BatchOptions& options, JudgeSetup setup);

// As RunBatch() of `folder`'s jobs.jsonl into its results.jsonl, or why no judge is found.
Result<int> RunBatchIn(const std::filesystem::path& folder, BatchOptions options,
                       const GlobalOptions& global);

}  // namespace davinci::app
