#include "davinci/judge/run_trial.h"

#include "davinci/judge/check/checks.h"
#include "davinci/judge/compile_only/compile_only.h"
#include "davinci/judge/inspect/check_export.h"
#include "davinci/judge/inspect/check_roofline.h"
#include "davinci/judge/inspect/collect_evidence.h"
#include "davinci/judge/timing/measure_time.h"
#include "davinci/judge/trial/candidate_process.h"
#include "davinci/judge/trial/contained.h"
#include "davinci/judge/trial/start_roles.h"
#include "davinci/judge/trial/trial.h"

namespace davinci::judge {
namespace {

Result<Evaluation> RunSteps(Trial& trial) {
  struct Named {
    const char* name;
    Result<bool> (*step)(Trial&);
  };
  constexpr Named kSteps[] = {
      {"starting", StartRoles},  // from here on the three processes exist
      {"loading", LoadReference},     {kBuildingStage, LoadCandidate},
      {"locking", LockEarly},          // the candidate is frozen except inside calls
      {"checking", CheckCorrectness},  // `correct` never changes from false to true
      {"locking", LockLate},           // it can no longer start processes
      {"timing", MeasureTime},         // nothing is timed any more
      {"weighing", WeighTask},
  };
  for (const Named& named : kSteps) {
    BeginStage(trial, named.name);
    DAVINCI_ASSIGN_OR_RETURN(const bool go_on, named.step(trial));
    if (!go_on) break;
  }
  BeginStage(trial, "concluding");
  CollectEvidence(trial);
  BeginStage(trial, "");
  Evaluation evaluation = Conclude(trial);
  if (trial.job.export_of && evaluation.outcome == Outcome::kOk)
    DAVINCI_RETURN_IF_ERROR(CheckExport(trial, &evaluation));
  return evaluation;
}

}  // namespace

Result<Evaluation> RunTrial(const JudgeContext& context, const Job& job, const Protocol& protocol,
                            MemoryBudget budget) {
  if (job.compile_only) return EvaluateCompileOnly(context, job, protocol);
  Trial trial(context, job, protocol, budget);
  return Contained(trial, RunSteps);
}

}  // namespace davinci::judge
