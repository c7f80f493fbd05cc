// Seed skills: skills/<name>/, a skill together with the example that proves it. docs/skills.md is
// the manual for authors.
//
//   SKILL.md                the skill (formats.h)
//   example.toml            target, task, threshold, threads
//   task.py [+ task.toml]   the reference, KernelBench layout, unless example.toml points elsewhere
//   before.py, after.py     candidates without and with the skill
//   evidence/<target>.json  what the judge found, written by `davinci skills verify --update`
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

struct SeedFolder {
  std::filesystem::path folder;
  Skill skill;
  Target target = Target::kCpu;
  Language language = Language::kAuto;
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

// The folder of one skill. Every problem is named with file and line: a front matter that does not
// parse, a name that differs from the folder's, unknown keys of example.toml, missing files.
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

// From what the judge said. `cpu_model` names the device where the judge does not (target cpu).
// Fails when there is no uplift (UpliftOf).
Result<EvidenceFile> MakeEvidence(const SeedFolder& seed, const Evaluation& before,
                                  const Evaluation& after, std::string_view cpu_model,
                                  std::string_view run, std::string_view now_utc);
nlohmann::json ToJson(const EvidenceFile& file);
Result<EvidenceFile> EvidenceFileFromJson(const nlohmann::json& document);
// Nothing when there is no file; a damaged one is an error that names it.
Result<std::optional<EvidenceFile>> ReadEvidenceFile(const std::filesystem::path& path);
// All of <folder>/evidence/*.json, by target.
Result<std::vector<Evidence>> ReadEvidence(const std::filesystem::path& folder);

}  // namespace davinci::skill
