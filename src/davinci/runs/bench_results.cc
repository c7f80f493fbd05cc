#include "davinci/runs/bench_results.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "davinci/base/json_text.h"
#include "davinci/data/shown_interval.h"
#include "davinci/score/attempt.h"

namespace davinci::runs {
namespace {

using nlohmann::json;

double Sure(const BenchSample& sample) {
  return sample.verdict && sample.verdict->speedup ? SureSpeedup(*sample.verdict->speedup) : 0;
}

BenchSample SampleOf(const Trajectory& trajectory) {
  BenchSample sample;
  sample.id = trajectory.id;
  sample.turns = static_cast<int>(trajectory.turns.size());
  sample.end = TrajectoryEndName(trajectory.end);
  sample.problem = trajectory.problem;
  for (const Turn& turn : trajectory.turns) {
    if (turn.evaluation.outcome == Outcome::kJudgeError) continue;
    BenchSample other;
    other.verdict = turn.evaluation;
    if (sample.correct() && (!other.correct() || Sure(other) <= Sure(sample))) continue;
    sample.answer = turn.id.turn;
    sample.verdict = turn.evaluation;
    sample.only_pytorch = score::IsDecoy(turn);
  }
  return sample;
}

std::string ScaledIn(const std::string& sidecar) {
  const size_t at = sidecar.find(kScaledComment);
  if (at == std::string::npos) return "";
  const size_t begin = at + kScaledComment.size();
  return sidecar.substr(begin, sidecar.find('\n', begin) - begin);
}

json NumberOrNull(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

std::string Csv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string Number(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "";
}

json SampleBody(const BenchSample& sample) {
  json body = {{"sample", ToString(sample.id)},
               {"scheme", sample.id.scheme},
               {"rollout", sample.id.rollout},
               {"turns", sample.turns},
               {"end", sample.end},
               {"answer", sample.answer},
               {"correct", sample.correct()},
               {"only_pytorch", sample.only_pytorch}};
  if (!sample.problem.empty()) body["problem"] = sample.problem;
  if (!sample.verdict) return body;
  body["status"] = OutcomeName(sample.verdict->outcome);
  if (sample.verdict->speedup) body["speedup"] = davinci::ToJson(*sample.verdict->speedup);
  if (sample.verdict->candidate_time) body["time_ms"] = sample.verdict->candidate_time->median_ms;
  if (!sample.correct()) body["message"] = sample.verdict->message;
  if (!sample.verdict->labels.empty()) body["labels"] = sample.verdict->labels;
  return body;
}

}  // namespace

const BenchSample* BenchTask::best() const {
  const BenchSample* best = nullptr;
  for (const BenchSample& sample : samples)
    if (sample.correct() && sample.verdict.value().speedup &&
        (best == nullptr || Sure(sample) > Sure(*best)))
      best = &sample;
  return best;
}

std::vector<BenchTask> BenchTasksOf(const report::RunView& view) {
  std::vector<BenchTask> tasks;
  for (const report::TaskView& seen : view.tasks) {
    BenchTask task;
    task.task = seen.task.id;
    task.level = seen.task.level;
    task.scaled = ScaledIn(seen.task.sidecar);
    task.remark = seen.remark;
    for (const Trajectory& trajectory : report::WithConfirmedVerdicts(seen)) {
      task.samples.push_back(SampleOf(trajectory));
      const BenchSample& sample = task.samples.back();
      task.num_correct += sample.correct();
      task.num_only_pytorch += sample.correct() && sample.only_pytorch;
      for (const Turn& turn : trajectory.turns) task.judge_seconds += turn.judge_seconds;
    }
    for (const auto& [agent, cost] : report::CostsByAgent(seen)) task.cost += cost;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

json ToJson(const std::vector<BenchTask>& tasks) {
  json list = json::array();
  for (const BenchTask& task : tasks) {
    json body = {{"task", task.task},
                 {"samples", task.samples.size()},
                 {"correct", task.num_correct},
                 {"only_pytorch", task.num_only_pytorch},
                 {"judge_seconds", NumberOrNull(task.judge_seconds)},
                 {"cost", davinci::ToJson(task.cost)},
                 {"results", json::array()}};
    if (task.level) body["level"] = *task.level;
    if (!task.remark.empty()) body["remark"] = task.remark;
    if (!task.scaled.empty()) body["scaled"] = task.scaled;
    if (const BenchSample* best = task.best()) body["best"] = ToString(best->id);
    for (const BenchSample& sample : task.samples) body["results"].push_back(SampleBody(sample));
    list.push_back(std::move(body));
  }
  return list;
}

std::string SamplesCsv(const std::vector<BenchTask>& tasks) {
  std::string text =
      "task,level,scheme,rollout,turns,end,answer,status,correct,only_pytorch,speedup,median,low,"
      "high,significant,baseline,time_ms,scaled,message\n";
  for (const BenchTask& task : tasks)
    for (const BenchSample& sample : task.samples) {
      const Evaluation none;
      const Evaluation& verdict = sample.verdict ? *sample.verdict : none;
      const auto& speedup = verdict.speedup;
      const ShownInterval shown = speedup ? Shown(*speedup) : ShownInterval();
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", Csv(task.task),
          task.level ? std::to_string(task.level.value()) : "", sample.id.scheme, sample.id.rollout,
          sample.turns, sample.end, sample.answer,
          sample.verdict ? OutcomeName(verdict.outcome) : std::string_view(), sample.correct(),
          sample.only_pytorch, speedup ? Csv(FigureText(*speedup)) : "",
          speedup ? Number(speedup->median) : "", speedup ? Number(shown.low) : "",
          speedup ? Number(shown.high) : "",
          speedup ? (speedup->significant ? "true" : "false") : "",
          speedup ? Csv(speedup->baseline) : "",
          verdict.candidate_time ? Number(verdict.candidate_time->median_ms) : "", Csv(task.scaled),
          sample.correct() ? "" : Csv(sample.verdict ? verdict.message : sample.problem));
    }
  return text;
}

}  // namespace davinci::runs
