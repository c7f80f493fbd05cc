// Request: what a backbone (backbone.h) is asked: messages, tools, sampling.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// "label#i".
std::string SampleLabel(std::string_view label, int i);
// `request` as sample i of n: its own label and seed.
Request SampleOf(const Request& request, int i);

}  // namespace davinci::llm
