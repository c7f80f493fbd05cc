// Which values one kernel computes. Pure: the same program and rules give the same regions.
#pragma once

#include "davinci/teacher/program/program.h"
#include "davinci/teacher/regions/region.h"

namespace davinci::teacher {

// Without rules a region holds what one operator of the graph computes. Adds sizes to the program:
// parts of axes that a reshape splits.
Plan Fuse(Program* program, const RuleSet& rules);

}  // namespace davinci::teacher
