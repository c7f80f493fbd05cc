// A skill as one line of the published JSONL (global_step_N.jsonl): an object with name,
// description, scope, tags, content, and verify_speedup where one was measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

// Missing scope and tags are "general" and none. Checked with Strictness::kPublished; the line is
// kept in Skill::json_line.
Result<Skill> ParseSkillJson(std::string_view line);

// Without the line break: the line the skill was read from while it still says the same, else the
// canonical form. `verify_speedup` is written unless the skill has such a field already.
std::string FormatSkillJson(const Skill& skill, std::optional<double> verify_speedup = {});

// The five fields and the unknown ones as an object, and back. The inverse checks types only.
OrderedJson FieldsJson(const Skill& skill);
Result<Skill> SkillFromFields(const OrderedJson& document);

}  // namespace davinci::skill
