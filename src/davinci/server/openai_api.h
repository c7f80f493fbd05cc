// The OpenAI format seen from the server: bodies of requests to typed calls, replies to documents
// and stream events. No I/O, no threads. Any bytes give a call or an InvalidArgument.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"

namespace davinci::server {

// A body of /v1/chat/completions or /v1/completions.
struct CompletionCall {
  bool chat = true;
  std::string model;     // empty: not named
  llm::Request request;  // messages, tools and sampling; of a text completion sampling alone
  // Of a text completion: each prompt as text, or as ids.
  struct Prompt {
    std::string text;
    std::vector<llm::TokenId> ids;
    bool is_ids = false;
  };
  std::vector<Prompt> prompts;
  int n = 1;
  bool stream = false;
  bool stream_usage = false;
  int top_logprobs = 0;
};

// Known fields of a wrong type or out of range are errors, unknown fields are ignored, and known
// fields that ask for what cannot be done ("echo", "response_format", a required tool, images) are
// errors that name the field.
Result<CompletionCall> ParseChat(std::string_view body);
Result<CompletionCall> ParseCompletion(std::string_view body);

struct ApiLogprob {
  std::string token;
  double logprob = 0;
  std::vector<std::pair<std::string, double>> top;
};

// One answer of a call.
struct ApiChoice {
  int index = 0;
  std::string text;
  std::vector<llm::ToolCall> tool_calls;
  std::string finish_reason;  // "stop", "length", "tool_calls"
  std::vector<ApiLogprob> logprobs;
  bool has_logprobs = false;
};

struct ApiHeader {
  std::string id;
  std::string model;
  int64_t created = 0;
};

std::string Document(const CompletionCall& call, const ApiHeader& header,
                     const std::vector<ApiChoice>& choices, const llm::Usage& usage);
// "data: {…}\n\n": a piece of text, the end of a choice, the usage.
std::string TextEvent(const CompletionCall& call, const ApiHeader& header, const ApiChoice& piece);
std::string EndEvent(const CompletionCall& call, const ApiHeader& header, const ApiChoice& choice);
std::string UsageEvent(const CompletionCall& call, const ApiHeader& header,
                       const llm::Usage& usage);
std::string ErrorDocument(std::string_view message, std::string_view type, std::string_view code);

// Takes the calls of tools out of a reply's text: <tool_call>{…}</tool_call>, as Qwen and Hermes
// templates have them, and an answer that is one JSON object naming a tool (Llama 3). Text without
// a readable call of one of `tools` is left as it is.
void TakeToolCalls(const std::vector<llm::ToolSpec>& tools, ApiChoice* choice);

}  // namespace davinci::server
