// Regions that reduce a tensor whose axes lie in another order in memory (a transposed input): they
// run through it as it lies, instead of through a copy. Pure.
#pragma once

#include "davinci/teacher/regions/fusion.h"

namespace davinci::teacher {

// Turns the region's order of axes, and the axes of its placements, where all of its tensors then
// lie in that order; `turned` names the leaves. Else the region stays as it is.
void FollowMemory(const Program& program, Region* region);

}  // namespace davinci::teacher
