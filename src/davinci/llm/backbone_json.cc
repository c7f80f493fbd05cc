// JSON of requests (hashed, never read back) and of replies (both ways).
#include <fmt/format.h>

#include <limits>

#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/llm/backbone.h"

namespace davinci::llm {
namespace {

using Json = nlohmann::json;

Json ToolCallsJson(const std::vector<ToolCall>& calls) {
  Json list = Json::array();
  for (const ToolCall& call : calls)
    list.push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
  return list;
}

std::string TokensHash(const std::vector<TokenId>& tokens) {
  std::string bytes;
  bytes.reserve(4 * tokens.size());
  for (const TokenId id : tokens) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<char>(static_cast<uint32_t>(id) >> shift & 0xff));
  }
  return Sha256Hex(bytes);
}

// Reads members of an object and keeps the first complaint.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json.is_object()) Complain("is not an object");
  }

  void Read(const char* key, std::string* value) {
    if (const Json* found = Find(key)) {
      if (found->is_string()) {
        *value = found->get<std::string>();
      } else {
        Complain(fmt::format(".{} is not text", key));
      }
    }
  }
  void Read(const char* key, bool* value) {
    if (const Json* found = Find(key)) {
      if (found->is_boolean()) {
        *value = found->get<bool>();
      } else {
        Complain(fmt::format(".{} is neither true nor false", key));
      }
    }
  }
  void Read(const char* key, double* value) {
    if (const Json* found = Find(key)) {
      if (found->is_number()) {
        *value = found->get<double>();
      } else {
        Complain(fmt::format(".{} is not a number", key));
      }
    }
  }
  void Read(const char* key, int64_t* value) {
    if (const Json* found = Find(key)) {
      if (found->is_number_integer()) {
        *value = found->get<int64_t>();
      } else {
        Complain(fmt::format(".{} is not an integer", key));
      }
    }
  }
  const Json* FindArray(const char* key) {
    const Json* found = Find(key);
    if (found != nullptr && !found->is_array()) {
      Complain(fmt::format(".{} is not a list", key));
      return nullptr;
    }
    return found;
  }
  // Null counts as absent.
  const Json* Find(const char* key) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }
  void Complain(const std::string& what) {
    if (status_.ok()) status_ = InvalidArgument(where_ + what);
  }
  void Merge(const Reader& inner) {
    if (status_.ok()) status_ = inner.status_;
  }
  const Status& status() const { return status_; }

 private:
  const Json& json_;
  const std::string where_;
  Status status_;
};

}  // namespace

Json ToJson(const Request& request) {
  Json messages = Json::array();
  for (const Message& message : request.messages) {
    Json one = {{"role", RoleName(message.role)}, {"content", message.content}};
    if (!message.tool_calls.empty()) one["tool_calls"] = ToolCallsJson(message.tool_calls);
    if (!message.tool_call_id.empty()) one["tool_call_id"] = message.tool_call_id;
    if (!message.token_ids.empty()) one["token_ids_sha256"] = TokensHash(message.token_ids);
    messages.push_back(std::move(one));
  }
  Json json = {{"messages", std::move(messages)}};
  if (!request.tools.empty()) {
    Json tools = Json::array();
    for (const ToolSpec& tool : request.tools) {
      tools.push_back({{"name", tool.name},
                       {"description", tool.description},
                       {"parameters", tool.parameters}});
    }
    json["tools"] = std::move(tools);
  }
  if (!request.required_tool.empty()) json["required_tool"] = request.required_tool;
  if (!request.bound_calls) json["bound_calls"] = false;
  if (request.temperature) json["temperature"] = *request.temperature;
  if (request.top_p) json["top_p"] = *request.top_p;
  if (request.top_k) json["top_k"] = *request.top_k;
  if (request.min_p) json["min_p"] = *request.min_p;
  if (request.thinking) json["thinking"] = *request.thinking;
  if (!request.prefix_tokens.empty()) {
    json["prefix_messages"] = request.prefix_messages;
    json["prefix_tokens_sha256"] = TokensHash(request.prefix_tokens);
  }
  if (request.max_tokens) json["max_tokens"] = *request.max_tokens;
  if (request.seed) json["seed"] = *request.seed;
  if (!request.stop.empty()) json["stop"] = request.stop;
  if (request.logprobs) json["logprobs"] = true;
  return json;
}

std::string ContentHash(const Request& request) { return Sha256Hex(JsonText(ToJson(request))); }

Json ToJson(const Reply& reply) {
  Json json = {{"text", reply.text},
               {"finish_reason", FinishReasonName(reply.finish_reason)},
               {"usage",
                {{"prompt_tokens", reply.usage.prompt_tokens},
                 {"cached_prompt_tokens", reply.usage.cached_prompt_tokens},
                 {"completion_tokens", reply.usage.completion_tokens},
                 {"estimated", reply.usage.estimated}}},
               {"cost_usd", nullptr},
               {"model", reply.model},
               {"endpoint", reply.endpoint},
               {"latency_s", reply.latency_s},
               {"num_attempts", reply.num_attempts}};
  if (!reply.reasoning.empty()) json["reasoning"] = reply.reasoning;
  if (!reply.tool_calls.empty()) json["tool_calls"] = ToolCallsJson(reply.tool_calls);
  if (reply.cost_usd) json["cost_usd"] = *reply.cost_usd;
  if (reply.token_logprobs) {
    Json tokens = Json::array();
    for (const TokenLogprob& token : *reply.token_logprobs)
      tokens.push_back(Json::array({token.token, token.logprob}));
    json["token_logprobs"] = std::move(tokens);
  }
  return json;
}

Result<Reply> ReplyFromJson(const Json& json) {
  Reply reply;
  Reader reader(json, "reply");
  reader.Read("text", &reply.text);
  reader.Read("reasoning", &reply.reasoning);
  reader.Read("model", &reply.model);
  reader.Read("endpoint", &reply.endpoint);
  reader.Read("latency_s", &reply.latency_s);
  int64_t num_attempts = reply.num_attempts;
  reader.Read("num_attempts", &num_attempts);
  reply.num_attempts = static_cast<int>(num_attempts);
  if (reader.Find("cost_usd") != nullptr) reader.Read("cost_usd", &reply.cost_usd.emplace(0));

  std::string finish = "other";
  reader.Read("finish_reason", &finish);
  for (const auto reason : {FinishReason::kStop, FinishReason::kLength, FinishReason::kToolCalls,
                            FinishReason::kContentFilter}) {
    if (finish == FinishReasonName(reason)) reply.finish_reason = reason;
  }
  if (const Json* usage = reader.Find("usage")) {
    Reader inner(*usage, "reply.usage");
    inner.Read("prompt_tokens", &reply.usage.prompt_tokens);
    inner.Read("cached_prompt_tokens", &reply.usage.cached_prompt_tokens);
    inner.Read("completion_tokens", &reply.usage.completion_tokens);
    inner.Read("estimated", &reply.usage.estimated);
    reader.Merge(inner);
  }
  if (const Json* calls = reader.FindArray("tool_calls")) {
    for (const Json& call : *calls) {
      Reader inner(call, "reply.tool_calls[]");
      ToolCall& to = reply.tool_calls.emplace_back();
      inner.Read("id", &to.id);
      inner.Read("name", &to.name);
      inner.Read("arguments", &to.arguments);
      reader.Merge(inner);
    }
  }
  if (const Json* tokens = reader.FindArray("token_logprobs")) {
    reply.token_logprobs.emplace();
    for (const Json& token : *tokens) {
      if (!token.is_array() || token.size() != 2 || !token[0].is_string() ||
          !(token[1].is_number() || token[1].is_null())) {
        reader.Complain(".token_logprobs[] is not a pair of text and number");
        break;
      }
      // JSON has no -inf; it is written as null.
      reply.token_logprobs->push_back(
          {token[0].get<std::string>(),
           token[1].is_null() ? -std::numeric_limits<double>::infinity() : token[1].get<double>()});
    }
  }
  if (!reader.status().ok()) return reader.status();
  return reply;
}

}  // namespace davinci::llm
