// The candidate's process: started, loaded, locked, let go of.
#pragma once

#include <optional>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/failure.h"
#include "davinci/judge/runner.h"
#include "davinci/judge/trial.h"

namespace davinci::judge {

bool SharesProcess(const Trial& trial);
// The candidate's process lets go of it and goes back to where others get it; what became of that
// is part of the provenance.
void LetGoOfCandidate(Trial& trial, Evaluation* evaluation);
// A process for the candidate and its source; what it is asked to load.
Status StartCandidate(Trial& trial);
void PostCandidate(Trial& trial);
// Waits for the candidate's module, and serves its compilations meanwhile.
const Answer& AwaitCandidate(Trial& trial);
Result<bool> LockEarly(Trial& trial);
Result<bool> LockLate(Trial& trial);
Result<bool> LockCandidate(Trial& trial);
std::optional<Failure> HelperProcesses(const Candidate& candidate);

}  // namespace davinci::judge
