#include "davinci/llm/openai_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "davinci/base/json_text.h"
#include "davinci/llm/token_count.h"
#include "davinci/llm/tool_prompt.h"

namespace davinci::llm {
namespace {

using Json = nlohmann::json;

Json MessageJson(const Message& message) {
  Json json = {{"role", RoleName(message.role)}, {"content", message.content}};
  if (!message.tool_calls.empty()) {
    Json calls = Json::array();
    for (const ToolCall& call : message.tool_calls) {
      calls.push_back({{"id", call.id},
                       {"type", "function"},
                       {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
    }
    json["tool_calls"] = std::move(calls);
  }
  if (!message.tool_call_id.empty()) json["tool_call_id"] = message.tool_call_id;
  return json;
}

std::string Lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != text.npos; });
}

bool HasSystemMessage(const Json& messages) {
  return std::any_of(messages.begin(), messages.end(),
                     [](const Json& message) { return message.value("role", "") == "system"; });
}

// System texts, in order, before the text of the first message of the user.
Json WithoutSystemRole(const Json& messages) {
  std::string system;
  Json rest = Json::array();
  for (const Json& message : messages) {
    if (message.value("role", "") != "system") {
      rest.push_back(message);
    } else {
      system += (system.empty() ? "" : "\n\n") + message.value("content", "");
    }
  }
  const auto user = std::find_if(rest.begin(), rest.end(), [](const Json& message) {
    return message.value("role", "") == "user";
  });
  if (user == rest.end()) {
    rest.insert(rest.begin(), Json{{"role", "user"}, {"content", std::move(system)}});
  } else if (!system.empty()) {
    (*user)["content"] = system + "\n\n" + user->value("content", "");
  }
  return rest;
}

// Does the error say that the system role, by whatever name, is not taken?
bool RefusesSystemRole(std::string_view text) {
  if (ContainsAny(text, {"system role", "system message", "system prompt", "system instruction",
                         "system field", "developer instruction", "developer role", "'system'",
                         "\"system\"", "`system`", "role: system", "role system"}))
    return ContainsAny(
        text, {"support", "not allowed", "not enabled", "not permitted", "unexpected", "unknown",
               "invalid", "not accept", "not available", "must be one of", "alternate"});
  // Templates that count roles: "Conversation roles must alternate user/assistant/…",
  // "Only user and assistant roles are supported!".
  return ContainsAny(text,
                     {"roles must alternate", "only user and assistant", "only user, assistant",
                      "first message must be from user", "first message must be a user"});
}

// The member as text when it is text, "" otherwise; numbers are written out (codes are either).
std::string TextMember(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  return found->is_number() ? found->dump() : "";
}

int64_t CountMember(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return 0;
  constexpr double kMost = 1e15;
  const double count = found->get<double>();
  return count > 0 ? static_cast<int64_t>(std::min(count, kMost)) : 0;
}

EndpointError ErrorFrom(const Json& error) {
  EndpointError result;
  if (error.is_string()) {
    result.message = error.get<std::string>();
  } else if (error.is_object()) {
    result.message = TextMember(error, "message");
    result.code = TextMember(error, "code");
    result.type = TextMember(error, "type");
    result.param = TextMember(error, "param");
  }
  if (result.message.empty()) result.message = JsonText(error);
  return result;
}

FinishReason FinishReasonFrom(const std::string& name) {
  if (name == "stop" || name == "eos" || name == "end_turn") return FinishReason::kStop;
  if (name == "length" || name == "max_tokens") return FinishReason::kLength;
  if (name == "tool_calls" || name == "function_call") return FinishReason::kToolCalls;
  if (name == "content_filter") return FinishReason::kContentFilter;
  return FinishReason::kOther;
}

// Content is text, null, or a list of parts that hold text.
bool AppendContent(const Json& content, std::string* text) {
  if (content.is_null()) return true;
  if (content.is_string()) {
    *text += content.get_ref<const std::string&>();
    return true;
  }
  if (!content.is_array()) return false;
  for (const Json& part : content) {
    if (part.is_object()) *text += TextMember(part, "text");
  }
  return true;
}

size_t WrittenBytes(const Reply& reply) {
  size_t bytes = reply.text.size() + reply.reasoning.size();
  for (const ToolCall& call : reply.tool_calls) bytes += call.name.size() + call.arguments.size();
  return bytes;
}

int64_t EstimateWritten(const Reply& reply) {
  int64_t tokens = EstimateTokens(reply.text) + EstimateTokens(reply.reasoning);
  for (const ToolCall& call : reply.tool_calls)
    tokens += EstimateTokens(call.name) + EstimateTokens(call.arguments);
  return tokens;
}

}  // namespace

Json RequestBody(const Request& request, const std::string& model, int n, bool stream,
                 const Dialect& dialect) {
  Json messages = Json::array();
  if (dialect.native_tools) {
    for (const Message& message : request.messages) messages.push_back(MessageJson(message));
  } else {
    for (const Message& message : MessagesWithToolsAsText(request))
      messages.push_back(MessageJson(message));
  }
  if (!dialect.system_role && HasSystemMessage(messages)) messages = WithoutSystemRole(messages);
  Json body = {{"model", model}, {"messages", std::move(messages)}};
  if (dialect.native_tools && !request.tools.empty()) {
    Json tools = Json::array();
    for (const ToolSpec& tool : request.tools) {
      tools.push_back({{"type", "function"},
                       {"function",
                        {{"name", tool.name},
                         {"description", tool.description},
                         {"parameters", tool.parameters}}}});
    }
    body["tools"] = std::move(tools);
    if (!request.required_tool.empty() && dialect.tool_choice) {
      body["tool_choice"] = {{"type", "function"}, {"function", {{"name", request.required_tool}}}};
    }
  }
  if (request.temperature && dialect.temperature) body["temperature"] = *request.temperature;
  if (request.top_p && dialect.top_p) body["top_p"] = *request.top_p;
  if (request.top_k && dialect.top_k) body["top_k"] = *request.top_k;
  if (request.min_p && dialect.min_p) body["min_p"] = *request.min_p;
  if (request.thinking && dialect.thinking)
    body["chat_template_kwargs"] = {{"enable_thinking", *request.thinking}};
  if (request.max_tokens) {
    body[dialect.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] =
        *request.max_tokens;
  }
  if (request.seed && dialect.seed) body["seed"] = *request.seed;
  if (!request.stop.empty()) body["stop"] = request.stop;
  if (request.logprobs && dialect.logprobs) body["logprobs"] = true;
  if (n > 1 && dialect.n) body["n"] = n;
  if (stream && dialect.stream) {
    body["stream"] = true;
    if (dialect.stream_options) body["stream_options"] = {{"include_usage", true}};
  }
  return body;
}

EndpointError ParseEndpointError(std::string_view body) {
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) {
    if (const auto error = json.find("error"); error != json.end()) {
      EndpointError result = ErrorFrom(*error);
      if (result.code.empty()) result.code = TextMember(json, "code");
      return result;
    }
    for (const char* key : {"message", "detail"}) {
      if (const auto found = json.find(key); found != json.end()) {
        EndpointError result = ErrorFrom(*found);
        result.code = TextMember(json, "code");
        result.type = TextMember(json, "type");
        result.param = TextMember(json, "param");
        return result;
      }
    }
  }
  EndpointError result;
  result.message = body;
  return result;
}

std::optional<std::string> AdaptTo(const EndpointError& error, const Json& body, Dialect* dialect) {
  const std::string text = Lower(error.message + ' ' + error.param + ' ' + error.code);
  const auto sent = [&](const char* key) { return body.contains(key); };
  const auto mentioned = [&](std::string_view word) { return text.find(word) != text.npos; };
  if (sent("temperature") && sent("top_p") && mentioned("temperature") && mentioned("top_p") &&
      ContainsAny(text, {"both", "only one", "one of", "either", "mutually", "together",
                         "same time", "simultaneous", "exclusive", "not and"})) {
    dialect->top_p = false;
    return "takes temperature or top_p, not both; top_p is left out";
  }
  if (sent("messages") && HasSystemMessage(body["messages"]) && RefusesSystemRole(text)) {
    dialect->system_role = false;
    return "has no system role; the system text opens the first message";
  }
  if (!ContainsAny(text, {"support",          "unrecognized",     "unknown",
                          "not permitted",    "not allowed",      "extra field",
                          "extra input",      "unexpected",       "requires",
                          "only the default", "not implemented",  "must be 1",
                          "may only be",      "deprecated",       "not accept",
                          "not available",    "not enabled",      "incompatible",
                          "not compatible",   "must be verified", "--enable-auto-tool-choice",
                          "--jinja"})) {
    return std::nullopt;
  }
  if (sent("max_tokens") && mentioned("max_completion_tokens")) {
    dialect->max_completion_tokens = true;
    return "wants max_completion_tokens for max_tokens; renamed";
  }
  struct Field {
    const char* key;
    bool Dialect::*flag;
  };
  // Longer names first: they contain the shorter ones.
  constexpr std::array<Field, 8> kFields = {{{"chat_template_kwargs", &Dialect::thinking},
                                             {"stream_options", &Dialect::stream_options},
                                             {"logprobs", &Dialect::logprobs},
                                             {"temperature", &Dialect::temperature},
                                             {"top_p", &Dialect::top_p},
                                             {"top_k", &Dialect::top_k},
                                             {"min_p", &Dialect::min_p},
                                             {"seed", &Dialect::seed}}};
  for (const Field& field : kFields) {
    if (!sent(field.key) || !mentioned(field.key)) continue;
    dialect->*field.flag = false;
    const bool seed = std::string_view(field.key) == "seed";
    return fmt::format("does not accept {}; it is left out{}", field.key,
                       seed ? ": replies cannot be repeated, and the pairs of a skill's experiment "
                              "do not share a seed"
                            : "");
  }
  if (sent("stream") &&
      (error.param == "stream" ||
       ContainsAny(text, {"'stream'", "\"stream\"", "`stream`", "to stream", "streaming"}))) {
    dialect->stream = false;
    return "does not stream; replies arrive as a whole";
  }
  if (sent("tool_choice") && mentioned("tool_choice") && !mentioned("\"auto\"")) {
    dialect->tool_choice = false;
    return "cannot be made to call a given tool; the model decides";
  }
  if (sent("tools") && (mentioned("tool") || mentioned("function"))) {
    dialect->native_tools = false;
    return "has no native tool calls; tools are described in the prompt";
  }
  if (sent("n") && (error.param == "n" || ContainsAny(text, {"'n'", "\"n\"", "`n`", " n "}))) {
    dialect->n = false;
    return "gives one reply per call; several are asked for one by one";
  }
  return std::nullopt;
}

bool ReplyAssembler::complete() const {
  return !choices_.empty() && std::all_of(choices_.begin(), choices_.end(),
                                          [](const Choice& choice) { return choice.finished; });
}

Status ReplyAssembler::AddDocument(std::string_view text) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Internal("the answer is not a JSON object");
  DAVINCI_RETURN_IF_ERROR(AddChoices(document, "message"));
  if (choices_.empty()) return Internal("the answer holds no choices");
  ended_ = true;
  return Status::Ok();
}

Status ReplyAssembler::AddChunk(std::string_view text) {
  const Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return Internal("an event of the stream is not a JSON object");
  return AddChoices(document, "delta");
}

Status ReplyAssembler::AddChoices(const Json& document, const char* message_key) {
  if (const auto error = document.find("error"); error != document.end() && !error->is_null()) {
    error_ = ErrorFrom(*error);
    return Unavailable("the endpoint reports: " + error_->message);
  }
  if (model_.empty()) model_ = TextMember(document, "model");
  AddUsage(document);
  const auto choices = document.find("choices");
  if (choices == document.end() || choices->is_null()) return Status::Ok();
  if (!choices->is_array()) return Internal("\"choices\" is not a list");
  for (size_t i = 0; i < choices->size(); ++i) {
    const Json& from = (*choices)[i];
    if (!from.is_object()) return Internal("a choice is not an object");
    size_t index = i;
    if (const auto given = from.find("index"); given != from.end() && given->is_number_unsigned())
      index = given->get<size_t>();
    if (index >= static_cast<size_t>(n_)) {
      if (i > 0 || n_ > 1) continue;  // more than was asked for
      index = 0;
    }
    if (choices_.size() <= index) choices_.resize(index + 1);
    Choice& choice = choices_[index];
    // Chunks call it "delta"; some endpoints send a whole "message" in a stream.
    const auto message = from.contains(message_key) ? from.find(message_key) : from.find("message");
    if (message != from.end() && !message->is_null())
      DAVINCI_RETURN_IF_ERROR(AddMessage(*message, &choice));
    if (const auto logprobs = from.find("logprobs"); logprobs != from.end())
      AddLogprobs(*logprobs, &choice.reply);
    if (const std::string finish = TextMember(from, "finish_reason"); !finish.empty()) {
      choice.finished = true;
      choice.reply.finish_reason = FinishReasonFrom(finish);
    }
  }
  return Status::Ok();
}

Status ReplyAssembler::AddMessage(const Json& message, Choice* choice) {
  if (!message.is_object()) return Internal("a message is not an object");
  Reply& reply = choice->reply;
  const size_t num_bytes = reply.text.size();
  if (const auto content = message.find("content");
      content != message.end() && !AppendContent(*content, &reply.text)) {
    return Internal("the content of a message is not text");
  }
  if (on_text_ && choice == &choices_.front() && reply.text.size() > num_bytes)
    on_text_(std::string_view(reply.text).substr(num_bytes));
  for (const char* key : {"reasoning_content", "reasoning"}) {
    const auto reasoning = message.find(key);
    if (reasoning == message.end() || !reasoning->is_string()) continue;
    reply.reasoning += reasoning->get_ref<const std::string&>();
    break;  // endpoints that send both send the same
  }
  if (const auto calls = message.find("tool_calls"); calls != message.end() && !calls->is_null())
    return AddToolCalls(*calls, &reply);
  return Status::Ok();
}

// Fragments of a call share an index; endpoints that leave it out begin a call with its name.
Status ReplyAssembler::AddToolCalls(const Json& calls, Reply* reply) {
  if (!calls.is_array()) return Internal("\"tool_calls\" is not a list");
  constexpr size_t kMaxCalls = 64;
  for (const Json& from : calls) {
    if (!from.is_object()) return Internal("a tool call is not an object");
    const auto function = from.find("function");
    const Json& body = function != from.end() && function->is_object() ? *function : from;
    const std::string id = TextMember(from, "id");
    const std::string name = TextMember(body, "name");
    size_t index = reply->tool_calls.size();
    if (const auto given = from.find("index"); given != from.end() && given->is_number_unsigned()) {
      index = given->get<size_t>();
    } else if (name.empty() && !reply->tool_calls.empty()) {
      index = reply->tool_calls.size() - 1;
    }
    if (index >= kMaxCalls) return Internal("too many tool calls");
    if (reply->tool_calls.size() <= index) reply->tool_calls.resize(index + 1);
    ToolCall& call = reply->tool_calls[index];
    if (call.id.empty()) call.id = id;
    if (call.name != name) call.name += name;
    const auto arguments = body.find("arguments");
    if (arguments == body.end() || arguments->is_null()) continue;
    call.arguments += arguments->is_string()
                          ? arguments->get<std::string>()
                          : arguments->dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return Status::Ok();
}

void ReplyAssembler::AddLogprobs(const Json& logprobs, Reply* reply) {
  if (!logprobs.is_object()) return;
  const auto content = logprobs.find("content");
  if (content == logprobs.end() || !content->is_array()) return;
  if (!reply->token_logprobs) reply->token_logprobs.emplace();
  for (const Json& token : *content) {
    if (!token.is_object()) continue;
    const auto logprob = token.find("logprob");
    if (logprob == token.end() || !logprob->is_number()) continue;
    reply->token_logprobs->push_back({TextMember(token, "token"), logprob->get<double>()});
  }
}

// Streams may report a running usage; the last one counts.
void ReplyAssembler::AddUsage(const Json& document) {
  const auto usage = document.find("usage");
  if (usage == document.end() || !usage->is_object()) return;
  Usage sum;
  sum.prompt_tokens = CountMember(*usage, "prompt_tokens");
  sum.completion_tokens = CountMember(*usage, "completion_tokens");
  if (const auto details = usage->find("prompt_tokens_details");
      details != usage->end() && details->is_object()) {
    sum.cached_prompt_tokens = std::min(CountMember(*details, "cached_tokens"), sum.prompt_tokens);
  }
  if (sum.prompt_tokens > 0 || sum.completion_tokens > 0) usage_ = sum;
}

Usage ReplyAssembler::PartialUsage(const Request& request) const {
  if (usage_) return *usage_;
  Usage usage;
  usage.estimated = true;
  usage.prompt_tokens = EstimatePromptTokens(request);
  for (const Choice& choice : choices_) usage.completion_tokens += EstimateWritten(choice.reply);
  return usage;
}

Result<std::vector<Reply>> ReplyAssembler::Finish(const Request& request) const {
  if (choices_.empty()) return Unavailable("the stream ended before the reply began");
  if (!ended_ && !complete()) return Unavailable("the stream ended before the reply was complete");
  const Usage sum = PartialUsage(request);
  size_t total_bytes = 0;
  std::vector<const Choice*> answered;  // indices an endpoint skipped leave holes
  for (const Choice& choice : choices_) {
    const size_t bytes = WrittenBytes(choice.reply);
    total_bytes += bytes;
    if (choice.finished || bytes > 0) answered.push_back(&choice);
  }
  if (answered.empty()) return Unavailable("the stream ended before the reply began");
  std::vector<Reply> replies;
  int64_t left = sum.completion_tokens;
  for (const Choice* choice : answered) {
    Reply reply = choice->reply;
    reply.model = model_;
    // The endpoint reports one sum for all choices: the prompt goes to the first, completion tokens
    // in proportion to what was written.
    reply.usage.estimated = sum.estimated;
    if (replies.empty()) {
      reply.usage.prompt_tokens = sum.prompt_tokens;
      reply.usage.cached_prompt_tokens = sum.cached_prompt_tokens;
    }
    const double share = total_bytes == 0 ? 1.0 / static_cast<double>(answered.size())
                                          : static_cast<double>(WrittenBytes(reply)) /
                                                static_cast<double>(total_bytes);
    const int64_t tokens = std::llround(share * static_cast<double>(sum.completion_tokens));
    const bool last = replies.size() + 1 == answered.size();
    reply.usage.completion_tokens = last ? left : std::min(left, tokens);
    left -= reply.usage.completion_tokens;
    replies.push_back(std::move(reply));
  }
  return replies;
}

}  // namespace davinci::llm
