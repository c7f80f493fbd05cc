// Evidence and conclusion of a trial: what happened, from whom we know it, and the verdict.
#pragma once

#include "davinci/data/evaluation.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// What the processes can still be asked, profiles and labels; nothing of it changes the verdict.
void CollectEvidence(Trial& trial);
// The Evaluation, moved out of the report.
Evaluation Conclude(Trial& trial);

}  // namespace davinci::judge
