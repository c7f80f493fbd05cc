// Backbone: the language model behind all agents, whatever it is.
//
// Implementations: OpenAiClient (openai_client.h, any OpenAI-compatible endpoint), RecordedBackbone
// (recorded.h, replies from a file), and the embedded model, which lives in its own module and is
// injected by the app. This module knows no prompt and no agent; agent/ builds Requests and reads
// Replies.
//
// A failure to get a reply is a Status. A nonsense reply is a value: parse it (tool_calls.h,
// code_extraction.h) and get a diagnosis.
//
// Tokens. A backbone that holds the model itself says what it read and what it drew (TokenTrace),
// and takes tokens back as they were: a conversation to be trained on is continued with
// Request::prefix_tokens and is never tokenised twice. Endpoints know neither; they get the text.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/llm/request.h"
#include "davinci/llm/token_trace.h"

namespace davinci::llm {

enum class FinishReason {
  kStop,           // the model ended its turn
  kLength,         // cut at max_tokens or at the end of the context
  kToolCalls,      // ended with native tool calls
  kContentFilter,  // the endpoint withheld (part of) the reply
  kOther,          // not said, or not one of the above
};
std::string_view FinishReasonName(FinishReason reason);  // "stop", "length", "tool_calls", …

struct Usage {
  int64_t prompt_tokens = 0;         // cached ones included
  int64_t cached_prompt_tokens = 0;  // of prompt_tokens: read from the endpoint's cache
  int64_t completion_tokens = 0;     // reasoning included
  bool estimated = false;            // the endpoint reported nothing; guessed from text lengths
  bool operator==(const Usage&) const = default;
};

struct TokenLogprob {
  std::string token;
  double logprob = 0;  // natural logarithm
  bool operator==(const TokenLogprob&) const = default;
};

struct Reply {
  std::string text;                  // what the model said, verbatim; <think> sections included
  std::string reasoning;             // thinking the endpoint reports apart from the text
  std::vector<ToolCall> tool_calls;  // native ones, in order
  FinishReason finish_reason = FinishReason::kOther;
  Usage usage;
  std::optional<double> cost_usd;  // nothing: the model's price is unknown (prices.h)
  std::optional<std::vector<TokenLogprob>> token_logprobs;  // nothing: not asked for or not offered
  std::optional<TokenTrace> trace;                          // nothing: the backbone has no tokens
  std::string model;                                        // as the endpoint names it
  std::string endpoint;  // URL or name of the backend; never holds a key
  double latency_s = 0;  // of the successful attempt
  int num_attempts = 1;
  bool operator==(const Reply&) const = default;
};

class Backbone {
 public:
  virtual ~Backbone() = default;

  // One reply. Blocks; any number of threads may call at once (concurrency = callers).
  //   kCancelled          `cancel` fired
  //   kInvalidArgument    the endpoint refuses the request; it will refuse it again
  //   kPermissionDenied   key missing or wrong
  //   kNotFound           wrong model name; no recording of this label
  //   kResourceExhausted  a budget of ours is spent
  //   kFailedPrecondition  the account at the endpoint has no credit or quota left
  //   kUnavailable, kDeadlineExceeded  not reachable or not answering, retries included
  virtual Result<Reply> Generate(const Request& request, const CancelToken& cancel) = 0;

  // `n` independent replies to one prompt. As n calls of Generate with labels SampleLabel(label, i)
  // and, when a seed is given, seeds seed + i; a backend may do better. All or nothing.
  virtual Result<std::vector<Reply>> GenerateMany(const Request& request, int n,
                                                  const CancelToken& cancel);

  // Tokens of `text` alone, without marks of a template, and of the whole prompt of `request`.
  // Exact where the backbone has the tokenizer; here, the estimate of token_count.h. Cheap, any
  // thread.
  virtual int64_t CountTokens(std::string_view text) const;
  virtual int64_t CountPromptTokens(const Request& request) const;
  // Most tokens of prompt and reply together; 0: not known, a setting has to say.
  virtual int64_t ContextTokens() const { return 0; }

  // For people and provenance: "qwen3-32b at http://127.0.0.1:8000/v1", "recorded:run.jsonl".
  virtual std::string Name() const = 0;
};

// Everything but label and on_token, with sorted keys: equal JSON means an equal question. Token
// ids stand in it as the SHA-256 of their bytes.
nlohmann::json ToJson(const Request& request);
// SHA-256 (hex) of that JSON.
std::string ContentHash(const Request& request);

// A Reply as JSON and back, without loss but for `trace`, which is binary (token_trace.h) and
// stored by its own name. InvalidArgument names the member that is wrong; unknown members are
// ignored, absent ones keep their default.
nlohmann::json ToJson(const Reply& reply);
Result<Reply> ReplyFromJson(const nlohmann::json& json);

}  // namespace davinci::llm
