// What a call returned: where it lies, whether it is its own, and how the oracle reads it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/call.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/roles/oracle.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {

// Whether a call returned what it must, and how the oracle finds it; on cpu it is copied there.
std::optional<Failure> LocateOutputs(Trial& trial, const Timed& timed, CallResult* call,
                                     int variant, nlohmann::json* layout);
// Which outputs are the caller's once returned: in memory of their own, to be overwritten.
std::vector<size_t> NotLent(const std::vector<OutputTensor>& outputs, const VariantFacts& facts);
// The oracle's first look at outputs on the device, and leave to overwrite them before it draws
// the next inputs. `own`: positions of those that are the caller's (NotLent).
to_oracle::Settle SettleRequest(const Candidate& candidate, SecretStream* secret,
                                const Timed& timed, const nlohmann::json& layout,
                                const std::vector<size_t>& own);
// A violation where an output was not in memory of its own, in some call so far.
std::optional<Failure> SharedOutput(const Candidate& candidate);
// The failure behind an oracle that could not look at a runner's outputs.
Result<std::optional<Failure>> UnreadableOutput(const Session& session, const Status& status);
// Locates the outputs; on cuda the oracle takes a first look at them, too.
Result<std::optional<Failure>> CollectOutputs(Trial& trial, Timed* timed, CallResult* call,
                                              int variant, nlohmann::json* layout);

}  // namespace davinci::judge
