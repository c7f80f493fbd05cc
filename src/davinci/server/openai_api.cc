#include "davinci/server/openai_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/base/json_text.h"
#include "davinci/llm/tool_call_text.h"

namespace davinci::server {
namespace {

using Json = nlohmann::json;
constexpr int kMostChoices = 128;
constexpr int kMostTokens = 1 << 24;

// Reads optional members; the first problem is kept.
class Fields {
 public:
  explicit Fields(const Json& object) : object_(object) {}

  const Json* Find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  void Problem(std::string text) {
    if (status_.ok()) status_ = InvalidArgument(std::move(text));
  }
  void Read(const char* key, bool* value) {
    const Json* json = Find(key);
    if (json == nullptr) return;
    if (!json->is_boolean()) return Problem(fmt::format("\"{}\" must be true or false", key));
    *value = json->get<bool>();
  }
  void Read(const char* key, std::string* value) {
    const Json* json = Find(key);
    if (json == nullptr) return;
    if (!json->is_string()) return Problem(fmt::format("\"{}\" must be a string", key));
    *value = json->get<std::string>();
  }
  void Read(const char* key, double least, double most, std::optional<double>* value) {
    const Json* json = Find(key);
    if (json == nullptr) return;
    if (!json->is_number() || !(json->get<double>() >= least && json->get<double>() <= most))
      return Problem(fmt::format("\"{}\" must be a number from {} to {}", key, least, most));
    *value = json->get<double>();
  }
  void Read(const char* key, int least, int most, std::optional<int>* value) {
    const Json* json = Find(key);
    if (json == nullptr) return;
    const bool fits =
        json->is_number_integer() && json->get<double>() >= least && json->get<double>() <= most;
    if (!fits)
      return Problem(fmt::format("\"{}\" must be a whole number from {} to {}", key, least, most));
    *value = json->get<int>();
  }
  const Status& status() const { return status_; }

 private:
  const Json& object_;
  Status status_;
};

// Fields that ask for what cannot be done, with the values that ask for nothing. The first of them
// is the one to name.
struct Unsupported {
  const char* key;
  std::vector<Json> neutral;
};

const std::vector<Unsupported>& UnsupportedFields() {
  static const std::vector<Unsupported> fields = {
      {"response_format", {Json::object({{"type", "text"}})}},
      {"tool_choice", {"auto", "none"}},
      {"function_call", {"auto", "none"}},
      {"functions", {Json::array()}},
      {"echo", {false}},
      {"best_of", {1}},
      {"suffix", {""}},
      {"logit_bias", {Json::object()}},
      {"presence_penalty", {0}},
      {"frequency_penalty", {0}},
      {"repetition_penalty", {1}},
      {"length_penalty", {1}},
      {"min_tokens", {0}},
      {"ignore_eos", {false}},
      {"use_beam_search", {false}},
      {"modalities", {Json::array({"text"})}},
      {"audio", {}},
      {"prediction", {}},
      {"guided_json", {}},
      {"guided_regex", {}},
      {"guided_choice", {}},
      {"guided_grammar", {}},
      {"structured_outputs", {}},
      {"json_schema", {}},
      {"grammar", {""}},
      {"prompt_logprobs", {}},
      {"continue_final_message", {false}},
      {"add_generation_prompt", {true}}};
  return fields;
}

void RefuseUnsupported(Fields* fields) {
  for (const Unsupported& field : UnsupportedFields()) {
    const Json* value = fields->Find(field.key);
    const auto& neutral = field.neutral;
    if (value == nullptr || std::find(neutral.begin(), neutral.end(), *value) != neutral.end())
      continue;
    fields->Problem(fmt::format("\"{}\" is not supported; leave it out{}", field.key,
                                neutral.empty() ? "" : " or send " + JsonText(neutral.front())));
  }
}

Result<Json> ParseObject(std::string_view body) {
  Json json = Json::parse(body, nullptr, false);
  if (json.is_discarded()) return InvalidArgument("the body is no JSON");
  if (!json.is_object()) return InvalidArgument("the body must be a JSON object");
  return json;
}

void ReadSampling(Fields* fields, CompletionCall* call) {
  llm::Request& request = call->request;
  fields->Read("model", &call->model);
  fields->Read("temperature", 0, 100, &request.temperature);
  fields->Read("top_p", 1e-6, 1, &request.top_p);
  fields->Read("min_p", 0, 1, &request.min_p);
  fields->Read("top_k", -1, kMostTokens, &request.top_k);
  if (request.top_k && *request.top_k < 0) request.top_k = 0;
  fields->Read("max_tokens", 1, kMostTokens, &request.max_tokens);
  fields->Read("max_completion_tokens", 1, kMostTokens, &request.max_tokens);
  std::optional<int> n;
  fields->Read("n", 1, kMostChoices, &n);
  call->n = n.value_or(1);
  if (const Json* seed = fields->Find("seed")) {
    if (seed->is_number_integer())
      request.seed = seed->get<int64_t>();
    else
      fields->Problem("\"seed\" must be a whole number");
  }
  if (const Json* stop = fields->Find("stop")) {
    if (stop->is_string()) {
      request.stop.push_back(stop->get<std::string>());
    } else if (stop->is_array() && stop->size() <= 16 &&
               std::all_of(stop->begin(), stop->end(),
                           [](const Json& s) { return s.is_string(); })) {
      request.stop = stop->get<std::vector<std::string>>();
    } else {
      fields->Problem("\"stop\" must be a string or up to 16 strings");
    }
  }
  fields->Read("stream", &call->stream);
  if (const Json* options = fields->Find("stream_options")) {
    if (options->is_object()) {
      Fields inner(*options);
      inner.Read("include_usage", &call->stream_usage);
      if (!inner.status().ok()) fields->Problem(inner.status().message());
    } else {
      fields->Problem("\"stream_options\" must be an object");
    }
  }
  RefuseUnsupported(fields);
}

Result<std::string> ContentText(const Json& content, size_t index) {
  if (content.is_string()) return content.get<std::string>();
  if (content.is_null()) return std::string();
  std::string text;
  if (content.is_array()) {
    for (const Json& part : content) {
      const auto type = part.is_object() ? part.find("type") : part.end();
      const auto value = part.is_object() ? part.find("text") : part.end();
      if (!part.is_object() || type == part.end() || *type != "text" || value == part.end() ||
          !value->is_string())
        return InvalidArgument(
            fmt::format("messages[{}].content: only parts of type text are supported", index));
      text += value->get_ref<const std::string&>();
    }
    return text;
  }
  return InvalidArgument(fmt::format("messages[{}].content must be a string or parts", index));
}

Result<llm::Message> ParseMessage(const Json& json, size_t index) {
  const auto fail = [&](const char* what) {
    return InvalidArgument(fmt::format("messages[{}]{}", index, what));
  };
  if (!json.is_object()) return fail(" must be an object");
  llm::Message message;
  const std::string role =
      json.contains("role") && json["role"].is_string() ? json["role"].get<std::string>() : "";
  if (role == "system" || role == "developer") {
    message.role = llm::Role::kSystem;
  } else if (role == "user") {
    message.role = llm::Role::kUser;
  } else if (role == "assistant") {
    message.role = llm::Role::kAssistant;
  } else if (role == "tool") {
    message.role = llm::Role::kTool;
  } else {
    return fail(".role must be system, user, assistant or tool");
  }
  if (const auto content = json.find("content"); content != json.end()) {
    DAVINCI_ASSIGN_OR_RETURN(message.content, ContentText(*content, index));
  }
  if (const auto calls = json.find("tool_calls"); calls != json.end() && !calls->is_null()) {
    if (!calls->is_array()) return fail(".tool_calls must be a list");
    for (const Json& call : *calls) {
      const auto function = call.is_object() ? call.find("function") : call.end();
      if (!call.is_object() || function == call.end() || !function->is_object() ||
          !function->contains("name") || !(*function)["name"].is_string())
        return fail(".tool_calls: each needs function.name");
      llm::ToolCall made;
      made.name = (*function)["name"].get<std::string>();
      if (call.contains("id") && call["id"].is_string()) made.id = call["id"].get<std::string>();
      if (const auto arguments = function->find("arguments"); arguments != function->end())
        made.arguments =
            arguments->is_string() ? arguments->get<std::string>() : JsonText(*arguments);
      message.tool_calls.push_back(std::move(made));
    }
  }
  if (const auto id = json.find("tool_call_id"); id != json.end() && id->is_string())
    message.tool_call_id = id->get<std::string>();
  return message;
}

Status ParseTools(const Json& json, llm::Request* request) {
  if (!json.is_array()) return InvalidArgument("\"tools\" must be a list");
  for (const Json& tool : json) {
    const auto function = tool.is_object() ? tool.find("function") : tool.end();
    if (!tool.is_object() || function == tool.end() || !function->is_object() ||
        !function->contains("name") || !(*function)["name"].is_string())
      return InvalidArgument("\"tools\": each needs function.name");
    llm::ToolSpec spec;
    spec.name = (*function)["name"].get<std::string>();
    if (function->contains("description") && (*function)["description"].is_string())
      spec.description = (*function)["description"].get<std::string>();
    if (function->contains("parameters")) {
      if (!(*function)["parameters"].is_object())
        return InvalidArgument("\"tools\": function.parameters must be an object");
      spec.parameters = (*function)["parameters"];
    }
    request->tools.push_back(std::move(spec));
  }
  return Status::Ok();
}

Json Logprobs(const CompletionCall& call, const ApiChoice& choice) {
  if (!choice.has_logprobs) return nullptr;
  if (call.chat) {
    Json content = Json::array();
    for (const ApiLogprob& token : choice.logprobs) {
      Json top = Json::array();
      for (const auto& [text, logprob] : token.top)
        top.push_back({{"token", text}, {"logprob", logprob}, {"bytes", nullptr}});
      content.push_back({{"token", token.token},
                         {"logprob", token.logprob},
                         {"bytes", nullptr},
                         {"top_logprobs", top}});
    }
    return {{"content", content}, {"refusal", nullptr}};
  }
  Json tokens = Json::array();
  Json values = Json::array();
  Json tops = Json::array();
  for (const ApiLogprob& token : choice.logprobs) {
    tokens.push_back(token.token);
    values.push_back(token.logprob);
    Json top = Json::object();
    for (const auto& [text, logprob] : token.top) top[text] = logprob;
    tops.push_back(top);
  }
  return {{"tokens", tokens},
          {"token_logprobs", values},
          {"top_logprobs", tops},
          {"text_offset", Json::array()}};
}

Json UsageJson(const llm::Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.prompt_tokens + usage.completion_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_prompt_tokens}}}};
}

Json ToolCallsJson(const ApiChoice& choice, bool indexed) {
  Json calls = Json::array();
  for (size_t i = 0; i < choice.tool_calls.size(); ++i) {
    const llm::ToolCall& call = choice.tool_calls[i];
    Json json = {{"id", call.id},
                 {"type", "function"},
                 {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
    if (indexed) json["index"] = i;
    calls.push_back(json);
  }
  return calls;
}

Json Head(const CompletionCall& call, const ApiHeader& header, bool chunk) {
  return {{"id", header.id},
          {"object",
           call.chat ? (chunk ? "chat.completion.chunk" : "chat.completion") : "text_completion"},
          {"created", header.created},
          {"model", header.model}};
}

std::string Event(const Json& json) { return "data: " + JsonText(json) + "\n\n"; }

}  // namespace

Result<CompletionCall> ParseChat(std::string_view body) {
  DAVINCI_ASSIGN_OR_RETURN(const Json json, ParseObject(body));
  CompletionCall call;
  Fields fields(json);
  ReadSampling(&fields, &call);
  fields.Read("logprobs", &call.request.logprobs);
  std::optional<int> top;
  fields.Read("top_logprobs", 0, 20, &top);
  call.top_logprobs = call.request.logprobs ? top.value_or(0) : 0;
  if (const Json* extra = fields.Find("chat_template_kwargs")) {
    if (!extra->is_object()) {
      fields.Problem("\"chat_template_kwargs\" must be an object");
    } else if (extra->contains("enable_thinking")) {
      bool thinking = true;
      Fields inner(*extra);
      inner.Read("enable_thinking", &thinking);
      if (!inner.status().ok()) fields.Problem(inner.status().message());
      call.request.thinking = thinking;
    }
  }
  DAVINCI_RETURN_IF_ERROR(fields.status());
  const Json* messages = fields.Find("messages");
  if (messages == nullptr || !messages->is_array() || messages->empty())
    return InvalidArgument("\"messages\" must be a list of at least one message");
  for (size_t i = 0; i < messages->size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(auto message, ParseMessage((*messages)[i], i));
    call.request.messages.push_back(std::move(message));
  }
  const Json* choice = fields.Find("tool_choice");
  const bool none = choice != nullptr && *choice == "none";
  if (const Json* tools = fields.Find("tools"); tools != nullptr && !none)
    DAVINCI_RETURN_IF_ERROR(ParseTools(*tools, &call.request));
  bool parallel = true;
  fields.Read("parallel_tool_calls", &parallel);
  if (!parallel && !call.request.tools.empty())
    fields.Problem("\"parallel_tool_calls\": false is not supported; leave it out");
  DAVINCI_RETURN_IF_ERROR(fields.status());
  return call;
}

Result<CompletionCall> ParseCompletion(std::string_view body) {
  DAVINCI_ASSIGN_OR_RETURN(const Json json, ParseObject(body));
  CompletionCall call;
  call.chat = false;
  Fields fields(json);
  ReadSampling(&fields, &call);
  if (!call.request.max_tokens) call.request.max_tokens = 16;  // the API's default
  std::optional<int> top;
  fields.Read("logprobs", 0, 20, &top);
  call.request.logprobs = top.has_value();
  call.top_logprobs = top.value_or(0);
  DAVINCI_RETURN_IF_ERROR(fields.status());
  const Json* prompt = fields.Find("prompt");
  const auto is_ids = [](const Json& list) {
    return list.is_array() && !list.empty() &&
           std::all_of(list.begin(), list.end(), [](const Json& id) {
             return id.is_number_integer() && id.get<double>() >= 0 &&
                    id.get<double>() <= 2147483647.0;
           });
  };
  const auto add = [&](const Json& one) {
    if (one.is_string())
      call.prompts.push_back({one.get<std::string>(), {}, false});
    else if (is_ids(one))
      call.prompts.push_back({"", one.get<std::vector<llm::TokenId>>(), true});
    else
      return false;
    return true;
  };
  bool good = prompt != nullptr;
  if (good && !add(*prompt)) {
    good = prompt->is_array() && !prompt->empty() && prompt->size() <= kMostChoices;
    for (size_t i = 0; good && i < prompt->size(); ++i) good = add((*prompt)[i]);
  }
  if (!good)
    return InvalidArgument(
        "\"prompt\" must be a string, a list of token ids, or a list of either, at most 128");
  return call;
}

std::string Document(const CompletionCall& call, const ApiHeader& header,
                     const std::vector<ApiChoice>& choices, const llm::Usage& usage) {
  Json json = Head(call, header, false);
  Json list = Json::array();
  for (const ApiChoice& choice : choices) {
    Json made = {{"index", choice.index},
                 {"finish_reason", choice.finish_reason},
                 {"logprobs", Logprobs(call, choice)}};
    if (call.chat) {
      made["message"] = {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}};
      if (!choice.tool_calls.empty()) {
        made["message"]["tool_calls"] = ToolCallsJson(choice, false);
        if (choice.text.empty()) made["message"]["content"] = nullptr;
      }
    } else {
      made["text"] = choice.text;
    }
    list.push_back(made);
  }
  json["choices"] = list;
  json["usage"] = UsageJson(usage);
  return JsonText(json);
}

std::string TextEvent(const CompletionCall& call, const ApiHeader& header, const ApiChoice& piece) {
  Json json = Head(call, header, true);
  Json choice = {
      {"index", piece.index}, {"finish_reason", nullptr}, {"logprobs", Logprobs(call, piece)}};
  if (call.chat)
    choice["delta"] = {{"role", "assistant"}, {"content", piece.text}};
  else
    choice["text"] = piece.text;
  json["choices"] = Json::array({choice});
  return Event(json);
}

std::string EndEvent(const CompletionCall& call, const ApiHeader& header, const ApiChoice& choice) {
  Json json = Head(call, header, true);
  Json made = {
      {"index", choice.index}, {"finish_reason", choice.finish_reason}, {"logprobs", nullptr}};
  if (call.chat) {
    made["delta"] = Json::object();
    if (!choice.tool_calls.empty()) made["delta"]["tool_calls"] = ToolCallsJson(choice, true);
  } else {
    made["text"] = "";
  }
  json["choices"] = Json::array({made});
  return Event(json);
}

std::string UsageEvent(const CompletionCall& call, const ApiHeader& header,
                       const llm::Usage& usage) {
  Json json = Head(call, header, true);
  json["choices"] = Json::array();
  json["usage"] = UsageJson(usage);
  return Event(json);
}

std::string ErrorDocument(std::string_view message, std::string_view type, std::string_view code) {
  Json error = {{"message", std::string(message)}, {"type", std::string(type)}, {"param", nullptr}};
  error["code"] = code.empty() ? Json(nullptr) : Json(std::string(code));
  Json json = Json::object();
  json["error"] = error;
  return JsonText(json);
}

void TakeToolCalls(const std::vector<llm::ToolSpec>& tools, ApiChoice* choice) {
  const llm::WantedCall wanted{"", "\n"};  // no tool's arguments stand alone
  std::vector<llm::RawCall> calls = llm::HermesCalls(choice->text, wanted);
  const bool tagged = !calls.empty();
  if (!tagged) calls = llm::BareCalls(choice->text, wanted);
  for (const llm::RawCall& call : calls) {
    const bool known = std::any_of(tools.begin(), tools.end(), [&](const llm::ToolSpec& tool) {
      return tool.name == call.name;
    });
    if (!known || call.error != llm::LiteralError::kNone) continue;
    choice->tool_calls.push_back(
        {fmt::format("call_{}_{}", choice->index, choice->tool_calls.size()), call.name,
         JsonText(call.arguments)});
  }
  if (choice->tool_calls.empty()) return;
  choice->finish_reason = "tool_calls";
  choice->text = tagged ? choice->text.substr(0, choice->text.find("<tool_call>")) : "";
  while (!choice->text.empty() && (choice->text.back() == '\n' || choice->text.back() == ' '))
    choice->text.pop_back();
}

}  // namespace davinci::server
