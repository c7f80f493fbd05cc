#include "davinci/skill/skill_json.h"

#include <fmt/format.h>

#include <optional>

#include "davinci/base/json_text.h"

namespace davinci::skill {
namespace {

constexpr std::string_view kEvidenceKey = "davinci_evidence";

// Throws OrderedJson::exception for members of the wrong type.
Skill ReadFields(const OrderedJson& document) {
  Skill skill;
  for (const auto& [key, value] : document.items()) {
    if (key == "name") {
      skill.name = value.get<std::string>();
    } else if (key == "description") {
      skill.description = value.get<std::string>();
    } else if (key == "scope") {
      skill.scope = value.get<std::string>();
    } else if (key == "tags") {
      skill.tags = value.get<std::vector<std::string>>();
    } else if (key == "content") {
      skill.content = value.get<std::string>();
    } else {
      skill.extra[key] = value;
    }
  }
  return skill;
}

// Takes the evidence out of a line, and with it verify_speedup, which follows from it.
Result<std::vector<Evidence>> TakeEvidence(OrderedJson* document) {
  std::vector<Evidence> evidence;
  const auto found = document->find(std::string(kEvidenceKey));
  if (found == document->end()) return evidence;
  const auto wrong = [](std::string_view what) {
    return InvalidArgument(fmt::format("{}: {}", kEvidenceKey, what));
  };
  if (!found->is_array()) return wrong("not a list");
  for (const OrderedJson& entry : *found) {
    auto one = EvidenceFromJson(nlohmann::json(entry));
    if (!one.ok()) return wrong(one.status().message());
    if (const Status valid = Validate(*one); !valid.ok()) return wrong(valid.message());
    evidence.push_back(std::move(*one));
  }
  document->erase(std::string(kEvidenceKey));
  document->erase("verify_speedup");
  return evidence;
}

}  // namespace

Result<Skill> ParseSkillJson(std::string_view line, std::vector<Evidence>* evidence) {
  OrderedJson document = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InvalidArgument("not valid JSON");
  if (!document.is_object()) return InvalidArgument("not a JSON object");
  for (const char* key : {"name", "description", "content"})
    if (!document.contains(key)) return InvalidArgument(fmt::format("\"{}\" is missing", key));
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<Evidence> own, TakeEvidence(&document));
  if (evidence != nullptr) *evidence = own;
  DAVINCI_ASSIGN_OR_RETURN(Skill skill, SkillFromFields(document));
  DAVINCI_RETURN_IF_ERROR(Validate(skill, Strictness::kPublished));
  skill.json_line = line;
  return skill;
}

Result<Skill> SkillFromFields(const OrderedJson& document) {
  try {
    return ReadFields(document);
  } catch (const OrderedJson::exception& error) {
    return InvalidArgument(fmt::format("a field has the wrong type: {}", error.what()));
  }
}

OrderedJson FieldsJson(const Skill& skill) {
  OrderedJson document = {{"name", skill.name},
                          {"description", skill.description},
                          {"scope", skill.scope},
                          {"tags", skill.tags},
                          {"content", skill.content}};
  for (const auto& [key, value] : skill.extra.items()) document[key] = value;
  return document;
}

std::string FormatSkillJson(const Skill& skill, const std::vector<Evidence>& evidence) {
  if (!skill.json_line.empty()) {
    std::vector<Evidence> known;
    const auto written = ParseSkillJson(skill.json_line, &known);
    if (written.ok() && *written == skill && known == evidence) return skill.json_line;
  }
  OrderedJson document = FieldsJson(skill);
  std::optional<double> speedup;
  OrderedJson list = OrderedJson::array();
  for (const Evidence& one : evidence) {
    if (one.speedup && (!speedup || *one.speedup > *speedup)) speedup = one.speedup;
    list.push_back(OrderedJson(ToJson(one)));
  }
  if (speedup && !document.contains("verify_speedup")) document["verify_speedup"] = *speedup;
  if (!list.empty()) document[std::string(kEvidenceKey)] = std::move(list);
  return JsonText(document);
}

}  // namespace davinci::skill
