// TokenTrace: what a model read and drew, token by token; what training learns from.
//
// Stored as a binary blob of its own. The trace of an append-only conversation's turn stores only
// what lies behind the turn before and names that one, so a trajectory's traces together take as
// much space as its last.
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
  // Drawn under a grammar: the log-probabilities are shares of what the grammar allowed, which a
  // pass over the tokens alone does not give again.
  bool bounded = false;
  int64_t update = 0;  // how many times training has changed the weights

  bool operator==(const TokenTrace&) const = default;
};

// prompt_tokens + output_tokens: what a continued conversation begins with.
std::vector<TokenId> AllTokens(const TokenTrace& trace);

// Does `later` begin with all tokens of `earlier`? The invariant of append-only conversations.
bool Continues(const TokenTrace& later, const TokenTrace& earlier);

// The trace that another one continues: its name where it is stored, and how many tokens it has.
struct TracePrefix {
  std::string name;  // "": none
  size_t num_tokens = 0;
  bool operator==(const TracePrefix&) const = default;
};

// The bytes are: "DVTT1\n" (bounded: "DVTT2\n"), digests, update, prefix, then ids and
// log-probabilities, little endian, 4 bytes each. The prefix's tokens are left out: they are stored
// with the trace it names. InvalidArgument when there are fewer, or when the number of logprobs is
// neither 0 nor that of the output tokens.
Result<std::string> EncodeTrace(const TokenTrace& trace, const TracePrefix& prefix = {});
// What has to be decoded first.
Result<TracePrefix> PrefixOf(std::string_view bytes);
// `prefix`: the tokens that were left out, in full. InvalidArgument for bytes that are no trace or
// do not match them; reads nothing out of bounds.
Result<TokenTrace> DecodeTrace(std::string_view bytes, const std::vector<TokenId>& prefix = {});

}  // namespace davinci::llm
