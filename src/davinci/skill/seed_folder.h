// Seed skills: skills/<name>/, a skill together with the examples that prove it. docs/skills.md is
// the manual for authors.
//
//   SKILL.md                the skill (formats.h)
//   example.toml            target, language, task, threshold, threads
//   task.py [+ task.toml]   the reference, KernelBench layout, unless example.toml points elsewhere
//   before.py, after.py     candidates without and with the skill
//   evidence/<target>.json  what the judge found, written by `davinci skills verify --update`
//
// A skill for several languages has one example each: a further one is a folder
// examples/<language>/ with the same files except for SKILL.md (all may be there, none in the
// skill's folder itself).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

inline constexpr std::string_view kEvidenceSchema = "davinci.skill_evidence/1";
inline constexpr double kDefaultThreshold = 1.2;

struct SeedExample {
  std::filesystem::path folder;  // the skill's, or examples/<language>
  Target target = Target::kCpu;
  Language language = Language::kAuto;   // of both candidates, never kAuto once read
  std::filesystem::path task;            // absolute or relative to the working folder, exists
  std::filesystem::path before;          // exists
  std::filesystem::path after;           // exists
  double threshold = kDefaultThreshold;  // the lower bound of the uplift must reach it
  int threads = 0;                       // of reference and candidates; 0 = all cores
  // SHA-256 over what the measurement depends on: target, threads, task with sidecar,
  // before, after.
  std::string example_digest;

  std::filesystem::path EvidencePath() const;
};

struct SeedFolder {
  std::filesystem::path folder;
  Skill skill;
  std::vector<SeedExample> examples;  // at least one; that of the skill's folder first
};

// The folder of one skill. Every problem is named with file and line: a front matter that does not
// parse, a name that differs from the folder's, unknown keys of example.toml, missing files, two
// examples in one language, several examples that SKILL.md does not show under a heading each.
Result<SeedFolder> ReadSeedFolder(const std::filesystem::path& folder);
// The folders below `skills` that have a SKILL.md, by name. An example.toml is not required here.
Result<std::vector<std::filesystem::path>> ListSkillFolders(const std::filesystem::path& skills);

// One evidence file.
struct EvidenceFile {
  Evidence evidence;
  std::string example_digest;
  double threshold = 0;
  nlohmann::json before;  // the judge's verdicts, without their bulk
  nlohmann::json after;
};

// From what the judge said about this example of `seed`. `cpu_model` names the device where the
// judge does not (target cpu). Fails when there is no uplift (UpliftOf).
Result<EvidenceFile> MakeEvidence(const SeedFolder& seed, const SeedExample& example,
                                  const Evaluation& before, const Evaluation& after,
                                  std::string_view cpu_model, std::string_view run,
                                  std::string_view now_utc);
nlohmann::json ToJson(const EvidenceFile& file);
Result<EvidenceFile> EvidenceFileFromJson(const nlohmann::json& document);
// Nothing when there is no file; a damaged one is an error that names it.
Result<std::optional<EvidenceFile>> ReadEvidenceFile(const std::filesystem::path& path);
// The evidence of all examples of a skill's folder, by target and language; a language that a file
// does not record is that of its example.toml.
Result<std::vector<Evidence>> ReadEvidence(const std::filesystem::path& folder);

}  // namespace davinci::skill
