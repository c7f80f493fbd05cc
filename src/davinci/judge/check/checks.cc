#include "davinci/judge/check/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "davinci/judge/check/calls.h"
#include "davinci/judge/check/returned_outputs.h"
#include "davinci/judge/check/reweigh.h"
#include "davinci/judge/check/second_opinion.h"
#include "davinci/judge/check/verify.h"
#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/device_share.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Distributions that need another copy of the inputs are left out above this size.
constexpr int64_t kCopiedBytes = int64_t{1} << 30;
constexpr std::string_view kCopied[] = {"small_scale", "degenerate", "large_mean"};
constexpr int kRepeatsToTellNondeterminism = 2;
// A library that adds in another order the next time moves a few values over the tolerance's edge:
// this much of the wrong ones says nothing about a race.
constexpr double kAtTheEdge = 0.01;

// Two comparisons of what one candidate made of the same inputs.
bool OtherValuesAreWrong(const json& first, const json& second) {
  const auto wrong = [](const json& comparison) {
    int64_t sum = 0;
    for (const json& o : comparison.at("outputs")) sum += o.value("wrong", int64_t{0});
    return sum;
  };
  const auto [fewer, more] = std::minmax({wrong(first), wrong(second)});
  return static_cast<double>(more - fewer) > kAtTheEdge * static_cast<double>(more);
}

// Inputs of a check and their truth, which the oracle keeps for the session's next candidates.
Result<from_oracle::Prepared> PrepareCheck(Trial& trial, const CheckStep& step, int variant) {
  const size_t position = trial.report.evidence.checks.value().size();
  return PrepareInputs(trial, {.seed = trial.session->CheckSeed(
                                   fmt::format("{} {} {}", trial.protocol.name, position, variant)),
                               .distribution = step.distribution,
                               .variant = variant,
                               .truth = true,
                               .keep = true});
}

Result<bool> CheckVariant(Trial& trial, int variant, bool own_size) {
  // Weights change before the last look at the task's own size.
  const CheckStep* last = nullptr;
  for (const CheckStep& step : trial.protocol.steps)
    if (own_size && !step.every_variant) last = &step;
  for (const CheckStep& step : trial.protocol.steps) {
    if (step.every_variant == own_size) continue;
    if (trial.session->facts[0].value().slot_bytes > kCopiedBytes &&
        std::ranges::find(kCopied, step.distribution) != std::end(kCopied))
      continue;
    if (&step == last) {
      DAVINCI_ASSIGN_OR_RETURN(auto failure,
                               Reweigh(trial, trial.session->CheckSeed("weights, last check")));
      if (failure) return Verdict(trial, *failure);
    }
    DAVINCI_ASSIGN_OR_RETURN(auto failure, CheckOne(trial, step, variant));
    if (!failure) continue;
    return Verdict(trial, *failure);
  }
  return true;
}

}  // namespace

Result<std::optional<Failure>> CheckOne(Trial& trial, const CheckStep& step, int variant) {
  using Maybe = std::optional<Failure>;
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_ASSIGN_OR_RETURN(const auto prepared, PrepareCheck(trial, step, variant));
  const std::string& args = prepared.args;
  const std::string& distribution = prepared.distribution;
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_ASSIGN_OR_RETURN(CallResult call,
                           ArmAndCall(trial, &trial.candidate.timed, variant, args));
  json layout;
  DAVINCI_ASSIGN_OR_RETURN(auto uncollected,
                           CollectOutputs(trial, &trial.candidate.timed, &call, variant, &layout));
  if (uncollected) {
    if (distribution != "task")  // a failure on other inputs needs their name
      uncollected->message += fmt::format(" (on \"{}\" inputs)", distribution);
    return Maybe(uncollected);
  }
  if (auto failure = CheckOutside(trial, trial.candidate.timed)) return Maybe(failure);
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_ASSIGN_OR_RETURN(const auto found, trial.session->oracle->Ask(
                                                 VerifyRequest(trial, layout, json(), true, true)));
  const auto verified = found.ok.get<from_oracle::Verified>();
  if (auto broken = WhatBroke(verified)) return Maybe(std::move(broken));
  const json& compared = verified.comparison;
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_RETURN_IF_ERROR(AskPublishedRule(trial, distribution, variant, layout, compared));
  CheckEvidence check = {distribution, variant, compared.at("passed").get<bool>(), 0};
  for (const json& o : compared.at("outputs"))
    if (o.at("max_ratio").is_number())
      check.error_over_tolerance =
          std::max(check.error_over_tolerance, o["max_ratio"].get<double>());
  trial.report.evidence.checks.value().push_back(std::move(check));
  if (variant == 0 && !trial.session->baseline_checked) {
    // The baseline answers the same question: a reference that fails its own tolerance is no
    // oracle.
    DAVINCI_ASSIGN_OR_RETURN(CallResult own,
                             ArmAndCall(trial, &trial.session->baseline, variant, args));
    json own_layout;
    DAVINCI_ASSIGN_OR_RETURN(auto unreadable, CollectOutputs(trial, &trial.session->baseline, &own,
                                                             variant, &own_layout));
    if (unreadable) return ReferenceFailure(trial.job, *unreadable);
    DAVINCI_ASSIGN_OR_RETURN(
        auto own_compared, trial.session->oracle->Ask(
                               CompareRequest(trial.inputs, trial.session->baseline, own_layout)));
    trial.session->baseline_outside_tolerance = !own_compared.ok.at("passed").get<bool>();
    trial.session->baseline_checked = true;
  }
  if (trial.session->baseline_outside_tolerance)
    trial.report.evaluation.AddLabel(Label::kBaselineOutsideTolerance);
  if (compared.at("passed").get<bool>()) {
    trial.weights.right_since = true;
    // Those in which what hardly ever varies does.
    if (variant == 0 && distribution != "task" && distribution != "large_mean" &&
        !distribution.starts_with("log_uniform"))
      trial.candidate.correct_on.push_back(distribution);
    return SharedOutput(trial.candidate);
  }

  Failure failure = MismatchFailure(trial, compared, distribution, variant);
  // A second look at the same inputs tells a race from a wrong formula.
  for (int i = 0; i < kRepeatsToTellNondeterminism; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(CallResult again,
                             ArmAndCall(trial, &trial.candidate.timed, variant, args));
    DAVINCI_ASSIGN_OR_RETURN(
        auto gone, CollectOutputs(trial, &trial.candidate.timed, &again, variant, &layout));
    if (gone) break;
    to_oracle::Compare compare = CompareRequest(trial.inputs, trial.candidate.timed, layout);
    compare.at_a_glance = true;
    DAVINCI_ASSIGN_OR_RETURN(auto repeat, trial.session->oracle->Ask(compare));
    if (repeat.ok.at("passed").get<bool>() || OtherValuesAreWrong(compared, repeat.ok)) {
      failure.outcome = Outcome::kNondeterministic;
      failure.message +=
          "; the same inputs gave another answer the next time (a race, or memory read before it "
          "is written)";
      break;
    }
  }
  return Maybe(failure);
}

Result<bool> CheckCorrectness(Trial& trial) {
  trial.report.evidence.checks.emplace();
  // Each candidate of the session begins with the same weights; it has not been called yet.
  DAVINCI_ASSIGN_OR_RETURN(const auto unweighed,
                           Reweigh(trial, trial.session->CheckSeed("weights")));
  if (unweighed) return Verdict(trial, *unweighed);
  trial.weights.count = 0;
  trial.weights.right_since = true;
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, CheckVariant(trial, 0, true));
  const int num_variants = static_cast<int>(trial.task.config.variants.size());
  for (int variant = 1; go_on && variant <= num_variants; ++variant) {
    DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(trial, &trial.candidate.timed, variant));
    if (failure) return Verdict(trial, *failure);
    DAVINCI_ASSIGN_OR_RETURN(go_on, CheckVariant(trial, variant, false));
  }
  if (!go_on) return false;
  if (trial.candidate.timed.built_variant != 0) {
    DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(trial, &trial.candidate.timed, 0));
    if (failure) return Verdict(trial, *failure);
  }
  trial.report.evaluation.correct = true;
  trial.device.share.Release();
  return true;
}

}  // namespace davinci::judge
