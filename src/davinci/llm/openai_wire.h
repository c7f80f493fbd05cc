// The chat-completions format: a Request as its JSON body, and Replies from documents or streamed
// chunks. No I/O.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/llm/backbone.h"

namespace davinci::llm {

// What one endpoint takes. Starts with everything; AdaptTo() strikes what the endpoint refuses.
struct Dialect {
  bool system_role = true;  // else the system text opens the first message of the user
  bool native_tools = true;
  bool tool_choice = true;  // naming the required tool
  bool stream_options = true;
  bool seed = true;
  bool logprobs = true;
  bool temperature = true;
  bool top_p = true;
  bool top_k = true;     // like min_p and thinking: not of the original API, but of vLLM, SGLang,
  bool min_p = true;     // llama-server
  bool thinking = true;  // as chat_template_kwargs.enable_thinking
  bool n = true;
  bool stream = true;
  bool max_completion_tokens = false;  // the newer name of max_tokens
};

// The body of POST /chat/completions.
nlohmann::json RequestBody(const Request& request, const std::string& model, int n, bool stream,
                           const Dialect& dialect);

// An endpoint's error document, in any of the shapes in use; `message` falls back to the text
// itself.
struct EndpointError {
  std::string message;
  std::string code;  // "model_not_found", "insufficient_quota", …; may be empty
  std::string type;
  std::string param;  // the field that is wrong; may be empty
};
EndpointError ParseEndpointError(std::string_view body);

// When `error` refuses an optional field of a body that was sent, or the system role, strikes it
// from the dialect and says so ("does not accept seed; it is left out"); nothing when the error is
// about something else. Proxies wrap the error of what is behind them: its text decides.
std::optional<std::string> AdaptTo(const EndpointError& error, const nlohmann::json& body,
                                   Dialect* dialect);

// Puts one answer together: either AddDocument once, or AddChunk for every event but the last, and
// End at "[DONE]". Everything an endpoint may send wrong is a Status:
//   kUnavailable   the endpoint reports an error of its own, or broke off
//   kInternal      not what the protocol promises (garbage)
// and nothing is thrown.
class ReplyAssembler {
 public:
  // `on_text` (may be empty) gets every piece of the first reply's text as it is added.
  explicit ReplyAssembler(int n, std::function<void(std::string_view)> on_text = nullptr)
      : n_(n), on_text_(std::move(on_text)) {}

  Status AddDocument(std::string_view text);
  Status AddChunk(std::string_view text);
  void End() { ended_ = true; }

  // One to n replies, with usage (estimated from `request` when none was reported) but without
  // cost.
  Result<std::vector<Reply>> Finish(const Request& request) const;

  // Has anything of a reply arrived? Then the endpoint may charge for it.
  bool began() const { return !choices_.empty(); }
  // Every choice has said why it ended.
  bool complete() const;
  // What has been used so far, estimated; for attempts that broke off.
  Usage PartialUsage(const Request& request) const;
  // The error the endpoint reported inside the stream or document, if any.
  const std::optional<EndpointError>& error() const { return error_; }

 private:
  struct Choice {
    Reply reply;
    bool finished = false;
  };
  Status AddChoices(const nlohmann::json& document, const char* message_key);
  Status AddMessage(const nlohmann::json& message, Choice* choice);
  Status AddToolCalls(const nlohmann::json& calls, Reply* reply);
  void AddLogprobs(const nlohmann::json& logprobs, Reply* reply);
  void AddUsage(const nlohmann::json& document);

  const int n_;
  const std::function<void(std::string_view)> on_text_;
  std::vector<Choice> choices_;
  std::optional<Usage> usage_;
  std::optional<EndpointError> error_;
  std::string model_;
  bool ended_ = false;
};

}  // namespace davinci::llm
