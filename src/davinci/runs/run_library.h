// The skill library of a run: a copy taken when the run began, which grows with its steps, so that
// a run depends on nothing that others change meanwhile. What it learned goes to the user's library
// at the end of each step.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rollout/settings.h"
#include "davinci/rollout/step.h"
#include "davinci/skill/library.h"

namespace davinci::runs {

// Opens <run folder>/library.sqlite for writing; fills it from `sources` when it is new, with
// evidence, statistics and states (skill/library_in_force.h); none = an empty library. Killed half
// way, the copy is made again.
Result<std::unique_ptr<skill::Library>> OpenRunLibrary(const std::filesystem::path& run_folder,
                                                       const std::vector<std::string>& sources);

// How the skills of one task fared, added to `usage`. A scheme's value is the mean over rollouts of
// their best speedup (0: none correct), over as many complete rollouts as the distinct scheme with
// fewest has: rollouts that identical schemes left to others would make a maximum, or a longer
// mean, look better. A skill's uplift is the mean value of the schemes with it over that of the
// schemes without it, the null scheme among them, bounded to [1/10, 10]; it wins when the best
// scheme has it and no scheme without it is as good.
void CountUsage(const rollout::TaskOutcome& outcome, std::map<std::string, skill::Usage>* usage);

// What one step learned: admitted skills with their evidence, and how skills fared. Keys are the
// proposals' ids. `run_name` goes into the evidence. `library`: the run's, for what a skill was
// worth that a better version replaces; may be null.
struct Learned {
  std::vector<skill::Staged> skills;
  skill::StagedUsage usage;
};
Learned CollectLearned(const std::vector<rollout::TaskOutcome>& outcomes,
                       const rollout::StepSettings& settings, const std::string& run_name,
                       skill::Library* library);

// Into the run's library, atomically, as its `step` (from 1). Doing it twice is doing it once.
Result<skill::FlushResult> FlushStep(skill::Library& library, int64_t step, const Learned& learned);

// Into the user's library as its next step. Unavailable when another process writes it.
Result<skill::FlushResult> Publish(const std::filesystem::path& library_file,
                                   const std::string& run_name, const Learned& learned);

}  // namespace davinci::runs
