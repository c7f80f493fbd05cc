// Failures of a runner: from what the kernel reports of its process, and from what it says itself,
// which only refines the former.
#pragma once

#include <nlohmann/json.hpp>

#include "davinci/base/status.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

// Of a process that gave no valid answer within `timeout_seconds`; it is ended where it lives.
// `stage`: the outcome of a death without a cause of its own.
Failure FailureOf(worker::Process& process, const Status& status, Outcome stage,
                  double timeout_seconds);
// Of {"error": …}, with an outcome that a candidate may claim for itself, else `stage`.
Failure FailureSaid(const nlohmann::json& error, Outcome stage);

// The most that is waited for an answer whose deadline is `timeout_seconds`: deadlines are put off
// by the time without a core.
double LongestWait(double timeout_seconds);
// Returns by how much a deadline is put off that has been put off by `put_off` already: the time
// for which the process, since `before`, had no core. 0: it has passed.
double PutOffFurther(const worker::Process& process, const worker::CoreTimes& before,
                     double timeout_seconds, double put_off);

}  // namespace davinci::judge
