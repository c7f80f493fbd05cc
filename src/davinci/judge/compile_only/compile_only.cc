#include "davinci/judge/compile_only/compile_only.h"

#include <string>
#include <utility>

#include "davinci/judge/check/checks.h"
#include "davinci/judge/compile_only/blocked.h"
#include "davinci/judge/compile_only/describe.h"
#include "davinci/judge/inspect/collect_evidence.h"
#include "davinci/judge/roles/untrusted_json.h"
#include "davinci/judge/trial/bind_variant.h"
#include "davinci/judge/trial/contained.h"
#include "davinci/judge/trial/reference.h"
#include "davinci/judge/trial/start_roles.h"
#include "davinci/judge/trial/verdict.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr const char* kDistributions[] = {"task", "heavy_tailed", "log_uniform"};

Result<bool> CheckCompileOnly(Trial& trial) {
  CompileOnlyEvidence& found = trial.report.evidence.compile_only.emplace();
  found.compared.emplace();
  const int num_variants = static_cast<int>(trial.task.config.variants.size());
  // The declared variants, then the task's own size for the cpu target.
  for (int i = 1; i <= num_variants + 1; ++i) {
    const int variant = i <= num_variants ? i : 0;
    if (trial.candidate.timed.built_variant != variant) {
      DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(trial, &trial.candidate.timed, variant));
      if (failure && !StoppedForWantOfDevice(trial, *failure, variant))
        return Verdict(trial, *failure);
      if (failure) return true;
    }
    for (const char* distribution : kDistributions) {
      // One distribution is enough for the own size when the variants have seen all of them.
      if (variant == 0 && num_variants > 0 && distribution != kDistributions[0]) break;
      const auto checked = CheckOne(trial, {distribution}, variant);
      if (!checked.ok() &&
          !StoppedBySize(trial.session.get(), &trial.compile_only, checked.status()))
        return checked.status();
      if (checked.ok() && !*checked) {
        found.compared->push_back({variant, distribution});
        continue;
      }
      if (checked.ok() && !StoppedForWantOfDevice(trial, checked->value(), variant))
        return Verdict(trial, checked->value());
      const std::string& reason = trial.compile_only.blocked.value().reason;
      const bool only_large =
          variant == 0 && num_variants > 0 && (reason == kTooSlow || reason == kNoReference);
      if (!only_large) return true;
      found.not_compared = {0, trial.compile_only.blocked.value().detail};
      trial.compile_only.blocked.reset();
      break;
    }
  }
  trial.report.evaluation.correct = true;
  return true;
}

Result<Evaluation> RunCompileOnlySteps(Trial& trial) {
  BeginStage(trial, "starting");
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, StartRoles(trial));
  if (go_on) {
    BeginStage(trial, "loading");
    DAVINCI_ASSIGN_OR_RETURN(go_on, UnlessTooLarge(trial, LoadReference(trial)));
  }
  if (go_on) {
    BeginStage(trial, kBuildingStage);
    DAVINCI_ASSIGN_OR_RETURN(go_on, UnlessTooLarge(trial, LoadCandidate(trial)));
  }
  if (trial.report.failure && StoppedForWantOfDevice(trial, *trial.report.failure, 0))
    trial.report.failure.reset();
  if (go_on) {
    BeginStage(trial, "interpreting");
    trial.report.evidence.checks.emplace();
    if (auto failure = trial.candidate.timed.runner->StartCalls())
      DAVINCI_RETURN_IF_ERROR(Verdict(trial, *failure).status());
    if (!trial.report.failure)
      DAVINCI_RETURN_IF_ERROR(UnlessTooLarge(trial, CheckCompileOnly(trial)).status());
  }
  BeginStage(trial, "concluding");
  json report = CompileOnlyReport(trial.candidate, &trial.compile_only);
  trial.inputs.last_args.clear();  // nothing is profiled
  CollectEvidence(trial);
  BeginStage(trial, "");
  Evaluation evaluation = Conclude(trial);
  DescribeCompileOnly(trial, report, &evaluation);
  return evaluation;
}

bool WantsSmallerSizes(const Evaluation& evaluation, int attempt) {
  const auto next = static_cast<size_t>(attempt) + 1;
  const json& found = evaluation.evidence.at("compile_only");
  if (next >= std::size(kShrinkTo) || CountIn(found, "bytes") <= kShrinkTo[next]) return false;
  const std::string reason = TextIn(found.value("blocked", json::object()), "reason");
  return reason == kTooSlow || reason == kNoReference ||
         evaluation.outcome == Outcome::kOutOfMemory;
}

Result<Evaluation> RunOnce(const JudgeContext& context, const Job& job, const Protocol& protocol) {
  Trial trial(context, job, protocol);
  return Contained(trial, RunCompileOnlySteps);
}

}  // namespace

Result<Evaluation> EvaluateCompileOnly(const JudgeContext& context, Job job,
                                       const Protocol& protocol) {
  auto evaluation = RunOnce(context, job, protocol);
  while (evaluation.ok() && WantsSmallerSizes(*evaluation, job.compile_only_try)) {
    ++job.compile_only_try;
    auto smaller = RunOnce(context, job, protocol);
    // What is known at a larger size is more than nothing.
    if (!smaller.ok()) break;
    const json& found = smaller->evidence.at("compile_only");
    if (TextIn(found.value("blocked", json::object()), "reason") == kNoReference) break;
    evaluation = std::move(smaller);
  }
  return evaluation;
}

}  // namespace davinci::judge
