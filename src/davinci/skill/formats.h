// Skills as files: folders of SKILL.md (skill_md.h) and the published JSONL (skill_json.h).
//
// Both directions are exact. What was read is kept beside the fields it gave (Skill::json_line,
// skill_md), and is written again byte by byte as long as the fields still say the same; a changed
// or foreign skill is written in canonical form. Converting to the other format and back keeps
// every field, unknown ones too.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

struct Document {
  Skill skill;
  // Of <folder>/evidence/*.json (seed_folder.h) and <folder>/evidence.json, or of the line.
  std::vector<Evidence> evidence;
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
// <folder>/<name>/SKILL.md each, with evidence.json where there is evidence, replaced atomically.
// Two names that give one folder are refused before anything is written.
Status WriteFolders(const std::filesystem::path& folder, const std::vector<Document>& documents);

}  // namespace davinci::skill
