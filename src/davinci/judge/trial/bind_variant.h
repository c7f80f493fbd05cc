// A shape variant in a runner: described, built, given weights, bound to its inputs.
#pragma once

#include <optional>

#include "davinci/base/status.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/roles/oracle.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// The oracle's description of a variant, asked for once in a session.
Result<const VariantFacts*> FactsOf(Trial& trial, int variant);
// Builds variant `variant` in a runner, gives it the reference's weights and binds its input
// arena.
Result<std::optional<Failure>> BindVariant(Trial& trial, Timed* timed, int variant);

}  // namespace davinci::judge
