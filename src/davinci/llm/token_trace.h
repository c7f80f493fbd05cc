// TokenTrace: what a model read and drew, token by token; what training learns from.
//
// Stored as a binary blob of its own. The trace of an append-only conversation's turn stores only
// what lies behind the turn before; `Continues()` says how much that is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::llm {

using TokenId = int32_t;

struct TokenTrace {
  std::vector<TokenId> prompt_tokens;  // all of the prompt, as the model read it
  std::vector<TokenId> output_tokens;  // as drawn; the token that ended the turn is the last one
  // Natural logarithm of the probability of each output token under the distribution it was drawn
  // from: after temperature, top-k, top-p, min-p. Empty: not asked for; else one per output token.
  std::vector<float> logprobs;
  // What drew them, SHA-256 in hex: the weights (adapters included), the tokenizer, the chat
  // template.
  std::string weights_digest;
  std::string tokenizer_digest;
  std::string template_digest;
  int64_t update = 0;  // how many times training has changed the weights

  bool operator==(const TokenTrace&) const = default;
};

// prompt_tokens + output_tokens: what a continued conversation begins with.
std::vector<TokenId> AllTokens(const TokenTrace& trace);

// Does `later` begin with all tokens of `earlier`? The invariant of append-only conversations.
bool Continues(const TokenTrace& later, const TokenTrace& earlier);

// As bytes: "DVTT" and the version, counts, then ids and log-probabilities, little endian, 4 bytes
// each. The first `skip` prompt tokens are left out (they are another trace's). InvalidArgument
// when there are fewer, or when the number of logprobs is neither 0 nor that of the output tokens.
Result<std::string> EncodeTrace(const TokenTrace& trace, size_t skip = 0);
// `skipped`: the tokens that were left out, in full. InvalidArgument for bytes that are no trace or
// do not match them; reads nothing out of bounds.
Result<TokenTrace> DecodeTrace(std::string_view bytes, const std::vector<TokenId>& skipped = {});

}  // namespace davinci::llm
