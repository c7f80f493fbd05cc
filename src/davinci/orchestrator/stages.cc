#include "davinci/orchestrator/stages.h"

#include <algorithm>

#include "davinci/rollout/unit_id.h"

namespace davinci::orchestrator {
namespace {

using nlohmann::json;
using rollout::UnitKind;
using rollout::UnitKindName;

json LaneBody(const rollout::LaneStats& lane) {
  return {{"places", lane.places},
          {"served", lane.num_served},
          {"busy_seconds", lane.busy_seconds},
          {"waiting_seconds", lane.waiting_seconds},
          {"open_seconds", lane.open_seconds},
          {"longest_queue", lane.longest_queue},
          {"idle_share", lane.idle_share()}};
}

rollout::LaneStats LaneFrom(const json& body) {
  rollout::LaneStats lane;
  lane.places = body.value("places", 0);
  lane.num_served = body.value("served", int64_t{0});
  lane.busy_seconds = body.value("busy_seconds", 0.0);
  lane.waiting_seconds = body.value("waiting_seconds", 0.0);
  lane.open_seconds = body.value("open_seconds", 0.0);
  lane.longest_queue = body.value("longest_queue", int64_t{0});
  return lane;
}

SessionTimes SessionFrom(const json& body) {
  SessionTimes session;
  session.started_unix_s = body.value("started_unix_s", 0.0);
  session.wall_seconds = body.value("wall_seconds", 0.0);
  session.rollouts = body.value("rollouts", int64_t{0});
  session.ended = body.value("ended", "");
  session.llm = LaneFrom(body.value("llm", json::object()));
  session.judge = LaneFrom(body.value("judge", json::object()));
  const json journal = body.value("journal", json::object());
  session.journal.num_units = journal.value("units", int64_t{0});
  session.journal.seconds = journal.value("seconds", 0.0);
  session.journal.bytes = journal.value("bytes", int64_t{0});
  return session;
}

void AddUnit(const store::Unit& unit, RunStages* stages) {
  StageTimes& stage = stages->stages[unit.kind];
  ++stage.count;
  if (!unit.body.is_object()) return;
  const bool taken_over = unit.body.value("judged_before", false);
  stage.taken_over += taken_over;
  stage.seconds += unit.body.value("llm_seconds", 0.0) + unit.body.value("judge_seconds", 0.0);
  stage.queue_seconds += unit.body.value("queue_seconds", 0.0);
  if (unit.body.contains("evaluation") && !taken_over) ++stages->candidates;
}

}  // namespace

json SessionBody(const SessionTimes& session) {
  return {{"started_unix_s", session.started_unix_s},
          {"wall_seconds", session.wall_seconds},
          {"rollouts", session.rollouts},
          {"ended", session.ended},
          {"llm", LaneBody(session.llm)},
          {"judge", LaneBody(session.judge)},
          {"journal",
           {{"units", session.journal.num_units},
            {"seconds", session.journal.seconds},
            {"bytes", session.journal.bytes}}}};
}

Result<RunStages> MeasureStages(store::RunStore& run) {
  RunStages stages;
  const Status read = run.ForEach([&](const store::Unit& unit) {
    if (unit.kind == UnitKindName(UnitKind::kSession)) {
      stages.sessions.push_back(SessionFrom(unit.body));
      return true;
    }
    if (stages.first_unix_s == 0) stages.first_unix_s = unit.finished_unix_s;
    stages.last_unix_s = std::max(stages.last_unix_s, unit.finished_unix_s);
    if (unit.kind == UnitKindName(UnitKind::kTrajectory)) ++stages.rollouts;
    AddUnit(unit, &stages);
    return true;
  });
  DAVINCI_RETURN_IF_ERROR(read);
  rollout::LaneStats llm;
  rollout::LaneStats judge;
  double llm_available = 0;
  double judge_available = 0;
  store::WriteCost journal;
  int64_t rollouts = 0;
  for (const SessionTimes& session : stages.sessions) {
    stages.wall_seconds += session.wall_seconds;
    rollouts += session.rollouts;
    llm.busy_seconds += session.llm.busy_seconds;
    judge.busy_seconds += session.judge.busy_seconds;
    llm_available += session.llm.places * session.llm.open_seconds;
    judge_available += session.judge.places * session.judge.open_seconds;
    journal.seconds += session.journal.seconds;
    journal.num_units += session.journal.num_units;
  }
  if (stages.wall_seconds > 0)
    stages.rollouts_per_minute = 60 * static_cast<double>(rollouts) / stages.wall_seconds;
  if (llm_available > 0) stages.llm_idle_share = 1 - llm.busy_seconds / llm_available;
  if (judge_available > 0) stages.judge_idle_share = 1 - judge.busy_seconds / judge_available;
  const double working = llm.busy_seconds + judge.busy_seconds + journal.seconds;
  if (working > 0) stages.journal_share = journal.seconds / working;
  if (journal.num_units > 0)
    stages.journal_ms_per_unit = 1e3 * journal.seconds / static_cast<double>(journal.num_units);
  return stages;
}

json ToJson(const RunStages& stages) {
  json document = {{"rollouts", stages.rollouts},
                   {"candidates_judged", stages.candidates},
                   {"wall_seconds", stages.wall_seconds},
                   {"rollouts_per_minute", stages.rollouts_per_minute},
                   {"llm_idle_share", stages.llm_idle_share},
                   {"judge_idle_share", stages.judge_idle_share},
                   {"journal_share", stages.journal_share},
                   {"journal_ms_per_unit", stages.journal_ms_per_unit},
                   {"stages", json::object()},
                   {"sessions", json::array()}};
  for (const auto& [kind, times] : stages.stages)
    document["stages"][kind] = {{"count", times.count},
                                {"seconds", times.seconds},
                                {"queue_seconds", times.queue_seconds},
                                {"taken_over", times.taken_over}};
  for (const SessionTimes& session : stages.sessions)
    document["sessions"].push_back(SessionBody(session));
  return document;
}

}  // namespace davinci::orchestrator
