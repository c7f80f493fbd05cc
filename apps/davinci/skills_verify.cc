#include "skills_verify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>

#include "davinci/agent/device_facts.h"
#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/table.h"
#include "davinci/gpu/device.h"
#include "davinci/skill/seed_folder.h"
#include "davinci/skill/uplift.h"
#include "judging.h"
#include "report.h"
#include "skills_view.h"

namespace davinci::app {
namespace {

using nlohmann::json;

constexpr char kRun[] = "davinci skills verify";
constexpr char kSchema[] = "davinci.skill_verification/1";

// High over low end of an interval that says more about the machine than about the skill.
constexpr double kWideInterval = 2.0;

// An interval that leaves the threshold inside decides nothing: the pair is judged again, and the
// narrowest interval counts, which is the round that was disturbed least.
constexpr int kMaxRounds = 3;

enum class Standing { kStands, kFails, kSkipped, kBadInput, kJudgeFailed };

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

int ExitCodeOf(Standing standing) {
  switch (standing) {
    case Standing::kFails:
      return 1;
    case Standing::kBadInput:
      return 2;
    case Standing::kJudgeFailed:
      return 3;
    default:
      return 0;
  }
}

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

class Verifier {
 public:
  explicit Verifier(const VerifyOptions& options)
      : options_(options), has_gpu_(!gpu::DeviceMonitor::Create()->devices().empty()) {}

  // One outcome per example.
  std::vector<ExampleOutcome> Verify(const std::string& folder) {
    const auto seed = skill::ReadSeedFolder(folder);
    if (!seed.ok()) {
      ExampleOutcome outcome;
      outcome.name = folder;
      return {Ended(outcome, Standing::kBadInput, seed.status().message())};
    }
    std::vector<ExampleOutcome> outcomes;
    for (const skill::SeedExample& example : seed->examples)
      if (IsAsked(example)) outcomes.push_back(VerifyExample(*seed, example));
    return outcomes;
  }

 private:
  bool IsAsked(const skill::SeedExample& example) const {
    if (options_.target && example.target != *options_.target) return false;
    if (!options_.missing) return true;
    const auto recorded = skill::ReadEvidenceFile(example.EvidencePath());
    return !recorded.ok() || !recorded->has_value() ||
           (*recorded)->example_digest != example.example_digest;
  }

  ExampleOutcome VerifyExample(const skill::SeedFolder& seed, const skill::SeedExample& example) {
    ExampleOutcome outcome;
    outcome.name = seed.skill.name;
    if (seed.examples.size() > 1)
      outcome.name += fmt::format(" ({})", LanguageName(example.language));
    outcome.target = TargetName(example.target);
    outcome.language = LanguageName(example.language);
    outcome.threshold = example.threshold;
    if (options_.list) return Ended(outcome, Standing::kSkipped, example.folder.string());
    const auto recorded = skill::ReadEvidenceFile(example.EvidencePath());
    if (!recorded.ok() && !options_.update)
      return Ended(outcome, Standing::kBadInput, recorded.status().message());
    const bool has_record = recorded.ok() && recorded->has_value();
    if (has_record) outcome.recorded = recorded->value().evidence.uplift;
    if (example.target == Target::kCuda && !has_gpu_)
      return Ended(outcome, Standing::kSkipped, "this machine has no GPU");

    std::optional<skill::EvidenceFile> evidence;
    for (int round = 0; round < kMaxRounds; ++round) {
      auto measured = Measure(seed, example, &outcome);
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
    if (options_.update) {
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

  static double Width(const skill::EvidenceFile& file) {
    const Interval& u = file.evidence.uplift;
    return std::log(u.high) - std::log(u.low);
  }
  static ExampleOutcome Ended(ExampleOutcome outcome, Standing standing, std::string remark) {
    outcome.standing = standing;
    outcome.remark = std::move(remark);
    return outcome;
  }

  // Nothing when a verdict is no evidence; `outcome` says why then.
  std::optional<skill::EvidenceFile> Measure(const skill::SeedFolder& seed,
                                             const skill::SeedExample& example,
                                             ExampleOutcome* outcome) {
    std::optional<Evaluation> verdicts[2];
    for (int i = 0; i < 2; ++i) {
      auto verdict = Judge(outcome->name, example, i == 0 ? example.before : example.after);
      if (!verdict.ok()) {
        *outcome = Ended(
            *outcome, IsBadInput(verdict.status()) ? Standing::kBadInput : Standing::kJudgeFailed,
            verdict.status().message());
        return std::nullopt;
      }
      if (verdict->outcome == Outcome::kJudgeError) {
        *outcome = Ended(*outcome, Standing::kJudgeFailed, verdict->message);
        return std::nullopt;
      }
      verdicts[i] = std::move(*verdict);
    }
    char now[32];
    WallTime::FormatUtc(now);
    auto evidence = skill::MakeEvidence(seed, example, verdicts[0].value(), verdicts[1].value(),
                                        agent::CpuFacts(1).name, kRun, now);
    if (!evidence.ok()) {
      *outcome = Ended(*outcome, Standing::kFails, evidence.status().message());
      return std::nullopt;
    }
    return std::move(*evidence);
  }

  Result<Evaluation> Judge(const std::string& name, const skill::SeedExample& example,
                           const std::filesystem::path& candidate) {
    const int threads = example.threads > 0 ? example.threads : options_.threads;
    std::unique_ptr<OwnJudges>& judges = judges_[{example.target, threads}];
    if (judges == nullptr) {
      DAVINCI_ASSIGN_OR_RETURN(const Installation installation, FindInstallation(options_.python));
      JudgeSetup setup{MakeJudgeOptions(installation), {}};
      setup.options.threads = threads;
      setup.options.triton = example.target == Target::kCuda;
      judges = std::make_unique<OwnJudges>(setup);
    }
    judge::JobFiles job;
    job.reference_path = example.task.string();
    job.candidate_path = candidate.string();
    job.target = example.target;
    job.language = example.language;
    ProgressLine line;
    DAVINCI_ASSIGN_OR_RETURN(judge::EvaluationRequest request, judge::ReadRequest(job));
    request.progress = [&](std::string_view stage) {
      line.Show(fmt::format("{}: {}: {} …", name, candidate.filename().string(), stage));
    };
    auto reply = judges->Evaluate(request);
    if (!reply.ok()) return reply.status();
    return std::move(reply->evaluation);
  }

  static Status Write(const skill::SeedExample& example, const skill::EvidenceFile& evidence) {
    const auto path = example.EvidencePath();
    DAVINCI_RETURN_IF_ERROR(MakeDirs(path.parent_path()));
    return WriteFileAtomic(path, JsonText(ToJson(evidence), 1) + "\n");
  }

  const VerifyOptions& options_;
  const bool has_gpu_;
  // By target and threads, started when first needed.
  std::map<std::pair<Target, int>, std::unique_ptr<OwnJudges>> judges_;
};

std::string IntervalText(const std::optional<Interval>& uplift) {
  if (!uplift) return "-";
  skill::Evidence evidence;
  evidence.uplift = *uplift;
  return UpliftText(&evidence);
}

// One line per skill as it ends; a table would have to wait for the last one.
void Print(const ExampleOutcome& outcome, size_t name_width, bool color) {
  const TextStyle style = outcome.standing == Standing::kStands    ? TextStyle::kGood
                          : outcome.standing == Standing::kSkipped ? TextStyle::kDim
                                                                   : TextStyle::kBad;
  std::string line =
      fmt::format("{:<{}}  {}", outcome.name, name_width,
                  Styled(fmt::format("{:<12}", StandingName(outcome.standing)), style, color));
  if (outcome.uplift)
    line += fmt::format("  uplift {} on {}, needs {:.3g}", IntervalText(outcome.uplift),
                        outcome.target, outcome.threshold);
  if (outcome.uplift && outcome.recorded)
    line += fmt::format(", recorded {}", IntervalText(outcome.recorded));
  if (outcome.written) line += "; evidence written";
  if (!outcome.remark.empty()) line += "  " + Printable(outcome.remark);
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

json OutcomeJson(const ExampleOutcome& outcome) {
  const auto interval = [](const std::optional<Interval>& uplift) -> json {
    if (!uplift) return nullptr;
    skill::Evidence evidence;
    evidence.uplift = *uplift;
    return ToJson(evidence)["uplift"];
  };
  return {
      {"name", outcome.name},
      {"standing", outcome.standing == Standing::kFails ? "fails" : StandingName(outcome.standing)},
      {"target", outcome.target},
      {"language", outcome.language},
      {"threshold", outcome.threshold},
      {"uplift", interval(outcome.uplift)},
      {"recorded", interval(outcome.recorded)},
      {"written", outcome.written},
      {"remark", outcome.remark}};
}

}  // namespace

int RunVerify(const VerifyOptions& options) {
  Verifier verifier(options);
  const bool color = UseColor(STDOUT_FILENO);
  size_t name_width = 0;
  for (const std::string& folder : options.folders)
    name_width = std::max(name_width, std::filesystem::path(folder).filename().string().size());
  int counts[5] = {};
  int exit_code = 0;
  json outcomes = json::array();
  for (const std::string& folder : options.folders) {
    for (const ExampleOutcome& outcome : verifier.Verify(folder)) {
      ++counts[static_cast<int>(outcome.standing)];
      exit_code = std::max(exit_code, ExitCodeOf(outcome.standing));
      outcomes.push_back(OutcomeJson(outcome));
      if (!options.json) Print(outcome, name_width, color);
    }
  }
  if (options.json) {
    const json document = {{"schema", kSchema}, {"skills", std::move(outcomes)}};
    fmt::print("{}\n", JsonText(document, 2));
  } else if (options.folders.size() > 1) {
    fmt::print("{} stand, {} fail, {} skipped, {} not judged\n",
               counts[static_cast<int>(Standing::kStands)],
               counts[static_cast<int>(Standing::kFails)],
               counts[static_cast<int>(Standing::kSkipped)],
               counts[static_cast<int>(Standing::kBadInput)] +
                   counts[static_cast<int>(Standing::kJudgeFailed)]);
  }
  return exit_code;
}

}  // namespace davinci::app
