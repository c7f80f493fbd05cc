#include "davinci/llm/tool_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/base/utf8.h"
#include "davinci/llm/thinking.h"
#include "davinci/llm/tool_call_text.h"

namespace davinci::llm {
namespace {

using Json = nlohmann::json;

constexpr WantedCall kSelect = {kSelectSkillsTool, "selected_skills"};
constexpr WantedCall kUpdate = {kUpdateSkillLibraryTool, "new_skills"};

// Names of other tools and reasons go into messages; they may be anything.
std::string Quoted(std::string_view text) { return '"' + Ellipsize(Printable(text), 60) + '"'; }

std::string TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "";
  return JsonText(value);
}

std::string MemberText(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? "" : TextOf(*found);
}

// "functions.select_skills" and the like mean the same.
bool IsTool(std::string_view name, std::string_view tool) {
  if (!name.ends_with(tool)) return false;
  name.remove_suffix(tool.size());
  return name.empty() || name.back() == '.' || name.back() == ':' || name.back() == '/';
}

// The calls of the wanted tool, merged: the text of the first "think", the lists one after another.
struct MergedCall {
  bool found = false;
  ToolCallForm form = ToolCallForm::kNative;
  std::string think;
  std::vector<Json> items;
  ToolCallError error = ToolCallError::kNoCall;  // unless found
  std::string message;
};

// How much an error tells; of several the one that tells most is reported.
int Weight(ToolCallError error) {
  switch (error) {
    case ToolCallError::kNoCall:
      return 0;
    case ToolCallError::kWrongTool:
      return 1;
    default:
      return 2;
  }
}

class Merger {
 public:
  Merger(const WantedCall& wanted, const Reply& reply) : wanted_(wanted), reply_(reply) {}

  MergedCall Run() {
    const std::string answer = ValidUtf8(SplitThinking(reply_.text).answer);
    if (Try(ToolCallForm::kNative, NativeCalls()) ||
        Try(ToolCallForm::kQwenXml, QwenXmlCalls(answer)) ||
        Try(ToolCallForm::kHermes, answer.find("<function=") == std::string::npos
                                       ? HermesCalls(answer, wanted_)
                                       : std::vector<RawCall>{}) ||
        Try(ToolCallForm::kFenced, FencedCalls(answer, wanted_)) ||
        Try(ToolCallForm::kBare, BareCalls(answer, wanted_))) {
      return std::move(merged_);
    }
    if (merged_.error == ToolCallError::kNoCall)
      merged_.message = fmt::format("The reply holds no call of {}.", wanted_.tool);
    if (reply_.finish_reason == FinishReason::kLength && Weight(merged_.error) != 1) {
      merged_.error = ToolCallError::kTruncated;
      merged_.message =
          fmt::format("The reply was cut at the length limit before the call of {} was complete.",
                      wanted_.tool);
    }
    return std::move(merged_);
  }

 private:
  std::vector<RawCall> NativeCalls() const {
    std::vector<RawCall> calls;
    for (const ToolCall& call : reply_.tool_calls) {
      RawCall& raw = calls.emplace_back();
      raw.name = call.name;
      const std::string arguments = ValidUtf8(call.arguments);
      raw.arguments = Json::parse(arguments, nullptr, /*allow_exceptions=*/false);
      if (!raw.arguments.is_discarded()) {
        if (raw.arguments.is_string()) raw.arguments = DecodeText(raw.arguments.get<std::string>());
        continue;
      }
      Literal literal = ReadLiteral(arguments);
      raw.arguments = std::move(literal.value);
      raw.error = literal.error;
    }
    return calls;
  }

  void Complain(ToolCallError error, std::string message) {
    if (Weight(error) <= Weight(merged_.error)) return;
    merged_.error = error;
    merged_.message = std::move(message);
  }

  bool Try(ToolCallForm form, const std::vector<RawCall>& calls) {
    for (const RawCall& call : calls) {
      if (!call.name.empty() && !IsTool(call.name, wanted_.tool)) {
        Complain(ToolCallError::kWrongTool,
                 fmt::format("The reply calls {}, not {}.", Quoted(call.name), wanted_.tool));
      } else if (call.error == LiteralError::kTruncated) {
        Complain(ToolCallError::kTruncated,
                 fmt::format("The call of {} ends in the middle of its arguments.", wanted_.tool));
      } else if (call.error == LiteralError::kMalformed) {
        Complain(ToolCallError::kMalformed,
                 fmt::format("The arguments of {} are not valid JSON.", wanted_.tool));
      } else if (Add(call.arguments)) {
        merged_.found = true;
        merged_.form = form;
      }
    }
    return merged_.found;
  }

  bool Add(Json arguments) {
    if (arguments.is_array()) arguments = {{std::string(wanted_.list_key), std::move(arguments)}};
    if (!arguments.is_object()) {
      Complain(ToolCallError::kWrongType,
               fmt::format("The arguments of {} must be an object.", wanted_.tool));
      return false;
    }
    const auto list = arguments.find(wanted_.list_key);
    if (list == arguments.end()) {
      Complain(ToolCallError::kWrongType,
               fmt::format("The arguments of {} lack \"{}\".", wanted_.tool, wanted_.list_key));
      return false;
    }
    Json items = list->is_string() ? DecodeText(list->get<std::string>()) : *list;
    if (items.is_object()) items = Json::array({std::move(items)});
    if (items.is_null()) items = Json::array();
    if (!items.is_array()) {
      Complain(ToolCallError::kWrongType,
               fmt::format("\"{}\" of {} must be a list.", wanted_.list_key, wanted_.tool));
      return false;
    }
    if (merged_.think.empty()) merged_.think = MemberText(arguments, "think");
    for (Json& item : items) merged_.items.push_back(std::move(item));
    return true;
  }

  const WantedCall& wanted_;
  const Reply& reply_;
  MergedCall merged_;
};

template <typename T>
ToolResult<T> Failure(ToolCallError error, std::string message) {
  ToolResult<T> result;
  result.error = error;
  result.message = std::move(message);
  return result;
}

// For comparing names: lower case, and one kind of separator.
std::string Folded(std::string_view name) {
  const size_t start = name.find_first_not_of(" \t\r\n`\"'");
  if (start == std::string_view::npos) return "";
  name = name.substr(start, name.find_last_not_of(" \t\r\n`\"'") - start + 1);
  std::string folded;
  for (const char c : name) {
    if (c == '_' || c == ' ') {
      folded += '-';
    } else {
      folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return folded;
}

// The shown name that `name` means, or null.
const std::string* Resolve(const std::string& name, const std::vector<std::string>& shown) {
  if (const auto exact = std::find(shown.begin(), shown.end(), name); exact != shown.end())
    return &*exact;
  const std::string folded = Folded(name);
  const std::string* match = nullptr;
  for (const std::string& candidate : shown) {
    if (Folded(candidate) != folded) continue;
    if (match != nullptr && *match != candidate) return nullptr;
    match = &candidate;
  }
  return match;
}

std::vector<std::string> TagsOf(const Json& skill) {
  std::vector<std::string> tags;
  const auto found = skill.find("tags");
  if (found == skill.end()) return tags;
  const Json value = found->is_string() ? DecodeText(found->get<std::string>()) : *found;
  if (value.is_array()) {
    for (const Json& tag : value) {
      if (tag.is_string() && !tag.get_ref<const std::string&>().empty())
        tags.push_back(tag.get<std::string>());
    }
  } else if (value.is_string()) {  // "a, b, c"
    const std::string text = value.get<std::string>();
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(',', at), text.size());
      const size_t start = text.find_first_not_of(" \t", at);
      if (start < end) {
        const size_t last = text.find_last_not_of(" \t", end - 1);
        tags.push_back(text.substr(start, last - start + 1));
      }
      at = end + 1;
    }
  }
  return tags;
}

}  // namespace

std::string_view ToolCallErrorName(ToolCallError error) {
  constexpr std::array<std::string_view, 6> kNames = {"no_call",   "wrong_tool", "malformed",
                                                      "truncated", "wrong_type", "none_shown"};
  return kNames[static_cast<size_t>(error)];
}

std::string_view ToolCallFormName(ToolCallForm form) {
  constexpr std::array<std::string_view, 5> kNames = {"native", "qwen_xml", "hermes", "fenced",
                                                      "bare"};
  return kNames[static_cast<size_t>(form)];
}

ToolResult<SkillSelection> ParseSelectSkills(const Reply& reply,
                                             const std::vector<std::string>& shown,
                                             int max_selected) {
  MergedCall call = Merger(kSelect, reply).Run();
  if (!call.found) return Failure<SkillSelection>(call.error, std::move(call.message));
  SkillSelection selection;
  selection.think = std::move(call.think);
  for (const Json& item : call.items) {
    std::string name = item.is_object() ? MemberText(item, "name") : TextOf(item);
    const std::string* meant = Resolve(name, shown);
    if (meant == nullptr) {
      selection.unknown_names.push_back(std::move(name));
    } else if (std::any_of(selection.choices.begin(), selection.choices.end(),
                           [&](const SkillChoice& choice) { return choice.name == *meant; })) {
      ++selection.num_duplicates;
    } else if (selection.choices.size() >= static_cast<size_t>(std::max(max_selected, 0))) {
      ++selection.num_over_cap;
    } else {
      selection.choices.push_back({*meant, item.is_object() ? MemberText(item, "reason") : ""});
    }
  }
  if (selection.choices.empty() && !selection.unknown_names.empty()) {
    return Failure<SkillSelection>(
        ToolCallError::kNoneShown,
        fmt::format("None of the {} selected skills is among those listed; the first is {}.",
                    call.items.size(), Quoted(selection.unknown_names[0])));
  }
  ToolResult<SkillSelection> result;
  result.form = call.form;
  result.value = std::move(selection);
  return result;
}

ToolResult<SkillProposals> ParseUpdateSkillLibrary(const Reply& reply, int max_new_skills) {
  MergedCall call = Merger(kUpdate, reply).Run();
  if (!call.found) return Failure<SkillProposals>(call.error, std::move(call.message));
  SkillProposals proposals;
  proposals.think = std::move(call.think);
  for (size_t i = 0; i < call.items.size(); ++i) {
    const Json& item = call.items[i];
    const auto reject = [&](std::string_view why) {
      proposals.rejected.push_back(fmt::format("new_skills[{}] {}", i, why));
    };
    if (!item.is_object()) {
      reject("is not an object");
      continue;
    }
    ProposedSkill skill{MemberText(item, "name"), MemberText(item, "description"),
                        MemberText(item, "scope"), TagsOf(item), MemberText(item, "content")};
    if (skill.name.empty()) {
      reject("has no name");
    } else if (skill.content.empty()) {
      reject(Quoted(skill.name) + " has no content");
    } else if (std::any_of(proposals.skills.begin(), proposals.skills.end(),
                           [&](const ProposedSkill& other) { return other.name == skill.name; })) {
      reject(Quoted(skill.name) + " repeats a name");
    } else if (proposals.skills.size() >= static_cast<size_t>(std::max(max_new_skills, 0))) {
      reject(fmt::format("{} is more than the {} allowed", Quoted(skill.name), max_new_skills));
    } else {
      proposals.skills.push_back(std::move(skill));
    }
  }
  ToolResult<SkillProposals> result;
  result.form = call.form;
  result.value = std::move(proposals);
  return result;
}

}  // namespace davinci::llm
