// davinci judge --repeat and --against: several judgements of one candidate, or of two in turn.
#pragma once

#include <string>

#include "davinci/judge/judge.h"
#include "judging.h"

namespace davinci::app {

struct RepeatOptions {
  int times = 1;
  std::string against;       // candidate file B; "" = none
  std::string name;          // of the candidate, as the user wrote it
  std::string against_name;  // likewise of B
  bool json = false;
};

// Judges `job` `times` times, each under new secret seeds, in turn with the same task's candidate
// `against` where there is one. A over B is the ratio of their speedups over the same baseline,
// pair by pair, so that a machine that grows slower in between does not count. Prints a line per
// judgement and a summary, or one document "davinci.repeat/1". Exit status as `davinci judge`: the
// first judgement that is not correct decides.
int RunRepeated(const judge::JobFiles& job, const std::shared_ptr<const task::Task>& task,
                const JudgeSetup& setup, const RepeatOptions& repeat);

}  // namespace davinci::app
