#include "davinci/llm/tool_prompt.h"

#include <fmt/format.h>

#include "davinci/base/json_text.h"

namespace davinci::llm {
namespace {

using Json = nlohmann::json;

std::string ToolSection(const Request& request) {
  std::string text = "# Tools\n\nYou can call these tools; each line is a JSON schema.\n\n";
  for (const ToolSpec& tool : request.tools) {
    text += JsonText(Json(
        {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.parameters}}));
    text += '\n';
  }
  text +=
      "\nTo call a tool, write exactly this, with the arguments as a JSON object:\n"
      "<tool_call>\n{\"name\": \"TOOL\", \"arguments\": {…}}\n</tool_call>\n";
  if (!request.required_tool.empty())
    text += fmt::format("\nYour reply must call {}.\n", request.required_tool);
  return text;
}

}  // namespace

std::vector<Message> MessagesWithToolsAsText(const Request& request) {
  std::vector<Message> messages;
  for (const Message& message : request.messages) {
    Message& copy = messages.emplace_back(message);
    for (const ToolCall& call : message.tool_calls) {
      copy.content +=
          fmt::format("\n<tool_call>\n{{\"name\": {}, \"arguments\": {}}}\n</tool_call>",
                      JsonText(Json(call.name)), call.arguments);
    }
    copy.tool_calls.clear();
    copy.tool_call_id.clear();
    if (message.role == Role::kTool) {
      copy.role = Role::kUser;
      copy.content = fmt::format("<tool_response>\n{}\n</tool_response>", message.content);
    }
  }
  if (request.tools.empty()) return messages;
  if (!messages.empty() && messages.front().role == Role::kSystem) {
    messages.front().content += "\n\n" + ToolSection(request);
  } else {
    messages.insert(messages.begin(), Message{Role::kSystem, ToolSection(request), {}, {}});
  }
  return messages;
}

}  // namespace davinci::llm
