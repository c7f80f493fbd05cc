// What a request must be to be worked on: its settings and sizes against the engine's facts. No
// torch.
#pragma once

#include <span>

#include "davinci/base/status.h"
#include "davinci/model/engine.h"

namespace davinci::model {

// kInvalidArgument, and which value is wrong.
Status CheckGeneration(const Generation& generation, const EngineFacts& facts);
// All inside the vocabulary.
Status CheckTokens(std::span<const TokenId> tokens, const EngineFacts& facts);
// A text whose logits are wanted.
Status CheckText(std::span<const TokenId> tokens, const EngineFacts& facts);

}  // namespace davinci::model
