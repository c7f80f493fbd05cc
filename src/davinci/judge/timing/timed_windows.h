// Time on a device: windows of several calls in a full queue, held against windows that are the
// same but for the calls (docs/judge-internals.md, "Time of record on cuda").
#pragma once

#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/trial/timed_pairs.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// A window of each side on the same inputs, every output verified; `into`: where its times go, if
// anywhere.
Result<bool> MeasureWindows(Trial& trial, const WindowKind& kind, bool baseline_first,
                            bool full_check, std::vector<TimedPair>* into);
// Plans windows, with some that are of no record: memory is asked for, outputs are described.
Result<bool> WarmWindows(Trial& trial);
// What corroborates: calls alone, and from an idle queue, where they are due.
Result<bool> Corroborate(Trial& trial, bool baseline_first);
// Measures more windows of one call and more latencies, and decides the charge by them.
Result<bool> ConfirmCharge(Trial& trial);

}  // namespace davinci::judge
