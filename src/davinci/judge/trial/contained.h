// The end of a trial, however it ends: nothing that a candidate sends ends the process that judges
// others, the candidate's process is let go of, and the session given back.
#pragma once

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

Result<Evaluation> Contained(Trial& trial, Result<Evaluation> (*steps)(Trial&));

}  // namespace davinci::judge
