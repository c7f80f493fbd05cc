// The two tools of the agents: their names, their JSON schemas, and what a call of them means.
//
//   select_skills         {think, selected_skills: [{name, reason}]}
//   update_skill_library  {think, new_skills: [{name, description, scope, tags, content}]}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/llm/backbone.h"

namespace davinci::llm {

inline constexpr std::string_view kSelectSkillsTool = "select_skills";
inline constexpr std::string_view kUpdateSkillLibraryTool = "update_skill_library";

// Longest accepted description, in bytes, and number of tags; stated in the schema, not enforced by
// the parser: the library decides what it takes.
inline constexpr int kMaxSkillDescriptionChars = 120;
inline constexpr int kMinSkillTags = 3;
inline constexpr int kMaxSkillTags = 6;

// `shown` are the names the model may choose from (the schema's enum); at most `max_selected`.
ToolSpec SelectSkillsTool(const std::vector<std::string>& shown, int max_selected);
ToolSpec UpdateSkillLibraryTool(int max_new_skills);

struct SkillChoice {
  std::string name;  // as shown
  std::string reason;
  bool operator==(const SkillChoice&) const = default;
};

// What the model chose, in its order; empty is a legal choice.
struct SkillSelection {
  std::string think;
  std::vector<SkillChoice> choices;        // shown, no duplicates, at most max_selected
  std::vector<std::string> unknown_names;  // left out: not among those shown
  int num_duplicates = 0;                  // left out: named before
  int num_over_cap = 0;                    // left out: too many
  bool operator==(const SkillSelection&) const = default;
};

struct ProposedSkill {
  std::string name;
  std::string description;
  std::string scope;
  std::vector<std::string> tags;
  std::string content;
  bool operator==(const ProposedSkill&) const = default;
};

// What the model proposes; empty is legal ("nothing worth keeping").
struct SkillProposals {
  std::string think;
  std::vector<ProposedSkill> skills;  // complete ones, distinct names, at most max_new_skills
  std::vector<std::string> rejected;  // one sentence for each that was left out
  bool operator==(const SkillProposals&) const = default;
};

}  // namespace davinci::llm
