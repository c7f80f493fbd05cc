// The candidate's process: started, loaded, locked, let go of.
#pragma once

#include <optional>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/roles/runner.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// May its process serve other candidates, before and after it (shared_process.h)?
bool SharesProcess(const Trial& trial);
// The candidate's process lets go of it and goes back to where others get it; what became of that
// is part of the provenance.
void LetGoOfCandidate(Trial& trial, Evaluation* evaluation);
// A process for the candidate, with its source.
Status StartCandidate(Trial& trial);
// Asks that process to load it.
void PostCandidate(Trial& trial);
// Waits for the candidate's module, and serves its compilations meanwhile.
const Answer& AwaitCandidate(Candidate* candidate, const Protocol& protocol);
// Steps before and after the checks: on cpu the first one locks, on cuda the second.
Result<bool> LockEarly(Trial& trial);
Result<bool> LockLate(Trial& trial);
// From here on the process can start no others; a verdict where some are left running.
Result<bool> LockCandidate(Trial& trial);
std::optional<Failure> HelperProcesses(const Candidate& candidate);

}  // namespace davinci::judge
