#include "davinci/text/chat_template.h"

#include <fmt/format.h>

#include "davinci/base/json_text.h"
#include "davinci/text/jinja.h"

namespace davinci::text {
namespace {

using ordered = nlohmann::ordered_json;

ordered MessageJson(const ChatMessage& message) {
  ordered json = {{"role", message.role}, {"content", message.content}};
  if (message.reasoning) json["reasoning_content"] = *message.reasoning;
  if (message.tool_calls.empty()) return json;
  ordered calls = ordered::array();
  for (const ChatToolCall& call : message.tool_calls) {
    ordered arguments = ordered::parse(call.arguments, nullptr, /*allow_exceptions=*/false);
    if (!arguments.is_object()) arguments = call.arguments;
    calls.push_back({{"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}});
  }
  json["tool_calls"] = std::move(calls);
  return json;
}

void Append(std::vector<ChatSegment>* segments, ChatSegment segment) {
  if (segment.is_ids ? segment.ids.empty() : segment.text.empty()) return;
  if (!segment.is_ids && !segments->empty() && !segments->back().is_ids)
    segments->back().text += segment.text;
  else
    segments->push_back(std::move(segment));
}

// A text that stands in none of the messages.
std::string Marker(std::span<const ChatMessage> messages) {
  for (int i = 0;; ++i) {
    std::string marker = fmt::format("davinci-reply-{:08x}-here", i * 2654435761U);
    bool found = false;
    for (const ChatMessage& message : messages) {
      found = found || message.content.find(marker) != std::string::npos;
      found = found || (message.reasoning && message.reasoning->find(marker) != std::string::npos);
    }
    if (!found) return marker;
  }
}

}  // namespace

struct ChatTemplate::Program {
  JinjaTemplate jinja;
  std::string bos_token;
  std::string eos_token;
};

Result<ChatTemplate> ChatTemplate::Parse(std::string_view source, std::string bos_token,
                                         std::string eos_token) {
  DAVINCI_ASSIGN_OR_RETURN(JinjaTemplate jinja, JinjaTemplate::Parse(source));
  return ChatTemplate(std::make_shared<const Program>(
      Program{std::move(jinja), std::move(bos_token), std::move(eos_token)}));
}

Result<ChatTemplate> ChatTemplate::Of(const Tokenizer& tokenizer) {
  if (tokenizer.chat_template().empty())
    return FailedPrecondition(
        "the model's files have no chat template; add chat_template.jinja to its folder");
  return Parse(tokenizer.chat_template(), std::string(tokenizer.TokenBytes(tokenizer.bos_id())),
               std::string(tokenizer.TokenBytes(tokenizer.eos_id())));
}

Result<std::string> ChatTemplate::Render(std::span<const ChatMessage> messages,
                                         std::span<const ChatTool> tools,
                                         const ChatOptions& options) const {
  ordered variables = options.variables.is_object() ? options.variables : ordered::object();
  ordered list = ordered::array();
  for (const ChatMessage& message : messages) list.push_back(MessageJson(message));
  variables["messages"] = std::move(list);
  variables["tools"] = nullptr;
  if (!tools.empty()) {
    ordered described = ordered::array();
    for (const ChatTool& tool : tools)
      described.push_back({{"type", "function"},
                           {"function",
                            {{"name", tool.name},
                             {"description", tool.description},
                             {"parameters", tool.parameters}}}});
    variables["tools"] = std::move(described);
  }
  variables["add_generation_prompt"] = options.add_generation_prompt;
  if (options.enable_thinking) variables["enable_thinking"] = *options.enable_thinking;
  if (!variables.contains("bos_token")) variables["bos_token"] = program_->bos_token;
  if (!variables.contains("eos_token")) variables["eos_token"] = program_->eos_token;
  return program_->jinja.Render(variables);
}

Result<std::vector<ChatSegment>> ChatTemplate::RenderSegments(std::span<const ChatMessage> messages,
                                                              std::span<const ChatTool> tools,
                                                              const ChatOptions& options,
                                                              const Tokenizer& tokenizer) const {
  std::vector<ChatSegment> segments;
  size_t last = messages.size();
  while (last > 0 && !messages[last - 1].ids) --last;
  if (last == 0) {
    DAVINCI_ASSIGN_OR_RETURN(std::string text, Render(messages, tools, options));
    Append(&segments, {std::move(text), {}, false});
    return segments;
  }
  const ChatMessage& reply = messages[last - 1];
  if (reply.role != "assistant")
    return InvalidArgument(
        fmt::format("message {} carries token ids, but its role is {}; only "
                    "replies of the assistant may",
                    last - 1, reply.role));
  ChatOptions before = options;
  before.add_generation_prompt = true;
  DAVINCI_ASSIGN_OR_RETURN(segments,
                           RenderSegments(messages.first(last - 1), tools, before, tokenizer));
  Append(&segments, {"", reply.ids.value(), true});

  // What follows the reply is the template's text behind a marker in its place.
  const std::string marker = Marker(messages);
  std::vector<ChatMessage> marked(messages.begin(), messages.end());
  marked[last - 1].content = marker;
  marked[last - 1].tool_calls.clear();
  marked[last - 1].reasoning.reset();
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, Render(marked, tools, options));
  const size_t at = text.find(marker);
  if (at == std::string::npos || text.find(marker, at + 1) != std::string::npos)
    return InvalidArgument(
        fmt::format("chat template: it does not write message {} exactly once, "
                    "so token ids cannot stand for it",
                    last - 1));
  std::string_view rest = std::string_view(text).substr(at + marker.size());
  if (!reply.ids.value().empty()) {
    const std::string_view end = tokenizer.TokenBytes(reply.ids.value().back());
    if (tokenizer.IsSpecial(reply.ids.value().back()) && rest.starts_with(end))
      rest.remove_prefix(end.size());
  }
  Append(&segments, {std::string(rest), {}, false});
  return segments;
}

Result<std::vector<int32_t>> ChatTemplate::RenderIds(std::span<const ChatMessage> messages,
                                                     std::span<const ChatTool> tools,
                                                     const ChatOptions& options,
                                                     const Tokenizer& tokenizer) const {
  DAVINCI_ASSIGN_OR_RETURN(const auto segments,
                           RenderSegments(messages, tools, options, tokenizer));
  std::vector<int32_t> ids;
  for (const ChatSegment& segment : segments) {
    if (segment.is_ids) {
      ids.insert(ids.end(), segment.ids.begin(), segment.ids.end());
      continue;
    }
    DAVINCI_ASSIGN_OR_RETURN(const auto part, tokenizer.Encode(segment.text));
    ids.insert(ids.end(), part.begin(), part.end());
  }
  return ids;
}

}  // namespace davinci::text
