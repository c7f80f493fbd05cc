// Several candidates, one after the other, in one process: a context on a device costs more than
// all else of a small candidate, and the driver makes few of them a second.
//
// A shared process gives up what a process of one's own guarantees: an earlier candidate may have
// left something behind. Three rules bound that (docs/judge.md, "Staged"):
//   text      only plain texts share: known imports, no names by which Python reaches beyond its
//             own module, no native code of the host (MayShareProcess)
//   state     the process lets go of each candidate and compares itself with what it was before
//             the first (process_state.py); any difference ends it
//   verdict   what is suspicious is judged again in a process of its own (WhyJudgedAlone)
#pragma once

#include <string>
#include <string_view>

#include "davinci/data/evaluation.h"
#include "davinci/data/prelude.h"

namespace davinci::judge {

// May a candidate of this text run in a process that others use, before or after it? Triton and
// CUDA kernels through davinci_runtime; anything unknown is a no. What stands in it as in the
// prelude is known; `prelude` may be null.
bool MayShareProcess(std::string_view text, const Prelude* prelude);

// The prelude of the package at `python_path`, read once; null where there is none.
const Prelude* InstalledPrelude(const std::string& python_path);

// Why a verdict from a shared process (provenance.process) has to be had again from a process of
// its own; empty where it stands.
std::string WhyJudgedAlone(const Evaluation& evaluation);

// Speedups from here on are suspicious in a process that served another candidate.
inline constexpr double kSuspiciousSpeedup = 10;
// Candidates of one process.
inline constexpr int kMostServed = 16;

}  // namespace davinci::judge
