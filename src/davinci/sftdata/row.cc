#include "davinci/sftdata/row.h"

#include <fmt/format.h>

#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/llm/tools.h"

namespace davinci::sftdata {
namespace {

std::string TextOf(const OrderedJson& value) {
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : JsonText(value);
}

// A list, or its JSON as text.
Result<OrderedJson> ListOf(const OrderedJson& row, const char* key) {
  OrderedJson value = row.contains(key) ? row[key] : OrderedJson();
  if (value.is_string()) value = OrderedJson::parse(value.get<std::string>(), nullptr, false);
  if (value.is_null()) return OrderedJson(OrderedJson::array());
  if (!value.is_array()) return InvalidArgument(fmt::format("\"{}\" is not a list", key));
  return value;
}

Result<RowMessage> ReadMessage(const OrderedJson& from) {
  if (!from.is_object() || !from.contains("role") || !from["role"].is_string())
    return InvalidArgument("a message is not an object with a \"role\"");
  RowMessage message;
  message.role = from["role"].get<std::string>();
  if (message.role != "system" && message.role != "user" && message.role != "assistant" &&
      message.role != "tool")
    return InvalidArgument(
        fmt::format("role \"{}\" is not one of system, user, assistant, tool", message.role));
  if (from.contains("content")) message.content = TextOf(from["content"]);
  for (const char* key : {"thinking", "reasoning_content"})
    if (from.contains(key) && from[key].is_string()) message.thinking = from[key];
  if (from.contains("tool_calls") && !from["tool_calls"].is_null()) {
    if (!from["tool_calls"].is_array()) return InvalidArgument("\"tool_calls\" is not a list");
    for (const OrderedJson& call : from["tool_calls"]) {
      const OrderedJson& function =
          call.is_object() && call.contains("function") ? call["function"] : call;
      if (!function.is_object() || !function.contains("name") || !function["name"].is_string())
        return InvalidArgument("a tool call has no function name");
      message.tool_calls.push_back({function["name"], function.contains("arguments")
                                                          ? TextOf(function["arguments"])
                                                          : "{}"});
    }
  }
  message.weight = message.role == "assistant" ? 1 : 0;
  if (from.contains("weight") && !from["weight"].is_null()) {
    if (!from["weight"].is_number() || from["weight"].get<double>() < 0)
      return InvalidArgument("a \"weight\" is not a number >= 0");
    if (message.role != "assistant" && from["weight"].get<double>() > 0)
      return InvalidArgument("only messages of the assistant have a weight above 0");
    message.weight = from["weight"].get<double>();
  }
  return message;
}

// The first of these keys that holds a text or a whole number.
std::string Text(const OrderedJson& from, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (!from.contains(key)) continue;
    if (from[key].is_string()) return from[key].get<std::string>();
    if (from[key].is_number_integer()) return std::to_string(from[key].get<int64_t>());
  }
  return "";
}

Origin ReadOrigin(const OrderedJson& from) {
  Origin origin;
  origin.id = Text(from, {"id", "uuid"});
  origin.task = Text(from, {"task"});
  origin.family = Text(from, {"family"});
  origin.reference = Text(from, {"reference", "original_python_code"});
  origin.entry_point = Text(from, {"entry_point"});
  for (const char* key : {"speedup", "final_speedup"})
    if (!origin.speedup && from.contains(key) && from[key].is_number())
      origin.speedup = from[key].get<double>();
  if (from.contains("round_speedups") && from["round_speedups"].is_array())
    for (const OrderedJson& value : from["round_speedups"])
      origin.round_speedups.push_back(value.is_number() ? value.get<double>() : 0);
  if (from.contains("best_round") && from["best_round"].is_number_integer())
    origin.best_round = from["best_round"].get<int>();
  const auto names = [&](const char* key, std::vector<std::string>* list) {
    if (!from.contains(key) || !from[key].is_array()) return;
    for (const OrderedJson& name : from[key])
      if (name.is_string()) list->push_back(name.get<std::string>());
  };
  names("skills", &origin.skills);
  origin.split = Text(from, {"split"});
  names("rules", &origin.rules);
  if (from.contains("judged") && from["judged"].is_boolean())
    origin.judged = from["judged"].get<bool>();
  if (from.contains("verdict") && from["verdict"].is_string())
    origin.verdict = from["verdict"].get<std::string>();
  return origin;
}

rl::AgentKind AgentOfTools(const std::vector<RowTool>& tools) {
  for (const RowTool& tool : tools) {
    if (tool.name == llm::kSelectSkillsTool) return rl::AgentKind::kSelection;
    if (tool.name == llm::kUpdateSkillLibraryTool) return rl::AgentKind::kSummary;
  }
  return rl::AgentKind::kPolicy;
}

OrderedJson MessageJson(const RowMessage& message) {
  OrderedJson one = {{"role", message.role}, {"content", message.content}};
  if (message.role == "assistant" && message.weight != 1) one["weight"] = message.weight;
  if (!message.thinking.empty()) one["thinking"] = message.thinking;
  for (const RowToolCall& call : message.tool_calls) {
    OrderedJson arguments = OrderedJson::parse(call.arguments, nullptr, false);
    // What is no object stays the text it was.
    if (!arguments.is_object()) arguments = call.arguments;
    one["tool_calls"].push_back({{"function", {{"name", call.name}, {"arguments", arguments}}}});
  }
  return one;
}

}  // namespace

Result<Row> ParseRow(std::string_view line) {
  const OrderedJson from = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!from.is_object()) return InvalidArgument("not a JSON object");
  Row row;
  DAVINCI_ASSIGN_OR_RETURN(const OrderedJson messages, ListOf(from, "messages"));
  if (messages.empty()) return InvalidArgument("no \"messages\"");
  for (const OrderedJson& message : messages) {
    DAVINCI_ASSIGN_OR_RETURN(RowMessage read, ReadMessage(message));
    row.messages.push_back(std::move(read));
  }
  DAVINCI_ASSIGN_OR_RETURN(const OrderedJson tools, ListOf(from, "tools"));
  for (const OrderedJson& tool : tools) {
    const OrderedJson& function =
        tool.is_object() && tool.contains("function") ? tool["function"] : tool;
    if (!function.is_object() || !function.contains("name") || !function["name"].is_string())
      return InvalidArgument("a tool has no name");
    row.tools.push_back(
        {function["name"], function.contains("description") ? TextOf(function["description"]) : "",
         function.contains("parameters") ? function["parameters"] : OrderedJson::object()});
  }
  if (from.contains("enable_thinking") && from["enable_thinking"].is_boolean())
    row.enable_thinking = from["enable_thinking"].get<bool>();
  row.agent = AgentOfTools(row.tools);
  if (from.contains("agent") && !from["agent"].is_null()) {
    const std::string name = TextOf(from["agent"]);
    const auto agent = rl::ParseAgentKind(name);
    if (!agent)
      return InvalidArgument(
          fmt::format("agent \"{}\" is not one of policy, selection, summary", name));
    row.agent = *agent;
  }
  row.origin = ReadOrigin(from);
  return row;
}

OrderedJson ToJson(const Row& row) {
  OrderedJson json = {{"messages", OrderedJson::array()}};
  for (const RowMessage& message : row.messages) json["messages"].push_back(MessageJson(message));
  for (const RowTool& tool : row.tools)
    json["tools"].push_back({{"type", "function"},
                             {"function",
                              {{"name", tool.name},
                               {"description", tool.description},
                               {"parameters", tool.parameters}}}});
  if (row.enable_thinking) json["enable_thinking"] = *row.enable_thinking;
  json["agent"] = rl::AgentKindName(row.agent);
  const Origin& origin = row.origin;
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  add("id", origin.id);
  add("task", origin.task);
  add("family", origin.family);
  add("reference", origin.reference);
  add("entry_point", origin.entry_point);
  if (origin.speedup) json["speedup"] = *origin.speedup;
  if (!origin.round_speedups.empty()) json["round_speedups"] = origin.round_speedups;
  if (origin.best_round > 0) json["best_round"] = origin.best_round;
  // Of a generated task "no skill" and "no rule" are facts, not gaps.
  const bool generated = !origin.split.empty();
  if (generated || !origin.skills.empty()) json["skills"] = origin.skills;
  add("split", origin.split);
  if (generated || !origin.rules.empty()) json["rules"] = origin.rules;
  if (origin.judged) json["judged"] = *origin.judged;
  if (!origin.verdict.empty()) json["verdict"] = origin.verdict;
  return json;
}

std::string ContentHash(const Row& row) {
  Row trained = row;
  trained.origin = {};
  return Sha256Hex(JsonText(ToJson(trained)));
}

}  // namespace davinci::sftdata
