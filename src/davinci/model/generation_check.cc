#include "davinci/model/generation_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace davinci::model {

Status CheckTokens(std::span<const TokenId> tokens, const EngineFacts& facts) {
  for (const TokenId token : tokens)
    if (token < 0 || token >= facts.vocab)
      return InvalidArgument(
          fmt::format("token {} is outside the vocabulary of {}", token, facts.vocab));
  return Status::Ok();
}

Status CheckText(std::span<const TokenId> tokens, const EngineFacts& facts) {
  if (tokens.empty()) return InvalidArgument("the text is empty");
  DAVINCI_RETURN_IF_ERROR(CheckTokens(tokens, facts));
  if (static_cast<int64_t>(tokens.size()) > facts.max_context)
    return InvalidArgument(fmt::format("the text has {} tokens, the context ends at {}",
                                       tokens.size(), facts.max_context));
  return Status::Ok();
}

Status CheckGeneration(const Generation& generation, const EngineFacts& facts) {
  const Sampling& s = generation.sampling;
  if (generation.prompt.empty()) return InvalidArgument("the prompt is empty");
  DAVINCI_RETURN_IF_ERROR(CheckTokens(generation.prompt, facts));
  if (static_cast<int64_t>(generation.prompt.size()) >= facts.max_context)
    return InvalidArgument(fmt::format("the prompt has {} tokens, the context ends at {}",
                                       generation.prompt.size(), facts.max_context));
  const int64_t cells = std::min<int64_t>(
      static_cast<int64_t>(generation.prompt.size()) + std::max(generation.max_tokens, 0),
      facts.max_context);
  if (cells > facts.cache_tokens)
    return InvalidArgument(fmt::format(
        "prompt and answer may take {} tokens, the cache has {}; lower max_tokens or raise "
        "cache_tokens",
        cells, facts.cache_tokens));
  if (generation.max_tokens < 1) return InvalidArgument("max_tokens must be positive");
  if (!(s.temperature >= 0 && s.temperature <= 100))
    return InvalidArgument("temperature must lie in 0 … 100");
  if (!(s.top_p > 0 && s.top_p <= 1)) return InvalidArgument("top_p must lie in (0, 1]");
  if (!(s.min_p >= 0 && s.min_p <= 1)) return InvalidArgument("min_p must lie in 0 … 1");
  if (s.top_k < 0) return InvalidArgument("top_k must not be negative");
  if (generation.num_alternatives < 0 || generation.num_alternatives > 20)
    return InvalidArgument("the number of alternatives must lie in 0 … 20");
  return Status::Ok();
}

}  // namespace davinci::model
