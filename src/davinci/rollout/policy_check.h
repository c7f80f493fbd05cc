// Demands that a task makes of its candidates besides being right: a kernel of their own, the
// language that the user named, and a paper's static rules. The judge's verdict stays what it is in
// the journal; the turn shows the violation.
#pragma once

#include <optional>
#include <string_view>

#include "davinci/data/evaluation.h"
#include "davinci/rollout/settings.h"

namespace davinci::rollout {

// The violation of a candidate that need not be judged: written in another language than the task
// asks for (`asked`), under `require_language`; with what `static_rules` forbid; under the protocol
// "staged" also a text without a kernel where `require_own_kernel` asks for one. Nothing otherwise.
// `code`: what the model wrote.
std::optional<Evaluation> RefuseUnjudged(const StepSettings& settings, Language asked,
                                         Language written_in, std::string_view code);

// Labels a candidate that is only PyTorch; with `require_own_kernel` a correct one becomes a policy
// violation without a speedup.
void ApplyPolicy(const StepSettings& settings, Language asked, Language written_in,
                 Evaluation* evaluation);

}  // namespace davinci::rollout
