#include "davinci/judge/check/second_opinion.h"

#include <algorithm>
#include <string>
#include <utility>

#include "davinci/judge/check/calls.h"
#include "davinci/judge/check/returned_outputs.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

}  // namespace

Status AskPublishedRule(Trial& trial, const std::string& distribution, int variant,
                        const json& layout, const json& compared) {
  std::optional<PublishedRuleEvidence>& opinion = trial.report.evidence.kernelbench;
  const std::optional<double> tolerance = PublishedTolerance(trial.task.config.precision);
  if (!tolerance) {
    opinion.emplace().why = "the published rule knows fp32, fp16 and bf16 only";
    return Status::Ok();
  }
  json found = compared;
  if (!trial.protocol.published) {
    if (!trial.protocol.second_opinion || distribution != "task" || variant != 0)
      return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(
        auto asked, trial.session->oracle->Ask(to_oracle::PublishedCompare{layout, *tolerance}));
    found = asked.ok;
  }
  if (!opinion) {
    opinion.emplace().tolerance = *tolerance;
    opinion->compared = trial.protocol.published
                            ? "candidate with the reference's own output, inputs and "
                              "weights from the published seeds"
                            : "candidate with the reference's own output on the "
                              "task's distribution; seeds are secret "
                              "and weights randomised, unlike the published harness";
  }
  opinion->correct = opinion->correct && found.at("passed").get<bool>();
  ++opinion->trials;
  for (const json& output : found.at("outputs")) {
    opinion->wrong_elements += output.value("wrong", int64_t{0});
    const json difference = output.value("max_abs_diff", json(0.0));
    json& most = opinion->max_abs_diff;
    if (!difference.is_number())
      most = difference;
    else if (most.is_number())
      most = std::max(most.get<double>(), difference.get<double>());
  }
  return Status::Ok();
}

void ProbeNonfinite(Trial& trial) {
  if (trial.report.failure || trial.report.evaluation.correct != true ||
      !trial.protocol.second_opinion || trial.candidate.timed.built_variant != 0)
    return;
  const auto give_up = [&](std::string why) {
    trial.report.evidence.nonfinite = {{"not_asked", std::move(why)}};
  };
  auto prepared = trial.session->oracle->Ask(to_oracle::Nonfinite{trial.secret.Next() >> 1});
  if (!prepared.ok()) return give_up(prepared.status().message());
  const auto drawn = prepared->ok.get<from_oracle::PreparedNonfinite>();
  if (!drawn.args) return give_up("no floating input");
  trial.inputs.call_seed = drawn.call_seed;
  auto call = ArmAndCall(trial, &trial.candidate.timed, 0, *drawn.args);
  if (!call.ok()) return give_up(call.status().message());
  json layout;
  auto uncollected = CollectOutputs(trial, &trial.candidate.timed, &*call, 0, &layout);
  if (!uncollected.ok()) return give_up(uncollected.status().message());
  if (*uncollected) return give_up((*uncollected)->message);
  auto compared = trial.session->oracle->Ask(to_oracle::NonfiniteCompare{layout});
  if (!compared.ok()) return give_up(compared.status().message());
  json& found = trial.report.evidence.nonfinite;
  found = compared->ok;
  found.erase("seconds");
  if (found.value("missing", int64_t{0}) > 0)
    trial.report.evaluation.AddLabel(Label::kNanNotPropagated);
  if (found.value("extra", int64_t{0}) > 0)
    trial.report.evaluation.AddLabel(Label::kNanAnsweredOtherwise);
}

}  // namespace davinci::judge
