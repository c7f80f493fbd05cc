#include "davinci/sftdata/example.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/json_text.h"
#include "davinci/llm/thinking.h"
#include "davinci/llm/tool_calls.h"

namespace davinci::sftdata {
namespace {

// The prompt's messages stand at the beginning of `longer`, followed by the reply as it was.
bool Continues(const Row& longer, const Row& prompt, const llm::Reply& reply) {
  const size_t n = prompt.messages.size();
  if (longer.messages.size() <= n + 1 || longer.tools != prompt.tools) return false;
  for (size_t i = 0; i < n; ++i) {
    const RowMessage& a = longer.messages[i];
    const RowMessage& b = prompt.messages[i];
    if (a.role != b.role || a.content != b.content || a.tool_calls != b.tool_calls) return false;
  }
  // A reply whose thinking was left out of the history is another context.
  return longer.messages[n].role == "assistant" && longer.messages[n].content == reply.text &&
         reply.reasoning.empty();
}

ToolExample WithCall(Row prompt, std::string_view tool, const OrderedJson& arguments,
                     const llm::Reply& reply) {
  ToolExample example{std::move(prompt), ""};
  RowMessage message = MessageOfReply(reply, 1);
  message.content.clear();
  message.tool_calls = {{std::string(tool), JsonText(arguments)}};
  example.row.messages.push_back(std::move(message));
  return example;
}

}  // namespace

Result<Row> RowOfRequest(const nlohmann::json& request) {
  // The request's JSON is a row but for the names of its tools, and its replies are context.
  OrderedJson json = {{"messages", request.value("messages", nlohmann::json::array())}};
  if (request.contains("tools")) json["tools"] = request["tools"];
  DAVINCI_ASSIGN_OR_RETURN(Row row, ParseRow(JsonText(json)));
  for (RowMessage& message : row.messages) message.weight = 0;
  if (request.contains("thinking") && request["thinking"].is_boolean())
    row.enable_thinking = request["thinking"].get<bool>();
  return row;
}

RowMessage MessageOfReply(const llm::Reply& reply, double weight) {
  RowMessage message;
  message.role = "assistant";
  message.weight = weight;
  const llm::ThoughtAndAnswer parts = llm::SplitThinking(reply.text);
  message.content = parts.thinking.empty() ? reply.text : parts.answer;
  message.thinking = reply.reasoning.empty() ? parts.thinking : reply.reasoning;
  for (const llm::ToolCall& call : reply.tool_calls)
    message.tool_calls.push_back({call.name, call.arguments});
  return message;
}

std::vector<Row> RowsOfConversation(const std::vector<RecordedTurn>& turns,
                                    std::vector<size_t>* last_turns) {
  std::vector<Row> rows;
  last_turns->clear();
  for (size_t begin = 0; begin < turns.size();) {
    size_t end = begin + 1;
    while (end < turns.size() &&
           Continues(turns[end].prompt, turns[end - 1].prompt, turns[end - 1].reply))
      ++end;
    size_t last = end;  // one behind the last trained turn
    while (last > begin && turns[last - 1].weight <= 0) --last;
    if (last > begin) {
      Row row = turns[last - 1].prompt;
      for (size_t t = begin; t + 1 < last; ++t)
        row.messages[turns[t].prompt.messages.size()] =
            MessageOfReply(turns[t].reply, turns[t].weight);
      row.messages.push_back(MessageOfReply(turns[last - 1].reply, turns[last - 1].weight));
      rows.push_back(std::move(row));
      last_turns->push_back(last - 1);
    }
    begin = end;
  }
  return rows;
}

ToolExample SelectionExample(Row prompt, const llm::Reply& reply,
                             const std::vector<std::string>& shown, int max_skills) {
  const auto read = llm::ParseSelectSkills(reply, shown, max_skills);
  if (!read.ok()) return {std::move(prompt), "bad_schema: " + read.message};
  const llm::SkillSelection& chosen = read.value.value();
  if (!chosen.unknown_names.empty())
    return {std::move(prompt), fmt::format("bad_schema: \"{}\" was not among the skills shown",
                                           chosen.unknown_names.front())};
  if (chosen.num_duplicates > 0 || chosen.num_over_cap > 0)
    return {std::move(prompt), "bad_schema: repeated names, or too many"};
  OrderedJson arguments = {{"think", chosen.think}, {"selected_skills", OrderedJson::array()}};
  std::vector<std::string> names;
  for (const llm::SkillChoice& choice : chosen.choices) {
    arguments["selected_skills"].push_back({{"name", choice.name}, {"reason", choice.reason}});
    names.push_back(choice.name);
  }
  ToolExample example = WithCall(std::move(prompt), llm::kSelectSkillsTool, arguments, reply);
  example.row.agent = rl::AgentKind::kSelection;
  example.row.origin.skills = std::move(names);
  return example;
}

ToolExample SummaryExample(Row prompt, const llm::Reply& reply, const std::vector<size_t>& kept,
                           int max_skills) {
  const auto read = llm::ParseUpdateSkillLibrary(reply, max_skills);
  if (!read.ok()) return {std::move(prompt), "bad_schema: " + read.message};
  const llm::SkillProposals& update = read.value.value();
  OrderedJson arguments = {{"think", update.think}, {"new_skills", OrderedJson::array()}};
  std::vector<std::string> names;
  for (const size_t i : kept) {
    if (i >= update.skills.size()) continue;
    const llm::ProposedSkill& skill = update.skills[i];
    arguments["new_skills"].push_back({{"name", skill.name},
                                       {"description", skill.description},
                                       {"scope", skill.scope},
                                       {"tags", skill.tags},
                                       {"content", skill.content}});
    names.push_back(skill.name);
  }
  ToolExample example = WithCall(std::move(prompt), llm::kUpdateSkillLibraryTool, arguments, reply);
  example.row.agent = rl::AgentKind::kSummary;
  example.row.origin.skills = std::move(names);
  return example;
}

}  // namespace davinci::sftdata
