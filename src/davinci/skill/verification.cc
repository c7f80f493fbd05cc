#include "davinci/skill/verification.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"

namespace davinci::skill {
namespace {

// High over low end of an interval that says more about the machine than about the skill.
constexpr double kWideInterval = 2.0;

// An interval that leaves the threshold inside decides nothing: the pair is judged again, and the
// narrowest interval counts, which is the round that was disturbed least.
constexpr int kMaxRounds = 3;

double Width(const EvidenceFile& file) {
  const Interval& u = file.evidence.uplift;
  return std::log(u.high) - std::log(u.low);
}

ExampleOutcome Ended(ExampleOutcome outcome, Standing standing, std::string remark) {
  outcome.standing = standing;
  outcome.remark = std::move(remark);
  return outcome;
}

// Nothing when a verdict is no evidence; `outcome` says why then.
std::optional<EvidenceFile> Measure(const SeedFolder& seed, const SeedExample& example,
                                    const VerificationSettings& settings, const JudgeExample& judge,
                                    ExampleOutcome* outcome) {
  Evaluation verdicts[2];
  for (int i = 0; i < 2; ++i) {
    verdicts[i] = judge(outcome->name, example, i == 0 ? example.before : example.after);
    if (verdicts[i].outcome != Outcome::kJudgeError) continue;
    const bool theirs = verdicts[i].evidence.value("kind", "") == "bad_input";
    *outcome =
        Ended(*outcome, theirs ? Standing::kBadInput : Standing::kJudgeFailed, verdicts[i].message);
    return std::nullopt;
  }
  char now[32];
  WallTime::FormatUtc(now);
  auto evidence =
      MakeEvidence(seed, example, verdicts[0], verdicts[1], settings.cpu_model, settings.run, now);
  if (!evidence.ok()) {
    *outcome = Ended(*outcome, Standing::kFails, evidence.status().message());
    return std::nullopt;
  }
  return std::move(*evidence);
}

Status Write(const SeedExample& example, const EvidenceFile& evidence) {
  const auto path = example.EvidencePath();
  DAVINCI_RETURN_IF_ERROR(MakeDirs(path.parent_path()));
  return WriteFileAtomic(path, JsonText(ToJson(evidence), 1) + "\n");
}

}  // namespace

std::string_view StandingName(Standing standing) {
  switch (standing) {
    case Standing::kStands:
      return "stands";
    case Standing::kFails:
      return "FAILS";
    case Standing::kSkipped:
      return "skipped";
    case Standing::kBadInput:
      return "bad input";
    case Standing::kJudgeFailed:
      return "judge failed";
  }
  return "unknown";
}

ExampleOutcome VerifyExample(const SeedFolder& seed, const SeedExample& example,
                             const VerificationSettings& settings, const JudgeExample& judge) {
  ExampleOutcome outcome;
  outcome.name = seed.skill.name;
  if (seed.examples.size() > 1)
    outcome.name += fmt::format(" ({})", LanguageName(example.language));
  outcome.target = TargetName(example.target);
  outcome.language = LanguageName(example.language);
  outcome.threshold = example.threshold;
  if (settings.list) return Ended(outcome, Standing::kSkipped, example.folder.string());
  const auto recorded = ReadEvidenceFile(example.EvidencePath());
  if (!recorded.ok() && !settings.update)
    return Ended(outcome, Standing::kBadInput, recorded.status().message());
  const bool has_record = recorded.ok() && recorded->has_value();
  if (has_record) outcome.recorded = recorded->value().evidence.uplift;
  if (example.target == Target::kCuda && !settings.has_gpu)
    return Ended(outcome, Standing::kSkipped, "this machine has no GPU");

  std::optional<EvidenceFile> evidence;
  for (int round = 0; round < kMaxRounds; ++round) {
    auto measured = Measure(seed, example, settings, judge, &outcome);
    if (!measured) return outcome;
    if (!evidence || Width(*measured) < Width(*evidence)) evidence = std::move(measured);
    const Interval& u = evidence->evidence.uplift;
    if (u.low >= example.threshold || u.high < example.threshold) break;
  }
  outcome.uplift = evidence.value().evidence.uplift;
  if (outcome.uplift->low < example.threshold)
    return Ended(outcome, Standing::kFails,
                 fmt::format("the uplift may be as low as {:.3g}, less than {:.3g}{}",
                             outcome.uplift->low, example.threshold,
                             outcome.uplift->high > kWideInterval * outcome.uplift->low
                                 ? "; times spread widely: is the machine busy?"
                                 : ""));
  if (settings.update) {
    const Status written = Write(example, evidence.value());
    if (!written.ok()) return Ended(outcome, Standing::kJudgeFailed, written.ToString());
    outcome.written = true;
    return outcome;
  }
  if (!has_record)
    return Ended(outcome, Standing::kFails, "no evidence file yet; --update writes it");
  if (recorded->value().example_digest != example.example_digest)
    return Ended(outcome, Standing::kFails,
                 "its evidence was measured on other files; --update renews it");
  return outcome;
}

}  // namespace davinci::skill
