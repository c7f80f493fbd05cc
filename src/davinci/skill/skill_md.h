// A skill as SKILL.md, an Agent Skill.
//
//   ---
//   name: fuse-the-epilogue
//   description: One line, quoted when YAML needs it.
//   metadata:
//     scope: general
//     tags: matmul, fusion, cpp
//   ---
//
//   ## Motivation
//   …
//
// The content begins after one empty line below the front matter and ends before the last line
// break. `scope` and `tags` lie under `metadata`, where Agent Skills keeps everything it does not
// define; at the top level they are read too. A name that is not kebab-case cannot name a folder:
// it is written with '-' for '_', and in its own spelling as metadata `davinci-name`. Unknown
// fields: license, compatibility, allowed-tools and further metadata stay where they are; whatever
// else a skill carries goes to metadata `davinci-extra` as JSON.
#pragma once

#include <string>
#include <string_view>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

// "SKILL.md:4: …"; `source` names the text. Checked with Strictness::kPublished; the text is kept
// in Skill::skill_md.
Result<Skill> ParseSkillMd(std::string_view text, std::string_view source);

// The text the skill was read from while it still says the same, else the canonical form.
std::string FormatSkillMd(const Skill& skill);

// The folder's name for a skill: its name in kebab-case, cut to 64 letters.
std::string FolderName(const Skill& skill);

}  // namespace davinci::skill
