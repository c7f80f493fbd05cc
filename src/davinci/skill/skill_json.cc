#include "davinci/skill/skill_json.h"

#include <fmt/format.h>

#include "davinci/base/json_text.h"

namespace davinci::skill {
namespace {

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

}  // namespace

Result<Skill> ParseSkillJson(std::string_view line) {
  const OrderedJson document = OrderedJson::parse(line, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InvalidArgument("not valid JSON");
  if (!document.is_object()) return InvalidArgument("not a JSON object");
  for (const char* key : {"name", "description", "content"})
    if (!document.contains(key)) return InvalidArgument(fmt::format("\"{}\" is missing", key));
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

std::string FormatSkillJson(const Skill& skill, std::optional<double> verify_speedup) {
  if (!skill.json_line.empty()) {
    const auto written = ParseSkillJson(skill.json_line);
    if (written.ok() && *written == skill) return skill.json_line;
  }
  OrderedJson document = FieldsJson(skill);
  if (verify_speedup && !document.contains("verify_speedup"))
    document["verify_speedup"] = *verify_speedup;
  return JsonText(document);
}

}  // namespace davinci::skill
