#include "davinci/trainer/sft_rows.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "davinci/base/json_text.h"
#include "davinci/llm/tool_prompt.h"
#include "davinci/sftdata/row.h"

namespace davinci::trainer {
namespace {

// What the chat template takes of a row.
struct Rendered {
  std::vector<text::ChatMessage> messages;
  std::vector<double> weights;  // of each message
  std::vector<text::ChatTool> tools;
  text::ChatOptions options;
};

Rendered ForTemplate(const sftdata::Row& row) {
  Rendered made;
  for (const sftdata::RowMessage& from : row.messages) {
    text::ChatMessage& message = made.messages.emplace_back();
    message.role = from.role;
    message.content = from.content;
    message.reasoning = from.thinking;
    for (const sftdata::RowToolCall& call : from.tool_calls)
      message.tool_calls.push_back({call.name, call.arguments});
    made.weights.push_back(from.weight);
  }
  for (const sftdata::RowTool& tool : row.tools)
    made.tools.push_back({tool.name, tool.description, tool.parameters});
  if (row.enable_thinking) made.options.enable_thinking = *row.enable_thinking;
  return made;
}

// For templates without tools: described in the system message, as the agents' prompts do it.
void ToolsAsText(Rendered* row) {
  llm::Request request;
  for (const text::ChatMessage& from : row->messages) {
    llm::Message& message = request.messages.emplace_back();
    message.role = from.role == "system"      ? llm::Role::kSystem
                   : from.role == "assistant" ? llm::Role::kAssistant
                   : from.role == "tool"      ? llm::Role::kTool
                                              : llm::Role::kUser;
    message.content = from.content;
    for (const text::ChatToolCall& call : from.tool_calls)
      message.tool_calls.push_back({"", call.name, call.arguments});
  }
  for (const text::ChatTool& tool : row->tools)
    request.tools.push_back(
        {tool.name, tool.description, nlohmann::json::parse(JsonText(tool.parameters))});
  const auto messages = llm::MessagesWithToolsAsText(request);
  if (messages.size() > row->messages.size())  // a system message was made
    row->weights.insert(row->weights.begin(), messages.size() - row->messages.size(), 0.0);
  std::vector<text::ChatMessage> made;
  for (const llm::Message& from : messages)
    made.push_back({std::string(llm::RoleName(from.role)), from.content, {}, {}, {}});
  row->messages = std::move(made);
  row->tools.clear();
}

}  // namespace

Result<SftEncoder> SftEncoder::Open(const std::filesystem::path& model) {
  DAVINCI_ASSIGN_OR_RETURN(text::Tokenizer tokenizer, text::Tokenizer::Load(model));
  DAVINCI_ASSIGN_OR_RETURN(text::ChatTemplate chat, text::ChatTemplate::Of(tokenizer));
  SftEncoder encoder(tokenizer, std::move(chat));
  encoder.knows_tools_ = tokenizer.chat_template().find("tools") != std::string::npos;
  return encoder;
}

Result<SftExample> SftEncoder::Encode(std::string_view line) const {
  DAVINCI_ASSIGN_OR_RETURN(const sftdata::Row read, sftdata::ParseRow(line));
  Rendered row = ForTemplate(read);
  if (!row.tools.empty() && !knows_tools_) ToolsAsText(&row);
  std::vector<text::ChatMessage>& messages = row.messages;
  const std::span<const text::ChatMessage> all(messages);
  const std::string end_of_turn(tokenizer_.TokenBytes(tokenizer_.eos_id()));
  std::vector<std::vector<int32_t>> replies(messages.size());
  for (size_t k = 0; k < messages.size(); ++k) {
    if (messages[k].role != "assistant") continue;
    text::ChatOptions options = row.options;
    options.add_generation_prompt = true;
    DAVINCI_ASSIGN_OR_RETURN(const std::string prompt,
                             template_.Render(all.subspan(0, k), row.tools, options));
    options.add_generation_prompt = false;
    DAVINCI_ASSIGN_OR_RETURN(const std::string whole,
                             template_.Render(all.subspan(0, k + 1), row.tools, options));
    // What follows the end of the turn belongs to the template. A template that rewrites its own
    // prompt leaves the reply's content.
    std::string reply =
        whole.starts_with(prompt) ? whole.substr(prompt.size()) : messages[k].content;
    const size_t end = end_of_turn.empty() ? std::string::npos : reply.rfind(end_of_turn);
    if (end != std::string::npos) reply.resize(end);
    DAVINCI_ASSIGN_OR_RETURN(replies[k], tokenizer_.Encode(reply));
    if (tokenizer_.eos_id() >= 0) replies[k].push_back(tokenizer_.eos_id());
  }
  for (size_t k = 0; k < messages.size(); ++k)
    if (!replies[k].empty()) messages[k].ids = std::move(replies[k]);
  text::ChatOptions options = row.options;
  options.add_generation_prompt = false;
  DAVINCI_ASSIGN_OR_RETURN(const auto segments,
                           template_.RenderSegments(all, row.tools, options, tokenizer_));
  SftExample example;
  example.agent = read.agent;
  example.split = read.origin.split;
  size_t next = 0;  // message whose ids come next
  for (const text::ChatSegment& segment : segments) {
    if (!segment.is_ids) {
      DAVINCI_ASSIGN_OR_RETURN(const auto ids, tokenizer_.Encode(segment.text));
      example.tokens.insert(example.tokens.end(), ids.begin(), ids.end());
      continue;
    }
    while (next < messages.size() && !messages[next].ids) ++next;
    const double weight = next < messages.size() ? row.weights[next] : 0;
    ++next;
    for (const int32_t id : segment.ids) {
      if (weight > 0 && !example.tokens.empty()) {
        example.targets.push_back(static_cast<int32_t>(example.tokens.size()));
        example.weights.push_back(static_cast<float>(weight));
      }
      example.tokens.push_back(id);
    }
  }
  if (example.targets.empty())
    return InvalidArgument("no reply of the assistant with a weight above 0");
  // What stands behind the last trained token predicts nothing.
  example.tokens.resize(static_cast<size_t>(example.targets.back()) + 1);
  return example;
}

}  // namespace davinci::trainer
