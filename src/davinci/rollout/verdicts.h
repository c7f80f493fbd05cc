// Verdicts: judgements as units of a run. An identical question is judged once.
//
// Two questions are identical when task, candidate source, protocol, baseline and target are. The
// second one takes over the verdict of the first: from this step (waiting for it when it is being
// judged right now, or from its journal), or, where a cache is given, from an earlier step or run
// on this device. A time whose interval is wide is no property of the kernel: identical questions
// measure it again, up to kMostMeasurements times, and later ones take over the narrowest interval.
// What is known of a step is forgotten with it. The cache is only trusted with what
// does not depend on the machine's mood: failures that repeat, and times whose interval is bounded
// and narrow.
//
// A judge that fails on a candidate (after its own repetitions) gives a verdict like any other,
// with the outcome kJudgeError: it is recorded, so that it is not repeated at each start, it
// carries no reward, and no identical candidate takes it over. A judge that fails
// kHopelessJudgeErrors times without a success between is broken: FailedPrecondition, which ends
// the run and is not recorded. A probe's failure is an error, too: without it the task cannot be
// judged at all.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/rollout/evaluator.h"
#include "davinci/rollout/lane.h"
#include "davinci/rollout/unit_log.h"
#include "davinci/store/kv_cache.h"

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
  // `cache` may be null; nothing is owned. `evaluator` is null in a replay.
  Verdicts(UnitLog* log, Evaluator* evaluator, Lane* lane, store::KvCache* cache);

  // Forgets the former step and reads the journal of this one, so that what was judged before a
  // restart is not judged again for others. Not while Judge() runs.
  Status BeginStep(int step);

  // The verdict about `question` as unit `id`.
  Result<Verdict> Judge(const UnitId& id, const Question& question, Urgency urgency, int64_t order,
                        const CancelToken& cancel);

 private:
  struct Known {
    bool running = false;
    std::string unit;      // whose verdict it is; "" while the first one is being judged
    double width = 0;      // upper over lower end of the interval; 0: nothing to measure again
    int measurements = 0;  // that were made
    bool Shared() const { return width == 0 || measurements >= kMostMeasurements; }
  };
  static void Add(const std::string& unit, const Evaluation& evaluation, Known* known);
  // Waits while the same question is being judged. True: the caller has to judge it and then call
  // Settle(). False: `*unit` has the verdict.
  Result<bool> Claim(const std::string& key, std::string* unit, const CancelToken& cancel);
  // `evaluation` null: it was not judged after all.
  void Settle(const std::string& key, const std::string& unit, const Evaluation* evaluation);
  // The evaluator's answer, or its failure as a verdict.
  Result<Evaluation> Ask(const UnitId& id, const Question& question, const CancelToken& cancel);
  Result<Verdict> JudgeNow(const UnitId& id, const std::string& key, const Question& question,
                           Urgency urgency, int64_t order, const CancelToken& cancel);
  std::optional<Evaluation> FromCache(const std::string& key);
  void ToCache(const std::string& key, const Evaluation& evaluation);

  UnitLog* const log_;
  Evaluator* const evaluator_;
  Lane* const lane_;
  store::KvCache* const cache_;
  std::mutex mutex_;  // guards known_
  std::condition_variable_any settled_;
  std::map<std::string, Known> known_;  // by Question::Hash(), of the step under way
  std::atomic<int> errors_in_a_row_ = 0;
};

}  // namespace davinci::rollout
