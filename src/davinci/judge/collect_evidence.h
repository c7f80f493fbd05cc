// Evidence and conclusion of a trial: what happened, from whom we know it, and the verdict.
#pragma once

#include "davinci/data/evaluation.h"
#include "davinci/judge/trial.h"

namespace davinci::judge {

void CollectEvidence(Trial& trial);
Evaluation Conclude(Trial& trial);

}  // namespace davinci::judge
