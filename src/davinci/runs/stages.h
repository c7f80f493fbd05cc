// Where a run's time and money went, from its journal alone.
//
// A step that is over leaves a unit kStep with the sums of its segment, in the run's own segment,
// so that nothing here reads the segments of finished steps again.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "davinci/base/lane.h"
#include "davinci/base/status.h"
#include "davinci/data/rollout.h"
#include "davinci/llm/ledger.h"
#include "davinci/store/run_store.h"

namespace davinci::runs {

struct StageTimes {
  int64_t count = 0;
  double seconds = 0;        // working, summed over units
  double queue_seconds = 0;  // waiting for a place, summed over units
  int64_t taken_over = 0;    // verdicts of identical kernels
};

// A process that worked on the run, up to its orderly end. A killed one leaves none.
struct SessionTimes {
  double started_unix_s = 0;
  double wall_seconds = 0;
  int64_t rollouts = 0;  // finished by it
  LaneStats llm;
  LaneStats judge;
  store::WriteCost journal;
  std::string
      ended;  // TrajectoryEndName, "finished", or "not finished" (some rollout or task failed)
  std::vector<std::string> notices;           // about the endpoints
  std::map<std::string, llm::Spending> lost;  // answers that broke off, by model
};

struct RunStages {
  std::map<std::string, StageTimes> stages;  // by unit kind
  std::vector<SessionTimes> sessions;
  int64_t rollouts = 0;     // trajectories that are over
  int64_t candidates = 0;   // judged, without those taken over
  double first_unix_s = 0;  // of the first and last unit
  double last_unix_s = 0;
  // Over the sessions that ended in order; 0 without one.
  double wall_seconds = 0;
  double rollouts_per_minute = 0;
  double llm_idle_share = 0;  // of the places' time
  double judge_idle_share = 0;
  double journal_share = 0;  // of all callers' working time spent in writing the journal
  double journal_ms_per_unit = 0;
};

// Sums over the units of one segment.
struct SegmentTotals {
  std::map<std::string, StageTimes> stages;       // by unit kind
  std::map<std::string, llm::Spending> spending;  // by model
  int64_t units = 0;
  int64_t rollouts = 0;
  int64_t candidates = 0;
  double first_unix_s = 0;
  double last_unix_s = 0;

  SegmentTotals& operator+=(const SegmentTotals& other);
};
// Of a step: from its kStep unit, else by reading its segment.
Result<SegmentTotals> TotalsOf(store::RunStore& run, int segment);
// Of all segments.
Result<SegmentTotals> TotalsOf(store::RunStore& run);
nlohmann::json ToJson(const SegmentTotals& totals);

Result<RunStages> MeasureStages(store::RunStore& run);
// Of answers that broke off, in all sessions; no reply carries it.
LlmCost LostCost(const RunStages& stages);
nlohmann::json ToJson(const RunStages& stages);

nlohmann::json SessionBody(const SessionTimes& session);

}  // namespace davinci::runs
