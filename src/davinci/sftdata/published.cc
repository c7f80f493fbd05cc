#include "davinci/sftdata/published.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "davinci/base/json_text.h"
#include "davinci/llm/tools.h"

namespace davinci::sftdata {
namespace {

constexpr std::array<std::pair<Format, std::string_view>, 6> kNames = {
    {{Format::kNative, "native"},
     {Format::kMerged, "merged"},
     {Format::kTrajectories, "trajectories"},
     {Format::kSelections, "selections"},
     {Format::kSummaries, "summaries"},
     {Format::kRl, "rl"}}};

// Most skills a call may name or propose where a published row does not say.
constexpr int kPublishedSelected = 3;
constexpr int kPublishedProposed = 2;

OrderedJson ArgumentsOf(const RowToolCall& call) {
  OrderedJson arguments = OrderedJson::parse(call.arguments, nullptr, false);
  if (!arguments.is_object()) arguments = call.arguments;
  return arguments;
}

// As the published chat rows have them: calls with id and type.
OrderedJson PublishedMessages(const Row& row, size_t count, bool weights = false) {
  OrderedJson messages = OrderedJson::array();
  int number = 0;
  for (size_t i = 0; i < count; ++i) {
    const RowMessage& message = row.messages[i];
    OrderedJson one = {{"role", message.role}, {"content", message.content}};
    if (!message.thinking.empty()) one["thinking"] = message.thinking;
    if (weights && message.role == "assistant" && message.weight != 1)
      one["weight"] = message.weight;
    for (const RowToolCall& call : message.tool_calls)
      one["tool_calls"].push_back(
          {{"id", fmt::format("call_{}", number++)},
           {"type", "function"},
           {"function", {{"name", call.name}, {"arguments", ArgumentsOf(call)}}}});
    messages.push_back(std::move(one));
  }
  return messages;
}

OrderedJson PublishedTools(const Row& row) {
  OrderedJson tools = OrderedJson::array();
  for (const RowTool& tool : row.tools)
    tools.push_back({{"type", "function"},
                     {"function",
                      {{"name", tool.name},
                       {"description", tool.description},
                       {"parameters", tool.parameters}}}});
  return tools;
}

OrderedJson Merged(const Row& row) {
  return {{"messages", JsonText(PublishedMessages(row, row.messages.size(), true))},
          {"tools", row.tools.empty() ? OrderedJson() : OrderedJson(JsonText(PublishedTools(row)))},
          {"enable_thinking", row.enable_thinking.value_or(false)}};
}

OrderedJson TrajectoryColumns(const Row& row) {
  const Origin& origin = row.origin;
  return {{"uuid", origin.id},
          {"messages", PublishedMessages(row, row.messages.size())},
          {"entry_point", origin.entry_point},
          {"repo_name", ""},
          {"module_name", origin.task},
          {"final_speedup", origin.speedup ? OrderedJson(*origin.speedup) : OrderedJson()},
          {"num_rounds", origin.round_speedups.size()},
          {"original_python_code", origin.reference},
          {"best_round", origin.best_round},
          {"round_speedups", origin.round_speedups},
          {"timestamp", ""},
          {"conversion_mode", "davinci"},
          {"enable_thinking", row.enable_thinking.value_or(false)}};
}

// Names in the enum of the tool's schema: what was shown.
OrderedJson Candidates(const Row& row) {
  const OrderedJson::json_pointer names("/properties/selected_skills/items/properties/name/enum");
  for (const RowTool& tool : row.tools)
    if (tool.parameters.contains(names)) return tool.parameters[names];
  return OrderedJson::array();
}

std::optional<OrderedJson> Call(const Row& row, bool selection) {
  const RowMessage& last = row.messages.back();
  if (last.role != "assistant" || last.tool_calls.size() != 1) return std::nullopt;
  const OrderedJson arguments = ArgumentsOf(last.tool_calls[0]);
  OrderedJson json = {
      {"uuid", row.origin.id},
      {"status", "ok"},
      {"think", arguments.is_object() && arguments.contains("think") ? arguments["think"] : ""},
      {"thinking", last.thinking},
      {"content", last.content},
      {"tool_call_raw",
       JsonText(OrderedJson{{"name", last.tool_calls[0].name}, {"arguments", arguments}})}};
  const auto list = [&](const char* key) {
    return arguments.is_object() && arguments.contains(key) ? arguments[key] : OrderedJson::array();
  };
  if (selection) {
    json["selected_skills"] = list("selected_skills");
    json["candidates"] = Candidates(row);
  } else {
    json["skills"] = list("new_skills");
    json["rejected"] = OrderedJson::array();
  }
  json["input_messages"] = PublishedMessages(row, row.messages.size() - 1);
  if (!selection)
    json["source_record"] = {{"uuid", row.origin.task},
                             {"round_speedups", row.origin.round_speedups},
                             {"best_round", row.origin.best_round},
                             {"num_rounds", row.origin.round_speedups.size()}};
  return json;
}

std::optional<OrderedJson> Rl(const Row& row) {
  std::string task;
  for (const RowMessage& message : row.messages)
    if (task.empty() && message.role == "user") task = message.content;
  const Origin& origin = row.origin;
  if (origin.reference.empty() || task.empty()) return std::nullopt;
  return OrderedJson{
      {"data_source", "davinci"},
      {"prompt", OrderedJson::array({{{"role", "user"}, {"content", task}}})},
      {"ability", origin.family},
      {"reward_model", {{"ground_truth", origin.reference}, {"style", "rule"}}},
      {"extra_info",
       {{"entry_point", origin.entry_point.empty() ? "Model" : origin.entry_point},
        {"level", nullptr},
        {"module_name", origin.task},
        {"ops", origin.family},
        {"original_prompt", OrderedJson::array({{{"role", "user"}, {"content", task}}})},
        {"repo_name", ""},
        {"type", "davinci"},
        {"uuid", origin.task}}}};
}

// A call as an object or as its JSON text, {"name", "arguments"} or {"function": {…}}.
Result<OrderedJson> RawCall(const OrderedJson& from) {
  OrderedJson call = from;
  if (call.is_string()) call = OrderedJson::parse(call.get<std::string>(), nullptr, false);
  if (call.is_array() && call.size() == 1) call = OrderedJson(call[0]);
  if (call.is_object() && call.contains("function")) call = OrderedJson(call["function"]);
  if (!call.is_object() || !call.contains("name") || !call["name"].is_string() ||
      !call.contains("arguments"))
    return InvalidArgument("\"tool_call_raw\" is not a call with name and arguments");
  return call;
}

RowTool ToolOf(const llm::ToolSpec& spec) {
  return {spec.name, spec.description, OrderedJson::parse(JsonText(spec.parameters))};
}

// Selections and summaries: the prompt and the call apart.
Result<std::optional<Row>> ParseCallRow(const OrderedJson& from) {
  if (from.contains("status") && from["status"] != "ok") return std::optional<Row>();
  DAVINCI_ASSIGN_OR_RETURN(const OrderedJson call, RawCall(from["tool_call_raw"]));
  OrderedJson native = from;
  native["messages"] = from["input_messages"];
  if (native["messages"].is_string())
    native["messages"] = OrderedJson::parse(native["messages"].get<std::string>(), nullptr, false);
  if (!native["messages"].is_array()) return InvalidArgument("\"input_messages\" is not a list");
  OrderedJson reply = {{"role", "assistant"},
                       {"content", ""},
                       {"tool_calls", OrderedJson::array({{{"function", call}}})}};
  if (from.contains("thinking") && from["thinking"].is_string() &&
      !from["thinking"].get<std::string>().empty())
    reply["thinking"] = from["thinking"];
  native["messages"].push_back(std::move(reply));
  native.erase("skills");  // records, not names
  DAVINCI_ASSIGN_OR_RETURN(Row row, ParseRow(JsonText(native)));
  if (call["name"] == llm::kSelectSkillsTool) {
    std::vector<std::string> shown;
    if (from.contains("candidates") && from["candidates"].is_array())
      for (const OrderedJson& candidate : from["candidates"]) {
        if (candidate.is_string()) shown.push_back(candidate.get<std::string>());
        if (candidate.is_object() && candidate.contains("name") && candidate["name"].is_string())
          shown.push_back(candidate["name"].get<std::string>());
      }
    row.tools = {ToolOf(llm::SelectSkillsTool(shown, kPublishedSelected))};
    row.agent = rl::AgentKind::kSelection;
  } else if (call["name"] == llm::kUpdateSkillLibraryTool) {
    row.tools = {ToolOf(llm::UpdateSkillLibraryTool(kPublishedProposed))};
    row.agent = rl::AgentKind::kSummary;
  } else {
    return InvalidArgument(
        fmt::format("a call of \"{}\" is of no agent", call["name"].get<std::string>()));
  }
  return std::optional<Row>(std::move(row));
}

}  // namespace

std::string_view FormatName(Format format) {
  for (const auto& [known, name] : kNames)
    if (known == format) return name;
  return "";
}

std::optional<Format> ParseFormat(std::string_view name) {
  for (const auto& [known, text] : kNames)
    if (text == name) return known;
  return std::nullopt;
}

std::optional<OrderedJson> ToFormat(const Row& row, Format format) {
  const bool policy = row.agent == rl::AgentKind::kPolicy;
  switch (format) {
    case Format::kNative:
      return ToJson(row);
    case Format::kMerged:
      return Merged(row);
    case Format::kTrajectories:
      return policy ? std::optional(TrajectoryColumns(row)) : std::nullopt;
    case Format::kSelections:
      return row.agent == rl::AgentKind::kSelection ? Call(row, true) : std::nullopt;
    case Format::kSummaries:
      return row.agent == rl::AgentKind::kSummary ? Call(row, false) : std::nullopt;
    case Format::kRl:
      return policy ? Rl(row) : std::nullopt;
  }
  return std::nullopt;
}

Result<std::optional<Row>> ParseAnyRow(std::string_view line) {
  const OrderedJson from = OrderedJson::parse(line, nullptr, false);
  if (!from.is_object()) return InvalidArgument("not a JSON object");
  if (from.contains("input_messages") && from.contains("tool_call_raw")) return ParseCallRow(from);
  if (from.contains("reward_model") && !from.contains("messages"))
    return InvalidArgument(
        "an RL row is a task without a reply; it is read as a task set (davinci train, collect)");
  DAVINCI_ASSIGN_OR_RETURN(Row row, ParseRow(line));
  return std::optional<Row>(std::move(row));
}

}  // namespace davinci::sftdata
