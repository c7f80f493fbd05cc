// What a call has left behind, as the oracle is asked about it, and what its answer means.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "davinci/judge/roles/failure.h"
#include "davinci/judge/roles/oracle_replies.h"
#include "davinci/judge/roles/oracle_requests.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// One look at everything a call has left behind: outputs against the baseline's or truth (or
// both), inputs intact, and on cuda no store after the runner said done.
to_oracle::Verify VerifyRequest(const Trial& trial, const nlohmann::json& layout,
                                const nlohmann::json& baseline_layout, bool against_truth,
                                bool samples_are_the_candidates);
// What a call has left behind against truth.
to_oracle::Compare CompareRequest(const DrawnInputs& inputs, const Timed& timed,
                                  const nlohmann::json& layout);
// A call's violation besides a wrong answer: it wrote after its end, or changed an input.
std::optional<Failure> WhatBroke(const from_oracle::Verified& found);
// Did the process work while it should have been stopped before its last call?
std::optional<Failure> CheckOutside(const Trial& trial, const Timed& timed);
Failure WorkedWhileStopped(double cpu_seconds);
// The failure that a comparison stands for.
Failure MismatchFailure(const Trial& trial, const nlohmann::json& comparison,
                        const std::string& distribution, int variant);

}  // namespace davinci::judge
