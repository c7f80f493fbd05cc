// What a task asks of its candidates besides being right: a kernel of their own, and the language
// the user named. The judge's verdict stays what it is in the journal; the turn shows the
// violation.
#pragma once

#include <optional>

#include "davinci/data/evaluation.h"
#include "davinci/rollout/settings.h"

namespace davinci::rollout {

// The violation of a candidate that need not be judged: written in another language than the one
// that `require_language` asks for; under the protocol "staged" also a text without a kernel where
// `require_own_kernel` asks for one. Nothing otherwise.
std::optional<Evaluation> RefuseUnjudged(const StepSettings& settings, Language written_in);

// Labels a candidate that is only PyTorch; with `require_own_kernel` a correct one becomes a policy
// violation without a speedup.
void ApplyPolicy(const StepSettings& settings, Language written_in, Evaluation* evaluation);

}  // namespace davinci::rollout
