#include "davinci/orchestrator/certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/utf8.h"
#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"
#include "davinci/orchestrator/export_kernel.h"
#include "davinci/orchestrator/line_diff.h"
#include "davinci/rollout/policy_check.h"

namespace davinci::orchestrator {
namespace {

using nlohmann::json;
using rollout::Kernel;

constexpr size_t kMaxProseBytes = 1500;

// With `may_fail` a failure of the judge is recorded as well, so that it is not repeated each time
// the run is shown.
Result<Evaluation> CertifyOne(const Certifier& certifier, int step, const rollout::TaskInput& task,
                              const Kernel& kernel, const std::string& baseline, bool may_fail,
                              const CancelToken& cancel) {
  rollout::UnitId id = rollout::UnitOf(rollout::UnitKind::kCertification, step, kernel.turn);
  id.variant = baseline;
  DAVINCI_ASSIGN_OR_RETURN(const json body, certifier.log->Do(id, [&]() -> Result<json> {
    DAVINCI_ASSIGN_OR_RETURN(const std::string source,
                             certifier.log->run().GetBlob(kernel.code_hash));
    const rollout::StepSettings& settings = certifier.recipe->step;
    judge::EvaluationRequest request;
    request.task = task.task;
    request.target = settings.target;
    request.language = kernel.language;
    request.candidate =
        StandaloneSource(source, certifier.runtime_source, certifier.harness_source);
    request.protocol = settings.final_protocol;
    request.baseline = baseline;
    request.afresh = true;
    request.urgency = Urgency::kFinal;
    auto reply = certifier.service->Evaluate(request, cancel);
    if (!reply.ok()) {
      if (!may_fail || reply.status().code() == StatusCode::kCancelled) return reply.status();
      return json{{"problem", reply.status().message()}};
    }
    return json{{"evaluation", ToJson(reply->evaluation)},
                {"queue_seconds", reply->queue_seconds},
                {"judge_seconds", reply->judge_seconds}};
  }));
  if (may_fail && body.contains("problem")) return Internal(body.value("problem", ""));
  if (!body.contains("evaluation"))
    return Internal("corrupt journal record: certification without evaluation");
  DAVINCI_ASSIGN_OR_RETURN(Evaluation certified, EvaluationFromJson(body["evaluation"]));
  rollout::ApplyPolicy(certifier.recipe->step, kernel.language, &certified);
  return certified;
}

std::string SpeedupText(const Speedup& speedup) {
  return fmt::format("{:.3g}x over {} ({})", speedup.median, speedup.baseline, ShownText(speedup));
}

// What the model wrote around its code, shortened.
std::string Prose(const std::string& reply) {
  std::string prose;
  bool inside = false;
  for (std::string_view rest = reply; !rest.empty();) {
    const size_t newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    if (line.starts_with("```") || line.starts_with("~~~")) {
      inside = !inside;
      continue;
    }
    if (!inside && (!line.empty() || !prose.ends_with("\n\n"))) prose += fmt::format("{}\n", line);
  }
  while (prose.ends_with("\n")) prose.pop_back();
  return ElideMiddle(prose, kMaxProseBytes);
}

const Trajectory* Find(const std::vector<Trajectory>& trajectories, const RolloutId& id) {
  for (const Trajectory& trajectory : trajectories)
    if (trajectory.id == id) return &trajectory;
  return nullptr;
}

}  // namespace

std::optional<double> RooflineShare(const Evaluation& evaluation) {
  if (!evaluation.candidate_time || !(evaluation.candidate_time->median_ms > 0))
    return std::nullopt;
  const auto attainable_ms = AttainableMs(evaluation);
  if (!attainable_ms) return std::nullopt;
  return *attainable_ms / evaluation.candidate_time->median_ms;
}

std::string WhyNoKernel(const std::vector<Trajectory>& trajectories) {
  std::map<std::string, int> counts;
  int replies = 0;
  for (const Trajectory& trajectory : trajectories)
    for (const Turn& turn : trajectory.turns) {
      ++replies;
      ++counts[turn.code_hash.empty() ? std::string("without code")
                                      : std::string(OutcomeName(turn.evaluation.outcome))];
    }
  if (replies == 0) return "the model gave no reply";
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text =
      fmt::format("no correct kernel in {} repl{}", replies, replies == 1 ? "y" : "ies");
  for (size_t i = 0; i < sorted.size(); ++i)
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", sorted[i].second, sorted[i].first);
  return text;
}

Result<Certified> Certify(const Certifier& certifier, int step, const rollout::TaskInput& task,
                          const std::vector<Kernel>& best,
                          const std::vector<Trajectory>& trajectories, const CancelToken& cancel,
                          std::string* remark) {
  Certified none;
  if (best.empty()) {
    *remark = WhyNoKernel(trajectories);
    return none;
  }
  const std::string& baseline = certifier.recipe->step.baseline;
  const size_t attempts =
      std::min(best.size(), static_cast<size_t>(certifier.recipe->certify_attempts));
  for (size_t i = 0; i < attempts; ++i) {
    const Kernel& kernel = best[i];
    DAVINCI_ASSIGN_OR_RETURN(Evaluation certified,
                             CertifyOne(certifier, step, task, kernel, baseline, false, cancel));
    if (!certified.correct.value_or(false) || certified.outcome == Outcome::kPolicyViolation) {
      *remark += fmt::format("{} did not hold when judged again ({}); ", ToString(kernel.turn),
                             OutcomeName(certified.outcome));
      continue;
    }
    const bool timed = certified.speedup.has_value();
    const bool faster = !timed || (certified.speedup->median > 1 && certified.speedup->significant);
    report::Winner winner;
    winner.turn = kernel.turn;
    winner.code_hash = kernel.code_hash;
    winner.roofline_share = RooflineShare(certified);
    if (!faster) {
      *remark += fmt::format("{} is correct, but not significantly faster: {}; ",
                             ToString(kernel.turn), SpeedupText(*certified.speedup));
      const bool better = !none.not_faster ||
                          certified.speedup->median > none.not_faster->certified.speedup->median;
      winner.certified = std::move(certified);
      if (better) none.not_faster = std::move(winner);
      continue;
    }
    winner.certified = std::move(certified);
    for (const std::string& other : certifier.recipe->also_against) {
      if (!timed || other == baseline) continue;
      // An interrupted user waits for one number, not for all; a replay has what there was.
      if (certifier.hurry && !certifier.log->replaying()) break;
      auto evaluation = CertifyOne(certifier, step, task, kernel, other, true, cancel);
      if (evaluation.ok())
        winner.also.push_back(std::move(evaluation).value());
      else
        *remark += fmt::format("no comparison with {}: {}; ", other, evaluation.status().message());
    }
    if (remark->ends_with("; ")) remark->resize(remark->size() - 2);
    return Certified{std::move(winner), std::nullopt};
  }
  if (remark->ends_with("; ")) remark->resize(remark->size() - 2);
  return none;
}

std::string Explain(const rollout::TaskInput& task, const std::vector<Trajectory>& trajectories,
                    const report::Winner& winner, store::RunStore& run) {
  std::string text;
  if (winner.certified.speedup)
    text += fmt::format("{}: {}", task.id, SpeedupText(*winner.certified.speedup));
  else
    text += fmt::format("{}: correct; checked without a device, so there is no time", task.id);
  for (const Evaluation& other : winner.also)
    if (other.speedup) text += "; " + SpeedupText(*other.speedup);
  if (winner.roofline_share)
    text += fmt::format("; {:.0f} % of the roofline", 100 * *winner.roofline_share);
  const auto& labels = winner.certified.labels;
  if (std::find(labels.begin(), labels.end(), kOnlyPyTorchLabel) != labels.end())
    text += "; it only calls PyTorch, no kernel of its own";
  text += "\n";
  const Trajectory* trajectory = Find(trajectories, winner.turn.rollout);
  if (trajectory == nullptr) return text;
  const bool is_start =
      !trajectory->turns.empty() && trajectory->turns.front().reply == kStartReply;
  text += is_start ? "the kernel that the run started from"
                   : fmt::format("found in turn {} of skill set {}, rollout {}", winner.turn.turn,
                                 winner.turn.rollout.scheme, winner.turn.rollout.rollout);
  if (is_start) {
    text += "\n";
  } else if (trajectory->skills.empty()) {
    text += ", without skills\n";
  } else {
    text += ", with the skills";
    for (const std::string& skill : trajectory->skills)
      text += fmt::format("{} {}", &skill == &trajectory->skills.front() ? "" : ",", skill);
    text += "\n";
  }
  const Turn* before = nullptr;
  const Turn* after = nullptr;
  for (const Turn& turn : trajectory->turns) {
    if (turn.id.turn > winner.turn.turn) break;
    if (turn.id == winner.turn)
      after = &turn;
    else if (before == nullptr && turn.evaluation.correct.value_or(false))
      before = &turn;
    text += fmt::format(
        "  turn {}: {}{}\n", turn.id.turn, OutcomeName(turn.evaluation.outcome),
        turn.evaluation.speedup ? fmt::format(", {:.3g}x", turn.evaluation.speedup->median) : "");
  }
  if (after == nullptr) return text;
  if (const std::string prose = Prose(after->reply); !prose.empty())
    text += "\nThe model about it:\n" + prose + "\n";
  auto code = run.GetBlob(after->code_hash);
  if (!code.ok()) return text;
  auto earlier = before != nullptr ? run.GetBlob(before->code_hash)
                                   : Result<std::string>(task.brief.reference);
  if (!earlier.ok()) return text;
  text += before != nullptr ? fmt::format("\nWhat changed since turn {}:\n", before->id.turn)
                            : std::string("\nWhat changed from the reference:\n");
  return text + LineDiff(*earlier, *code);
}

}  // namespace davinci::orchestrator
