// Tasks in number: seeded, parallel, with held-out splits, without near-duplicates, decontaminated.
//
// Candidate i depends on the seed and i alone; candidates are made by threads and accepted in order
// by one, so the tasks are the same for any number of threads.
//
// Splits are disjoint by construction:
//   train          no held-out family, combination or style
//   combination    the multiset of operators is held out (by its hash); families and style as train
//   family         a pattern of a held-out family; style as train
//   style          a held-out style; families and combinations as train
//   reinforcement  as combination, of other multisets: for training after the supervised one
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/data/fingerprint.h"
#include "davinci/synth/builder.h"
#include "davinci/synth/rendered_task.h"
#include "davinci/synth/style.h"

namespace davinci::synth {

enum class SplitKind { kTrain, kCombination, kFamily, kStyle, kReinforcement };
std::optional<SplitKind> ParseSplit(std::string_view name);
std::string_view SplitName(SplitKind split);
// "several" where a task is held out in two ways at once.
std::string_view SplitName(std::optional<SplitKind> split);

// Which split a task belongs to; none where it is held out in two ways at once.
std::optional<SplitKind> SplitOf(const Grammar& grammar, const Graph& graph, const Style& style);

struct SampleOptions {
  size_t count = 0;
  SplitKind split = SplitKind::kTrain;
  uint64_t seed = 0;
  int threads = 1;
  double near_duplicate = 0.9;     // rejected from this similarity on
  double contaminated = 0.8;       // the same against the given files
  size_t most_per_structure = 64;  // tasks of one graph that differ in sizes and text alone
  std::string pattern;             // only this one, when set; tasks of every split
  double mixed = 0;  // share that is drawn from patterns of families "mixed" and "mixed_long"
  double least_elements = 0;  // of all tensors of a call under the cuda sizes
  size_t most_operators = 0;  // that compute; 0: any number
  uint64_t first = 0;         // number of the first candidate
  // Files that no task may resemble (ContaminationOf); not owned, null: none.
  const fingerprint::SignatureIndex* contamination = nullptr;
  std::function<void(size_t accepted, size_t tried)> progress;  // from the calling thread
};

// Signatures of files, names ignored. Samplers may share them.
fingerprint::SignatureIndex ContaminationOf(const std::vector<std::string>& texts);

struct SampledTask {
  std::string id;
  std::optional<SplitKind> split;  // SplitOf; with SampleOptions::pattern any of them
  Graph graph{0};
  const Style* style = nullptr;
  RenderedTask text;  // its sidecar says the split
};

struct SampleCounts {
  size_t accepted = 0, tried = 0;
  std::map<std::string, size_t> families, patterns, styles, operators, precisions, rejected;
};

// Calls `take` with accepted tasks in order. Fails where the grammar is exhausted (no task accepted
// among many candidates), with what was rejected why, and where `take` fails.
Result<SampleCounts> SampleTasks(const Grammar& grammar, const StyleBook& book,
                                 const SampleOptions& options,
                                 const std::function<Status(const SampledTask&)>& take);

// A row of a task set (task/task_set.h): id, source, sidecar, and "synth" with what made it.
nlohmann::json ToJson(const SampledTask& task);
nlohmann::json ToJson(const SampleCounts& counts);

}  // namespace davinci::synth
