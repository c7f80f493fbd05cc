// Drawing one token from logits. Pure: the noise of (seed, position) is hashed, not drawn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davinci/model/engine.h"

namespace davinci::model {

// In [0, 1), with 24 random bits, for the token at `position` (the prompt's first token has 0).
float Noise(uint64_t seed, int64_t position);

// Reused between calls, so that drawing allocates nothing.
struct DrawScratch {
  std::vector<float> allowed;  // logits of a filtered row
  std::vector<float> weights;
  std::vector<TokenId> order;
};

// Draws from softmax(logits / temperature) restricted as `sampling` says: the first token, in order
// of ids, at which the cumulated probability exceeds `noise`. Ties at the edge of a restriction are
// broken by the lower id. `logits` is not empty and has at least one finite value. Any bits of
// logits give a token inside the vocabulary, and one that is allowed (TokenFilter::Allowed; empty:
// all are).
Step Draw(std::span<const float> logits, const Sampling& sampling, float noise,
          int num_alternatives, DrawScratch* scratch, std::span<const uint64_t> allowed = {});

// True where `allowed` has the token.
inline bool IsAllowed(std::span<const uint64_t> allowed, size_t token) {
  return token / 64 < allowed.size() && (allowed[token / 64] >> (token % 64) & 1) != 0;
}

}  // namespace davinci::model
