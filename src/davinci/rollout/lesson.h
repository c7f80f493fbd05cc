// What learning.cc finds and skill_trials.cc tests. Internal to rollout/.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "davinci/rollout/step_run.h"

namespace davinci::rollout {

// The pair of turns that a summary explains.
struct Lesson {
  int index = 0;  // of the task's first lesson under the same skills: they share control samples
  const Trajectory* trajectory = nullptr;
  size_t first = 0;
  size_t best = 0;
  Evaluation first_evaluation;
  Evaluation best_evaluation;
};

// A proposal on trial.
struct Trial {
  const SkillProposal* proposal = nullptr;
  const Lesson* lesson = nullptr;
  // The skill of the same name that it would replace; the control arm has that one. "" = a new
  // skill.
  bool is_version = false;
  // Every other pair is taken on this task; null: none fits.
  const TaskInput* second = nullptr;
};

// The other task of the step that a skill speaks about most: it shares the most words of the
// skill's name, tags and category with the identifiers of its reference. Null when none shares any.
const TaskInput* SecondTask(const SkillProposal& proposal, const TaskInput& own,
                            const std::vector<TaskInput>& tasks);

// The paired experiments of one task, side by side; pairs of each one after another until
// agent::DecideAdmission has decided. Control samples that several experiments need are taken once,
// and their cost stands in the first experiment that has them. `verifications` gets those that were
// decided, in the order of `trials`; the Status is the first failure.
Status RunTrials(StepRun& run, TaskRun& task, const std::vector<Trial>& trials,
                 std::vector<Verification>* verifications);

}  // namespace davinci::rollout
