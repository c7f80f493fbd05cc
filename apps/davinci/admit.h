// davinci judge --admit: which wrong answers would pass on these tasks, and what are their inputs?
#pragma once

#include <string>
#include <vector>

#include "davinci/judge/judge.h"

namespace davinci::app {

// Asks about every task, one after the other, and prints two tables or, with `json`, one document
// of schema "davinci.admission/1" with an entry per task. A task that cannot be loaded gets an
// entry with "error" and the rest goes on. Exit status: 0, 2 when some task could not be asked
// about, 3 when the judge did not start.
int RunAdmit(const std::vector<std::string>& tasks, Target target,
             const judge::JudgeOptions& options, bool json);

}  // namespace davinci::app
