#include "davinci/runs/stages.h"

#include <algorithm>

#include "davinci/rollout/joined_note.h"
#include "davinci/rollout/unit_id.h"

namespace davinci::runs {
namespace {

using nlohmann::json;
using rollout::UnitKind;
using rollout::UnitKindName;

json LaneBody(const LaneStats& lane) {
  return {{"places", lane.places},
          {"served", lane.num_served},
          {"busy_seconds", lane.busy_seconds},
          {"waiting_seconds", lane.waiting_seconds},
          {"open_seconds", lane.open_seconds},
          {"longest_queue", lane.longest_queue},
          {"idle_share", lane.idle_share()}};
}

LaneStats LaneFrom(const json& body) {
  LaneStats lane;
  lane.places = body.value("places", 0);
  lane.num_served = body.value("served", int64_t{0});
  lane.busy_seconds = body.value("busy_seconds", 0.0);
  lane.waiting_seconds = body.value("waiting_seconds", 0.0);
  lane.open_seconds = body.value("open_seconds", 0.0);
  lane.longest_queue = body.value("longest_queue", int64_t{0});
  return lane;
}

json SpendingBody(const std::map<std::string, llm::Spending>& by_model) {
  json body = json::object();
  for (const auto& [model, spent] : by_model) {
    body[model] = {{"calls", spent.num_calls},
                   {"unpriced", spent.num_unpriced},
                   {"prompt_tokens", spent.prompt_tokens},
                   {"cached_prompt_tokens", spent.cached_prompt_tokens},
                   {"completion_tokens", spent.completion_tokens},
                   {"usd", spent.usd}};
    if (spent.num_lost > 0) body[model]["lost"] = spent.num_lost;
  }
  return body;
}

std::map<std::string, llm::Spending> SpendingFrom(const json& body) {
  std::map<std::string, llm::Spending> by_model;
  for (const auto& [model, spent] : body.items()) {
    llm::Spending& spending = by_model[model];
    spending.num_calls = spent.value("calls", int64_t{0});
    spending.num_lost = spent.value("lost", int64_t{0});
    spending.num_unpriced = spent.value("unpriced", int64_t{0});
    spending.prompt_tokens = spent.value("prompt_tokens", int64_t{0});
    spending.cached_prompt_tokens = spent.value("cached_prompt_tokens", int64_t{0});
    spending.completion_tokens = spent.value("completion_tokens", int64_t{0});
    spending.usd = spent.value("usd", 0.0);
  }
  return by_model;
}

SessionTimes SessionFrom(const json& body) {
  SessionTimes session;
  session.started_unix_s = body.value("started_unix_s", 0.0);
  session.wall_seconds = body.value("wall_seconds", 0.0);
  session.rollouts = body.value("rollouts", int64_t{0});
  session.ended = body.value("ended", "");
  session.notices = body.value("notices", std::vector<std::string>());
  const json lost = body.value("lost", json::object());
  session.lost = SpendingFrom(lost);
  session.llm = LaneFrom(body.value("llm", json::object()));
  session.judge = LaneFrom(body.value("judge", json::object()));
  const json journal = body.value("journal", json::object());
  session.journal.num_units = journal.value("units", int64_t{0});
  session.journal.seconds = journal.value("seconds", 0.0);
  session.journal.bytes = journal.value("bytes", int64_t{0});
  return session;
}

void AddReply(const json& body, SegmentTotals* totals) {
  const auto found = body.find("reply");
  if (found == body.end()) return;
  // The replies to the parts are units of their own.
  if (const auto note = body.find("note"); note != body.end() && rollout::StandsForOthers(*note))
    return;
  const auto reply = llm::ReplyFromJson(*found);
  if (!reply.ok()) return;
  llm::Spending& spending = totals->spending[reply->model];
  ++spending.num_calls;
  spending.num_unpriced += !reply->cost_usd;
  spending.prompt_tokens += reply->usage.prompt_tokens;
  spending.cached_prompt_tokens += reply->usage.cached_prompt_tokens;
  spending.completion_tokens += reply->usage.completion_tokens;
  spending.usd += reply->cost_usd.value_or(0);
}

void AddUnit(const store::Unit& unit, SegmentTotals* totals) {
  ++totals->units;
  if (totals->first_unix_s == 0 || unit.finished_unix_s < totals->first_unix_s)
    totals->first_unix_s = unit.finished_unix_s;
  totals->last_unix_s = std::max(totals->last_unix_s, unit.finished_unix_s);
  if (unit.kind == UnitKindName(UnitKind::kTrajectory)) ++totals->rollouts;
  StageTimes& stage = totals->stages[unit.kind];
  ++stage.count;
  if (!unit.body.is_object()) return;
  AddReply(unit.body, totals);
  const bool taken_over = unit.body.value("judged_before", false);
  stage.taken_over += taken_over;
  stage.seconds += unit.body.value("llm_seconds", 0.0) + unit.body.value("judge_seconds", 0.0);
  stage.queue_seconds += unit.body.value("queue_seconds", 0.0);
  if (unit.body.contains("evaluation") && !taken_over) ++totals->candidates;
}

SegmentTotals TotalsFrom(const json& body) {
  SegmentTotals totals;
  totals.units = body.value("units", int64_t{0});
  totals.rollouts = body.value("rollouts", int64_t{0});
  totals.candidates = body.value("candidates", int64_t{0});
  totals.first_unix_s = body.value("first_unix_s", 0.0);
  totals.last_unix_s = body.value("last_unix_s", 0.0);
  const json stages = body.value("stages", json::object());
  const json spent_by_model = body.value("spending", json::object());
  for (const auto& [kind, stage] : stages.items()) {
    StageTimes& times = totals.stages[kind];
    times.count = stage.value("count", int64_t{0});
    times.seconds = stage.value("seconds", 0.0);
    times.queue_seconds = stage.value("queue_seconds", 0.0);
    times.taken_over = stage.value("taken_over", int64_t{0});
  }
  totals.spending = SpendingFrom(spent_by_model);
  return totals;
}

json StagesJson(const std::map<std::string, StageTimes>& stages) {
  json document = json::object();
  for (const auto& [kind, times] : stages)
    document[kind] = {{"count", times.count},
                      {"seconds", times.seconds},
                      {"queue_seconds", times.queue_seconds},
                      {"taken_over", times.taken_over}};
  return document;
}

}  // namespace

json SessionBody(const SessionTimes& session) {
  json body = {{"started_unix_s", session.started_unix_s},
               {"wall_seconds", session.wall_seconds},
               {"rollouts", session.rollouts},
               {"ended", session.ended},
               {"notices", session.notices},
               {"llm", LaneBody(session.llm)},
               {"judge", LaneBody(session.judge)},
               {"journal",
                {{"units", session.journal.num_units},
                 {"seconds", session.journal.seconds},
                 {"bytes", session.journal.bytes}}}};
  if (!session.lost.empty()) body["lost"] = SpendingBody(session.lost);
  return body;
}

SegmentTotals& SegmentTotals::operator+=(const SegmentTotals& other) {
  for (const auto& [kind, times] : other.stages) {
    StageTimes& sum = stages[kind];
    sum.count += times.count;
    sum.seconds += times.seconds;
    sum.queue_seconds += times.queue_seconds;
    sum.taken_over += times.taken_over;
  }
  for (const auto& [model, spent] : other.spending) spending[model] += spent;
  units += other.units;
  rollouts += other.rollouts;
  candidates += other.candidates;
  if (first_unix_s == 0 || (other.first_unix_s > 0 && other.first_unix_s < first_unix_s))
    first_unix_s = other.first_unix_s;
  last_unix_s = std::max(last_unix_s, other.last_unix_s);
  return *this;
}

json ToJson(const SegmentTotals& totals) {
  json document = {{"units", totals.units},
                   {"rollouts", totals.rollouts},
                   {"candidates", totals.candidates},
                   {"first_unix_s", totals.first_unix_s},
                   {"last_unix_s", totals.last_unix_s},
                   {"stages", StagesJson(totals.stages)},
                   {"spending", json::object()}};
  document["spending"] = SpendingBody(totals.spending);
  return document;
}

Result<SegmentTotals> TotalsOf(store::RunStore& run, int segment) {
  if (segment != store::kRunSegment) {
    rollout::UnitId id;
    id.kind = UnitKind::kStep;
    id.step = segment;
    DAVINCI_ASSIGN_OR_RETURN(const auto closed, run.Find(id.ToString(), SegmentOf(id)));
    if (closed) return TotalsFrom(closed->body);
  }
  SegmentTotals totals;
  DAVINCI_RETURN_IF_ERROR(run.ForEachIn(segment, [&](const store::Unit& unit) {
    if (unit.kind == UnitKindName(UnitKind::kSession)) {
      for (const auto& [model, spent] : SessionFrom(unit.body).lost)
        totals.spending[model] += spent;
    } else if (unit.kind != UnitKindName(UnitKind::kStep)) {
      AddUnit(unit, &totals);
    }
    return true;
  }));
  return totals;
}

Result<SegmentTotals> TotalsOf(store::RunStore& run) {
  DAVINCI_ASSIGN_OR_RETURN(SegmentTotals sum, TotalsOf(run, store::kRunSegment));
  for (const int step : run.Steps()) {
    DAVINCI_ASSIGN_OR_RETURN(const SegmentTotals totals, TotalsOf(run, step));
    sum += totals;
  }
  return sum;
}

LlmCost LostCost(const RunStages& stages) {
  LlmCost cost;
  for (const SessionTimes& session : stages.sessions)
    for (const auto& [model, spent] : session.lost) {
      cost.calls += static_cast<int>(spent.num_lost);
      cost.prompt_tokens += spent.prompt_tokens;
      cost.completion_tokens += spent.completion_tokens;
      cost.usd += spent.usd;
      cost.unpriced += static_cast<int>(spent.num_unpriced);
    }
  return cost;
}

Result<RunStages> MeasureStages(store::RunStore& run) {
  RunStages stages;
  DAVINCI_ASSIGN_OR_RETURN(SegmentTotals totals, TotalsOf(run));
  stages.stages = std::move(totals.stages);
  stages.rollouts = totals.rollouts;
  stages.candidates = totals.candidates;
  stages.first_unix_s = totals.first_unix_s;
  stages.last_unix_s = totals.last_unix_s;
  DAVINCI_RETURN_IF_ERROR(run.ForEachIn(store::kRunSegment, [&](const store::Unit& unit) {
    if (unit.kind == UnitKindName(UnitKind::kSession))
      stages.sessions.push_back(SessionFrom(unit.body));
    return true;
  }));
  LaneStats llm;
  LaneStats judge;
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
                   {"stages", StagesJson(stages.stages)},
                   {"sessions", json::array()}};
  for (const SessionTimes& session : stages.sessions)
    document["sessions"].push_back(SessionBody(session));
  return document;
}

}  // namespace davinci::runs
