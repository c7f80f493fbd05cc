#include "davinci/runs/run_loop.h"

namespace davinci::runs {
namespace {

using nlohmann::json;

json Summary(const Evaluation& evaluation) {
  const json whole = ToJson(evaluation);
  json summary;
  for (const char* key : {"status", "correct", "speedup", "labels", "message"})
    if (whole.contains(key)) summary[key] = whole[key];
  if (evaluation.candidate_time) summary["time_ms"] = evaluation.candidate_time->median_ms;
  if (evaluation.baseline_time) summary["baseline_ms"] = evaluation.baseline_time->median_ms;
  return summary;
}

json CostsBody(const std::map<std::string, LlmCost>& costs) {
  json body = json::object();
  for (const auto& [agent, cost] : costs) body[agent] = ToJson(cost);
  return body;
}

std::string_view StateName(report::TaskState state) {
  switch (state) {
    case report::TaskState::kCertified:
      return "certified";
    case report::TaskState::kNotDecided:
      return "not_decided";
    case report::TaskState::kNotFaster:
      return "not_faster";
    case report::TaskState::kNoneHeld:
      return "none_held";
    case report::TaskState::kConfirmed:
      return "confirmed";
    case report::TaskState::kScreened:
      return "screened";
    case report::TaskState::kUnsolved:
      return "unsolved";
  }
  return "";
}

json WinnerBody(const report::TaskView& task, const report::Winner& winner) {
  json body = {{"turn", ToString(winner.turn)},
               {"by", report::AuthorName(report::AuthorOf(task, winner.turn))},
               {"code", winner.code_hash},
               {"certified", Summary(winner.certified)},
               {"also", json::array()},
               {"explanation", winner.explanation}};
  for (const Evaluation& other : winner.also) body["also"].push_back(Summary(other));
  if (winner.roofline_share) body["roofline_share"] = *winner.roofline_share;
  if (!winner.exported_path.empty()) body["file"] = winner.exported_path;
  for (const Trajectory& trajectory : task.trajectories)
    if (trajectory.id == winner.turn.rollout) body["skills"] = trajectory.skills;
  return body;
}

}  // namespace

json ToJson(const RunResult& result) {
  json document = {{"schema", "davinci.run_result/1"},
                   {"title", result.view.title},
                   {"run", result.view.folder},
                   {"target", result.view.target},
                   {"device", result.view.device},
                   {"recorded", result.view.recorded},
                   {"finished", result.finished()},
                   {"cost", ToJson(result.cost)},
                   {"costs", CostsBody(report::CostsByAgent(result.view))},
                   {"notices", result.notices},
                   {"learned", result.learned},
                   {"stages", ToJson(result.stages)},
                   {"tasks", json::array()}};
  if (const LlmCost lost = LostCost(result.stages); lost.calls > 0)
    document["costs"]["lost"] = ToJson(lost);
  if (result.stopped) document["stopped"] = TrajectoryEndName(*result.stopped);
  if (!result.trouble.ok()) document["trouble"] = result.trouble.message();
  for (const report::TaskView& task : result.view.tasks) {
    json body = {{"task", task.task.id},
                 {"remark", task.remark},
                 {"rollouts", task.trajectories.size()},
                 {"verifications", json::array()}};
    if (task.task.level) body["level"] = *task.task.level;
    body["state"] = StateName(report::StateOf(task));
    body["winner"] = task.winner ? WinnerBody(task, *task.winner) : json();
    if (const report::Rivals rivals = report::RivalsOf(task); rivals.both) {
      body["best_of"] = {{"expert", json()}, {"model", json()}};
      if (rivals.expert != nullptr) body["best_of"]["expert"] = Summary(*rivals.expert);
      if (rivals.model != nullptr) body["best_of"]["model"] = Summary(*rivals.model);
    }
    if (task.not_decided) body["not_decided"] = WinnerBody(task, *task.not_decided);
    if (task.not_faster) body["not_faster"] = WinnerBody(task, *task.not_faster);
    body["costs"] = CostsBody(report::CostsByAgent(task));
    for (const Verification& verification : task.verifications) {
      json decision = ToJson(verification);
      decision.erase("samples");
      for (const SkillProposal& proposal : task.proposals)
        if (proposal.summary == verification.summary && proposal.proposal == verification.proposal)
          decision["name"] = proposal.name;
      body["verifications"].push_back(std::move(decision));
    }
    document["tasks"].push_back(std::move(body));
  }
  for (const auto& [task, status] : result.failed_tasks)
    for (json& body : document["tasks"])
      if (body["task"] == task) body["failed"] = status.message();
  return document;
}

}  // namespace davinci::runs
