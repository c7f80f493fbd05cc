// A skill as one line of the published JSONL (global_step_N.jsonl): an object with name,
// description, scope, tags, content, and verify_speedup where one was measured. Evidence stands in
// a further member, davinci_evidence, which readers of the published format skip.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

// Missing scope and tags are "general" and none. Checked with Strictness::kPublished; the line is
// kept in Skill::json_line. `evidence` (may be null) gets what the line holds.
Result<Skill> ParseSkillJson(std::string_view line, std::vector<Evidence>* evidence = nullptr);

// Without the line break: the line the skill was read from while it still says the same, else the
// canonical form. verify_speedup is the best speedup of `evidence`, unless the skill has such a
// field already.
std::string FormatSkillJson(const Skill& skill, const std::vector<Evidence>& evidence = {});

// The five fields and the unknown ones as an object, and back. The inverse checks types only.
OrderedJson FieldsJson(const Skill& skill);
Result<Skill> SkillFromFields(const OrderedJson& document);

}  // namespace davinci::skill
