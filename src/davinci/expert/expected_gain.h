// How much faster a candidate should be than eager PyTorch: the teacher's counts of bytes,
// operations and launches, at the rates of a usual machine of the target. An estimate to choose
// what is worth a measurement; the judge alone says what is so.
#pragma once

#include "davinci/data/language.h"
#include "davinci/teacher/teacher.h"

namespace davinci::expert {

// Microseconds of a call.
double EstimatedTime(const teacher::Work& work, Target target);
// Eager's over the candidate's; 1 without kernels of its own.
double ExpectedGain(const teacher::Candidate& candidate, Target target);

}  // namespace davinci::expert
