// Skill: a piece of optimisation advice that execution has proved, and what is known about it.
//
// The five published fields are the Skill; Evidence is the experiment that admitted it; Usage is
// what happened since; a Record is all three as the library keeps them. Plain values, no I/O.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/language.h"
#include "davinci/data/rollout.h"

namespace davinci::skill {

// Keys keep the order in which they were written.
using OrderedJson = nlohmann::ordered_json;

struct Skill {
  std::string name;         // unique in a library: [a-z0-9_-]+, at most kMaxNameBytes
  std::string description;  // one line: when to use it and what it does
  // "general", "task_specific/<category>", or "operator/<name>" of an operator card.
  std::string scope = "general";
  std::vector<std::string> tags;
  std::string content;  // Markdown
  // Fields of the source that davinci does not know (license, source_uuid, …), an object; kept so
  // that what was imported can be exported again.
  OrderedJson extra = OrderedJson::object();

  // The text it was read from, if any: formats.h writes it again byte by byte as long as the fields
  // above are still what it says. No part of equality.
  std::string json_line;
  std::string skill_md;

  // A card of an operator.
  bool IsCard() const { return scope.starts_with(kCardScope); }
  static constexpr std::string_view kCardScope = "operator/";

  bool operator==(const Skill& other) const;
};

// One experiment: kernels with the skill against kernels without it; the uplift is the ratio of
// their speedups, above 1 when the skill helps. A record has at most one per target and language,
// the latest; older ones stay in the history.
struct Evidence {
  Interval uplift;
  std::string target = "cpu";      // "cpu" or "cuda"
  std::string language;            // of the kernels (data/language.h); "": not recorded
  std::string device;              // as the judge names it
  std::vector<std::string> tasks;  // on which it was measured
  int num_generations = 0;         // per arm; 0: an example written by hand, no model was asked
  std::string protocol;            // "davinci/1": the judge's name and version
  std::string run;                 // the run (or command) that measured it
  std::string last_verified;       // UTC, "2026-02-03T04:05:06Z"
  // Speedup over the task's baseline with the skill; the published field verify_speedup.
  std::optional<double> speedup;
  // Of an experiment that counted: correct kernels with and without the skill, of so many pairs.
  struct Correctness {
    int num_pairs = 0;
    int with_skill = 0;
    int without_skill = 0;
    bool raised = false;  // significantly: what the skill was admitted for when it is not faster
    bool operator==(const Correctness&) const = default;
  };
  std::optional<Correctness> correctness;

  bool operator==(const Evidence&) const = default;
};

// What happened to a skill in rollouts. An observation of uplift is the ratio "scheme with this
// skill / null scheme" of one task; its logarithms are summed, so that mean and interval can be
// formed.
struct Usage {
  int64_t shown = 0;     // times among the candidates shown to a selection agent
  int64_t selected = 0;  // times in a scheme
  int64_t wins = 0;      // schemes with it that were the best of their task, and beat the null one
  int64_t observations = 0;
  double log_uplift_sum = 0;
  double log_uplift_square_sum = 0;

  void Observe(double uplift);  // uplift > 0
  void Add(const Usage& other);
  // Geometric mean of the observations; nothing without one.
  std::optional<double> MeanUplift() const;
  // Its normal 95 % interval; nothing with fewer than two observations.
  std::optional<Interval> UpliftInterval() const;

  bool operator==(const Usage&) const = default;
};

// Same target and language; a language that was not recorded is any.
bool SameSubject(const Evidence& a, const Evidence& b);

enum class SkillState {
  kActive,
  kRetired,  // by evidence or by hand: kept, never found by a search
  kEvicted,  // the cap was reached
};
std::string_view SkillStateName(SkillState state);
std::optional<SkillState> ParseSkillState(std::string_view name);

struct Record {
  Skill skill;
  std::vector<Evidence> evidence;  // sorted by target, then language
  Usage usage;
  SkillState state = SkillState::kActive;
  int64_t position = 0;  // order of arrival, from 1; exports keep it

  // The one about the same subject; null without any.
  const Evidence* EvidenceLike(const Evidence& other) const;
  // The evidence with the highest lower bound; null without any.
  const Evidence* BestEvidence() const;

  bool operator==(const Record&) const = default;
};

inline constexpr size_t kMaxNameBytes = 128;
inline constexpr size_t kMaxDescriptionBytes = 1024;  // the limit of Agent Skills
inline constexpr size_t kMaxContentBytes = 64 << 10;
inline constexpr size_t kMaxTags = 32;

enum class Strictness {
  kPublished,  // what a published library may hold: name, description and content are usable
  kAuthored,   // what we accept from people and models: also the three sections, a valid scope,
               // and a name that an Agent Skill may have (kebab-case, <= 64)
};
// InvalidArgument lists every problem, separated by "; ".
Status Validate(const Skill& skill, Strictness strictness);
// A known target, 0 <= low <= median <= high with a positive median.
Status Validate(const Evidence& evidence);
// Lower-case letters, digits and single hyphens inside, at most 64: the rule of Agent Skills.
bool IsKebabCase(std::string_view name);
// The headings an authored skill must have, in order: "## Motivation", "## Key Idea", "## Example".
const std::vector<std::string>& RequiredHeadings();

nlohmann::json ToJson(const Evidence& evidence);
nlohmann::json ToJson(const Usage& usage);
// Strict inverses; wrong types and missing members are errors. Only `language` and `correctness`
// may be missing.
Result<Evidence> EvidenceFromJson(const nlohmann::json& document);
Result<Usage> UsageFromJson(const nlohmann::json& document);
// Everything about a record as one document, for --json.
OrderedJson ToJson(const Record& record);

// How a skill appears in a prompt: a front-matter block (name, description, scope, tags as [a, b])
// and the content. Ends with one line break. With a language, only the examples for it are shown
// (ContentFor, examples.h).
std::string RenderSkill(const Skill& skill, Language language = Language::kAuto);
// Several, in order, separated by one blank line; "" for none.
std::string RenderSkills(const std::vector<Skill>& skills, Language language = Language::kAuto);

}  // namespace davinci::skill
