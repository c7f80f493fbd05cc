#include "skills_verify.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "davinci/agent/device_facts.h"
#include "davinci/base/json_text.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/table.h"
#include "davinci/gpu/device.h"
#include "davinci/skill/seed_folder.h"
#include "davinci/skill/verification.h"
#include "judging.h"
#include "report.h"
#include "skills_view.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

using nlohmann::json;
using skill::ExampleOutcome;
using skill::Standing;

constexpr char kRun[] = "davinci skills verify";
constexpr char kSchema[] = "davinci.skill_verification/1";

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

class Verifier {
 public:
  explicit Verifier(const VerifyOptions& options)
      : options_(options),
        settings_{options.list, options.update, !gpu::DeviceMonitor::Create()->devices().empty(),
                  agent::CpuFacts(1).name, kRun} {}

  // One outcome per example.
  std::vector<ExampleOutcome> Verify(const std::string& folder) {
    const auto seed = skill::ReadSeedFolder(folder);
    if (!seed.ok()) {
      ExampleOutcome outcome;
      outcome.name = folder;
      outcome.standing = Standing::kBadInput;
      outcome.remark = seed.status().message();
      return {outcome};
    }
    std::vector<ExampleOutcome> outcomes;
    for (const skill::SeedExample& example : seed->examples)
      if (IsAsked(example))
        outcomes.push_back(skill::VerifyExample(
            *seed, example, settings_,
            [this](const std::string& name, const skill::SeedExample& judged,
                   const fs::path& file) {
              const auto verdict = Judge(name, judged, file);
              return verdict.ok() ? *verdict : FailedEvaluation(verdict.status());
            }));
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

  Result<Evaluation> Judge(const std::string& name, const skill::SeedExample& example,
                           const fs::path& candidate) {
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

  const VerifyOptions& options_;
  const skill::VerificationSettings settings_;
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
