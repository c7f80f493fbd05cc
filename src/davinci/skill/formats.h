// Skills as files: folders of SKILL.md (Agent Skills) and the published JSONL.
//
// Both directions are exact. What was read is kept beside the fields it gave (Skill::json_line,
// skill_md), and is written again byte by byte as long as the fields still say the same; a changed
// or foreign skill is written in the canonical form below. Converting to the other format and back
// keeps every field, unknown ones too.
//
// SKILL.md, canonical:
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
// `scope` and `tags` lie under `metadata`, where Agent Skills keeps everything it does not define;
// at the top level they are accepted too. A name that is not kebab-case cannot name a folder: it is
// written with '-' for '_' and its own spelling in metadata `davinci-name`. Further unknown fields
// that YAML text cannot carry go to metadata `davinci-extra` as JSON.
//
// JSONL (global_step_N.jsonl): one object per line with name, description, scope, tags, content,
// and verify_speedup for skills with a measured speedup.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

// "SKILL.md:4: …" for every problem; `source` names the text.
Result<Skill> ParseSkillMd(std::string_view text, std::string_view source);
// Canonical, for any valid skill.
std::string FormatSkillMd(const Skill& skill);
// The folder's name for a skill: its name in kebab-case.
std::string FolderName(const Skill& skill);

Result<Skill> ParseSkillJson(std::string_view line);
// Without the line break. `verify_speedup` is written unless the skill has such a field already.
std::string FormatSkillJson(const Skill& skill, std::optional<double> verify_speedup = {});

struct Document {
  Skill skill;
  std::vector<Evidence> evidence;  // of <folder>/evidence/*.json (seed_folder.h)
};

struct ReadProblem {
  std::string where;  // "file:line" or the folder
  std::string what;
};

struct ReadResult {
  std::vector<Document> documents;  // in order of the file, or of folder names
  std::vector<ReadProblem> problems;
};

// `path` is a .jsonl file, a SKILL.md, a folder with one, or a folder of such folders. Bad entries
// are problems; a path that is none of these is an error.
Result<ReadResult> ReadSkills(const std::filesystem::path& path);

// One line per skill, replaced atomically.
Status WriteJsonl(const std::filesystem::path& file, const std::vector<Document>& documents);
// <folder>/<name>/SKILL.md each, replaced atomically. Two names that give one folder are refused
// before anything is written.
Status WriteFolders(const std::filesystem::path& folder, const std::vector<Document>& documents);

}  // namespace davinci::skill
