// The skill library of a run: a copy taken when the run began, which grows with its steps, so that
// a run depends on nothing that others change meanwhile. What it learned goes to the user's library
// at the end of each step.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rollout/settings.h"
#include "davinci/rollout/step.h"
#include "davinci/skill/library.h"

namespace davinci::orchestrator {

// Opens <run folder>/library.sqlite for writing; fills it from `source` when it is new: a library
// file (*.sqlite), a JSONL file or a folder of skills; "" = an empty library. Killed half way, the
// copy is made again.
Result<std::unique_ptr<skill::Library>> OpenRunLibrary(const std::filesystem::path& run_folder,
                                                       const std::string& source);

// What one step learned: admitted skills with their evidence, and how skills fared. Keys are the
// proposals' ids. `run_name` goes into the evidence.
struct Learned {
  std::vector<skill::Staged> skills;
  skill::StagedUsage usage;
};
Learned CollectLearned(const std::vector<rollout::TaskOutcome>& outcomes,
                       const rollout::StepSettings& settings, const std::string& run_name);

// Into the run's library, atomically, as its `step` (from 1). Doing it twice is doing it once.
Result<skill::FlushResult> FlushStep(skill::Library& library, int64_t step, const Learned& learned);

// Into the user's library as its next step. Unavailable when another process writes it.
Result<skill::FlushResult> Publish(const std::filesystem::path& library_file,
                                   const std::string& run_name, const Learned& learned);

}  // namespace davinci::orchestrator
