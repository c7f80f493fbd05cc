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
#include "davinci/llm/token_trace.h"

namespace davinci::llm {

enum class Role { kSystem, kUser, kAssistant, kTool };
std::string_view RoleName(Role role);  // "system", "user", "assistant", "tool"

// A call of a tool as the endpoint reports it. `arguments` is the text the model wrote, normally a
// JSON object, but that is not guaranteed.
struct ToolCall {
  std::string id;  // of the endpoint; may be empty
  std::string name;
  std::string arguments;
  bool operator==(const ToolCall&) const = default;
};

struct Message {
  Role role = Role::kUser;
  std::string content;
  std::vector<ToolCall> tool_calls;  // of an assistant message
  std::string tool_call_id;          // of a tool message: which call this answers
  // Of an assistant message: the ids it was sampled as (TokenTrace::output_tokens). A backbone with
  // the same tokenizer puts these into the prompt instead of tokenising `content`; where the last
  // of them is not the end of a turn, it adds that. Others read `content` alone.
  std::vector<TokenId> token_ids = {};
  bool operator==(const Message&) const = default;
};

// A tool the model may call. `parameters` is a JSON schema of type object.
struct ToolSpec {
  std::string name;
  std::string description;
  nlohmann::json parameters = nlohmann::json::object();
  bool operator==(const ToolSpec&) const = default;
};

// A piece of a reply while it is being written.
struct TokenEvent {
  std::string_view text = {};  // whole UTF-8 characters; empty while a character is incomplete
  TokenId id = -1;             // -1: not known (endpoints), and a piece may be several tokens
  float logprob = 0;     // as TokenTrace::logprobs; only with a known id and Request::logprobs
  bool restart = false;  // an attempt broke off: what was delivered of this reply is void
};

struct Request {
  std::vector<Message> messages;

  // The append-only conversation: the prompt begins with these ids, verbatim, which stand for the
  // first `prefix_messages` messages; the backbone renders and tokenises the messages behind them
  // only, and the beginning of its own turn. Made from the reply to be continued:
  //   prefix_tokens   = trace->prompt_tokens + trace->output_tokens
  //   prefix_messages = messages of that request + 1 (the reply itself)
  // What the template puts between two turns (the end of a turn that was cut off, line breaks) is
  // added by the backbone behind the prefix. Backbones without token access ignore both and send
  // `messages`, which are always complete.
  std::vector<TokenId> prefix_tokens;
  int prefix_messages = 0;

  std::vector<ToolSpec> tools;
  std::string required_tool;  // the model must call this tool; empty: it decides
  // A backbone that draws the tokens itself draws the required call under the grammar of its
  // schema, so that every reply can be read; TokenTrace::bounded says where it did.
  bool bound_calls = true;

  // Sampling. What is not set is left to the model's own default.
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<int> top_k;       // only the k likeliest tokens; 0: all
  std::optional<double> min_p;    // only tokens at least this share as likely as the likeliest
  std::optional<bool> thinking;   // the template's switch, where it has one (Qwen3)
  std::optional<int> max_tokens;  // new tokens, reasoning included
  std::optional<int64_t> seed;    // best effort: endpoints may ignore it
  std::vector<std::string> stop;
  // Ask for the log-probability of each sampled token: TokenTrace::logprobs where the backbone
  // holds the model, else Reply::token_logprobs.
  bool logprobs = false;

  // Called with every piece of the reply as it arrives, from a thread of the backbone, one piece at
  // a time; must not block. Optional; backbones that cannot stream call it once with everything.
  // With GenerateMany: of all replies, without saying which, so do not set it there. Not part of
  // the content.
  std::function<void(const TokenEvent&)> on_token;

  // Identity of the unit of work this call belongs to ("task/scheme/rollout/turn/agent"): key of
  // recordings and journals. Never sent to the model, not part of the content hash.
  std::string label;
};

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

// "label#i".
std::string SampleLabel(std::string_view label, int i);
// `request` as sample i of n: its own label and seed.
Request SampleOf(const Request& request, int i);

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
