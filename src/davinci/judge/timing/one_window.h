// One window of a runner: armed, let go, looked at, verified.
#pragma once

#include <nlohmann/json.hpp>

#include "davinci/base/status.h"
#include "davinci/judge/roles/oracle.h"
#include "davinci/judge/roles/runner.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/timed_pairs.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// The two halves of a window on the inputs `drawn`: its process prepares its arguments; it is let
// go. `pair`: where the publishing's time goes.
void BeginWindow(Trial& trial, Timed* timed, const WindowKind& kind,
                 const from_oracle::Drawn& drawn);
Result<CallResult> FinishWindow(Trial& trial, Timed* timed, const WindowKind& kind,
                                const from_oracle::Drawn& drawn, TimedPair* pair);
// Do two calls of a window return the same memory, as a captured graph does?
bool ReturnsOneMemory(const CallResult& call, const VariantFacts& facts);
// The oracle's first look at what a window has left behind; `layouts`: of its calls.
Result<bool> LookAtWindow(Trial& trial, Timed* timed, const WindowKind& kind, CallResult* call,
                          nlohmann::json* layouts);
// Compares every call of both windows; with `full_check` one of them with truth.
Result<bool> VerifyWindow(Trial& trial, const TimedPair& pair, const nlohmann::json (&layouts)[2],
                          bool last_is_ours, bool full_check);

}  // namespace davinci::judge
