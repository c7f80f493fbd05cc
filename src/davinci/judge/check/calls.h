// One call of a runner: inputs drawn, armed, published, called.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/status.h"
#include "davinci/judge/roles/oracle.h"
#include "davinci/judge/roles/oracle_replies.h"
#include "davinci/judge/roles/runner.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// A GPU's host has cores to spare: for this long it waits without sleeping. On the cpu target the
// spinning core would be taken from the candidate.
inline constexpr double kSpinSeconds = 0.05;

// That the oracle spent on what it answers.
int64_t Nanoseconds(const nlohmann::json& answer);

// Draws inputs; where `truth` is asked for, what is right for them is computed, too.
Result<from_oracle::Prepared> PrepareInputs(Trial& trial, const to_oracle::Prepare& asked);
// Arming for a call on a slot of the arena drawn anew, which `inputs` note.
to_runner::Arm ArmMessage(DrawnInputs* inputs, SecretStream* secret, const Timed& timed,
                          const VariantFacts& facts, const std::string& args);
// Lets an armed runner see the drawn inputs.
to_oracle::Publish PublishRequest(const DrawnInputs& inputs, const Timed& timed,
                                  const VariantFacts& facts);
// Calls a runner whose inputs are there. `gated`: it gives the device up while it compiles.
Result<CallResult> CallPublished(Trial& trial, Timed* timed, bool gated);
// Arms a runner and calls it.
Result<CallResult> ArmAndCall(Trial& trial, Timed* timed, int variant, const std::string& args);
// Calls of a runner by itself, for so long, on its last inputs: {"ms": of the fastest}.
Answer CallHot(const DrawnInputs& inputs, const Timed& timed, double seconds,
               double timeout_seconds);

}  // namespace davinci::judge
