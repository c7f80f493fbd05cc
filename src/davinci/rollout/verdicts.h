// Verdicts: judgements as units of a run. An identical question is judged once.
//
// Two requests are identical when task, candidate, protocol, baseline and target are. The second
// one takes over the verdict of the first, from the journal of this step; the service
// (judge/service.h) sees to it that identical requests under way are judged once, and knows those
// of earlier steps and runs. A time whose interval is wide is no property of the kernel: identical
// requests measure it again, up to kMostMeasurements times, and later ones take over the narrowest
// interval. What is known of a step is forgotten with it.
//
// A judge that fails on a candidate (after the service's repetition) gives a verdict like any
// other, with the outcome kJudgeError: it is recorded, so that it is not repeated at each start, it
// carries no reward, and no identical candidate takes it over. A judge that fails
// kHopelessJudgeErrors times without a success between is broken: FailedPrecondition, which ends
// the run and is not recorded. A probe's failure is an error, too: without it the task cannot be
// judged at all.
#pragma once

#include <atomic>
#include <map>
#include <string>

#include "davinci/base/cancel.h"
#include "davinci/base/mutex.h"
#include "davinci/base/status.h"
#include "davinci/judge/service.h"
#include "davinci/rollout/unit_log.h"

namespace davinci::rollout {

struct Verdict {
  Evaluation evaluation;
  bool judged_before = false;  // taken over from an identical question
  bool from_journal = false;   // this very unit was finished by an earlier process
  double queue_seconds = 0;
  double judge_seconds = 0;
};

inline constexpr int kHopelessJudgeErrors = 10;
// Of one kernel within a step, while its interval is too wide to be shared.
inline constexpr int kMostMeasurements = 3;

class Verdicts {
 public:
  // Nothing is owned. In a replay `service` is not asked.
  Verdicts(UnitLog* log, judge::EvaluationService* service);

  // Forgets the former step and reads the journal of this one, so that what was judged before a
  // restart is not judged again for others. Not while Judge() runs.
  Status BeginStep(int step);

  // The verdict about `request` as unit `id`.
  Result<Verdict> Judge(const UnitId& id, judge::EvaluationRequest request,
                        const CancelToken& cancel);

 private:
  struct Known {
    std::string unit;      // whose verdict it is; "" before there is one
    double width = 0;      // upper over lower end of the interval; 0: nothing to measure again
    int measurements = 0;  // that were made
    bool Shared() const {
      return !unit.empty() && (width == 0 || measurements >= kMostMeasurements);
    }
  };
  static void Add(const std::string& unit, const Evaluation& evaluation, Known* known);
  // The unit whose verdict others take over; "" while there is none.
  std::string SharedUnit(const std::string& key);
  // The service's answer, or its failure as a verdict.
  Result<judge::ServiceReply> Ask(const UnitId& id, const judge::EvaluationRequest& request,
                                  const CancelToken& cancel);

  UnitLog* const log_;
  judge::EvaluationService* const service_;
  Mutex mutex_;
  std::map<std::string, Known> known_
      DAVINCI_GUARDED_BY(mutex_);  // by EvaluationRequest::Hash(), of the step under way
  std::atomic<int> errors_in_a_row_ = 0;
};

}  // namespace davinci::rollout
