// Verification: does an example still prove its seed skill on this machine?
//
// Decides from the judge's verdicts on before.py and after.py and from the evidence file. Starts no
// process; writes the evidence file where that is asked for, and nothing else.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "davinci/data/evaluation.h"
#include "davinci/skill/seed_folder.h"

namespace davinci::skill {

enum class Standing { kStands, kFails, kSkipped, kBadInput, kJudgeFailed };
std::string_view StandingName(Standing standing);

struct ExampleOutcome {
  std::string name;
  Standing standing = Standing::kStands;
  std::string remark;
  std::string target;
  std::string language;
  double threshold = 0;
  std::optional<Interval> uplift;    // measured now
  std::optional<Interval> recorded;  // in the evidence file
  bool written = false;
};

struct VerificationSettings {
  bool list = false;      // judge nothing: every example is skipped, with its folder as remark
  bool update = false;    // write the evidence file of an example that reaches its threshold
  bool has_gpu = false;   // without one, examples for cuda are skipped
  std::string cpu_model;  // as MakeEvidence()
  std::string run;        // likewise
};

// Judges one candidate of an example; `name` is that of its outcome. Outcome::kJudgeError: no
// verdict, and evidence.kind is "bad_input" where a file of the user's is at fault.
using JudgeExample = std::function<Evaluation(const std::string& name, const SeedExample& example,
                                              const std::filesystem::path& candidate)>;

// Judges before and after, up to three times while the interval of the uplift leaves the threshold
// inside; the narrowest interval counts.
ExampleOutcome VerifyExample(const SeedFolder& seed, const SeedExample& example,
                             const VerificationSettings& settings, const JudgeExample& judge);

}  // namespace davinci::skill
