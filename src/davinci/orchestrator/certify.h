// The winner of a task: the best kernel that holds when it is judged again.
//
// What is certified is what is exported: the stand-alone text (export_kernel.h), judged under the
// full protocol by a judge started for it alone, under new secret seeds. A kernel that fails, or is
// not significantly faster than the baseline, gives way to the next best.
#pragma once

#include <optional>
#include <string>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/judge/service.h"
#include "davinci/orchestrator/run_recipe.h"
#include "davinci/report/run_view.h"
#include "davinci/rollout/step.h"

namespace davinci::orchestrator {

struct Certifier {
  rollout::UnitLog* log = nullptr;
  judge::EvaluationService* service = nullptr;  // not asked in a replay
  std::string runtime_source;                   // davinci_runtime's text
  std::string harness_source;                   // davinci_runtime/harness.py's text
  const RunRecipe* recipe = nullptr;
  // After an interrupt only the run's own baseline is measured.
  bool hurry = false;
};

struct Certified {
  // Correct and significantly faster (data/evaluation.h), or correct where there is no device to
  // time it on.
  std::optional<report::Winner> winner;
  std::optional<report::Winner> not_faster;  // else the best correct kernel, if one held
};

// `*remark` says why there is no winner; a Status when the judge failed. The winner's explanation
// and path are filled in later.
// `trajectories` are those of the task; `best` its kernels, best first.
Result<Certified> Certify(const Certifier& certifier, int step, const rollout::TaskInput& task,
                          const std::vector<rollout::Kernel>& best,
                          const std::vector<Trajectory>& trajectories, const CancelToken& cancel,
                          std::string* remark);

// "no correct kernel in 12 replies: 4 without code, 5 mismatch, 3 compile_error".
std::string WhyNoKernel(const std::vector<Trajectory>& trajectories);

// Attainable time (AttainableMs()) over the kernel's time (medians); nothing without a roofline.
std::optional<double> RooflineShare(const Evaluation& evaluation);

// What was found and how, for people: numbers, lineage, the model's own words, and what changed
// from the first correct turn (or the reference) as a diff.
std::string Explain(const rollout::TaskInput& task, const std::vector<Trajectory>& trajectories,
                    const report::Winner& winner, store::RunStore& run);

}  // namespace davinci::orchestrator
