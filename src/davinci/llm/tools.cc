#include "davinci/llm/tools.h"

namespace davinci::llm {
namespace {

using Json = nlohmann::json;

Json Text(std::string_view description) {
  return {{"type", "string"}, {"description", description}};
}

}  // namespace

ToolSpec SelectSkillsTool(const std::vector<std::string>& shown, int max_selected) {
  Json name = Text("Name of a listed skill, exactly as listed.");
  if (!shown.empty()) name["enum"] = shown;
  const Json item = {{"type", "object"},
                     {"properties", {{"name", name}, {"reason", Text("Why it helps here.")}}},
                     {"required", {"name", "reason"}}};
  ToolSpec tool;
  tool.name = kSelectSkillsTool;
  tool.description = "Choose the skills that will be shown to the engineer who writes the kernel.";
  tool.parameters = {
      {"type", "object"},
      {"properties",
       {{"think", Text("The reasoning that leads to the choice.")},
        {"selected_skills",
         {{"type", "array"},
          {"description", "The chosen skills, most useful first; empty when none helps."},
          {"items", item},
          {"maxItems", max_selected}}}}},
      {"required", {"think", "selected_skills"}}};
  return tool;
}

ToolSpec UpdateSkillLibraryTool(int max_new_skills) {
  Json description = Text("One line: when to use the skill and what it gains.");
  description["maxLength"] = kMaxSkillDescriptionChars;
  const Json item = {
      {"type", "object"},
      {"properties",
       {{"name", Text("Short and unique: lower-case words joined by hyphens.")},
        {"description", description},
        {"scope", Text("\"general\", or \"task_specific/<family>\".")},
        {"tags",
         {{"type", "array"},
          {"items", {{"type", "string"}}},
          {"minItems", kMinSkillTags},
          {"maxItems", kMaxSkillTags}}},
        {"content", Text("Markdown with the sections Motivation, Key Idea and Example.")}}},
      {"required", {"name", "description", "scope", "tags", "content"}}};
  ToolSpec tool;
  tool.name = kUpdateSkillLibraryTool;
  tool.description = "Propose new skills for the library; they are kept only if they prove useful.";
  tool.parameters = {{"type", "object"},
                     {"properties",
                      {{"think", Text("What made the kernel faster, and what carries over.")},
                       {"new_skills",
                        {{"type", "array"},
                         {"description", "The proposed skills; empty when nothing carries over."},
                         {"items", item},
                         {"maxItems", max_new_skills}}}}},
                     {"required", {"think", "new_skills"}}};
  return tool;
}

}  // namespace davinci::llm
