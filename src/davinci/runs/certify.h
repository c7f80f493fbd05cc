// The winner of a task: the best kernel that holds when it is judged again.
//
// What is certified is what is exported: the stand-alone text (export_kernel.h), judged under the
// full protocol by a judge started for it alone, under new secret seeds. The exported file itself
// is then called once, and its guard must run the kernel. A measurement that decides nothing
// (SpeedFinding::kNotDecided) is repeated, at most kCertificationMeasurements times in one process.
// A kernel that fails, that its export does not run, or that turns out not to be faster than the
// baseline, gives way to the next best; one that is not decided ends the search. What was checked
// without a device (compile_only) is never certified.
//
// A run whose certification decided nothing is measured again by every process that carries it
// out; nothing of that asks a model.
#pragma once

#include <optional>
#include <string>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/judge/service.h"
#include "davinci/report/run_view.h"
#include "davinci/rollout/step.h"
#include "davinci/runs/export_kernel.h"
#include "davinci/runs/run_recipe.h"

namespace davinci::runs {

inline constexpr int kCertificationMeasurements = 3;

struct Certifier {
  rollout::UnitLog* log = nullptr;
  judge::EvaluationService* service = nullptr;  // not asked in a replay
  ExportParts parts;                            // without the reference's text
  const RunRecipe* recipe = nullptr;
  // After an interrupt only the run's own baseline is measured, and once.
  bool hurry = false;
  // Measures again what was decided, too. The latest measurement that decides counts.
  bool again = false;
};

struct Certified {
  // Correct and significantly faster (data/evaluation.h).
  std::optional<report::Winner> winner;
  // Else the best correct kernel that the machine was too busy to measure, and the best one that
  // was measured and is not faster.
  std::optional<report::Winner> not_decided;
  std::optional<report::Winner> not_faster;
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

// Why kernels that were checked without a device have no winner among them; "" where none was.
std::string WhyNotCertified(const std::vector<Trajectory>& trajectories);

// Attainable time (AttainableMs()) over the kernel's time (medians); nothing without a roofline.
std::optional<double> RooflineShare(const Evaluation& evaluation);

// What was found and how, for people: numbers, lineage, the model's own words, and what changed
// from the first correct turn (or the reference) as a diff.
std::string Explain(const rollout::TaskInput& task, const std::vector<Trajectory>& trajectories,
                    const report::Winner& winner, store::RunStore& run);

}  // namespace davinci::runs
