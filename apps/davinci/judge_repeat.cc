#include "judge_repeat.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "davinci/base/json_text.h"
#include "davinci/base/plural.h"
#include "davinci/base/table.h"
#include "davinci/data/shown_interval.h"
#include "report.h"

namespace davinci::app {
namespace {

using nlohmann::json;

struct Ratio {
  double median = 0;
  double low = 0;
  double high = 0;
};

// Of positive ratios with an interval each: the geometric mean of their medians, and the wider one
// of the intervals' own ends (likewise averaged) and the spread between the judgements.
std::optional<Ratio> Combine(const std::vector<Ratio>& ratios) {
  if (ratios.empty()) return std::nullopt;
  Ratio sum;
  for (const Ratio& ratio : ratios) {
    if (!(ratio.low > 0) || !std::isfinite(ratio.high)) return std::nullopt;
    sum.median += std::log(ratio.median);
    sum.low += std::log(ratio.low);
    sum.high += std::log(ratio.high);
  }
  const auto n = static_cast<double>(ratios.size());
  double lowest = ratios.front().median;
  double highest = lowest;
  for (const Ratio& ratio : ratios) {
    lowest = std::min(lowest, ratio.median);
    highest = std::max(highest, ratio.median);
  }
  return Ratio{std::exp(sum.median / n), std::min(std::exp(sum.low / n), lowest),
               std::max(std::exp(sum.high / n), highest)};
}

Ratio Of(const Speedup& speedup) { return {speedup.median, speedup.low, speedup.high}; }

std::string Text(const Ratio& ratio) {
  const Speedup speedup{ratio.median, ratio.low, ratio.high, ratio.low > 1 || ratio.high < 1, ""};
  return fmt::format("{} ({})", FigureText(speedup), BoundsText(Shown(speedup)));
}

json ToJson(const Ratio& ratio) {
  return {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}};
}

}  // namespace

int RunRepeated(const judge::JobFiles& job, const std::shared_ptr<const task::Task>& task,
                const JudgeSetup& setup, const RepeatOptions& repeat) {
  OwnJudges judges(setup);
  std::vector<judge::JobFiles> jobs = {job};
  if (!repeat.against.empty()) {
    jobs.push_back(job);
    jobs.back().candidate_path = repeat.against;
  }
  const auto failed = [&](const Status& status) {
    return FailCommand("judge", status, repeat.json);
  };
  std::vector<judge::EvaluationRequest> requests;
  for (const judge::JobFiles& one : jobs) {
    auto request = judge::ReadRequest(one, requests.empty() ? task : requests.front().task);
    if (!request.ok()) return failed(request.status());
    requests.push_back(*std::move(request));
  }
  const auto shown = [&](size_t side) { return side == 0 ? repeat.name : repeat.against_name; };
  const bool color = UseColor(STDOUT_FILENO);
  std::vector<std::vector<Ratio>> speedups(jobs.size());
  std::vector<Ratio> a_over_b;
  json evaluations = json::array();
  int code = 0;
  for (int i = 0; i < repeat.times; ++i) {
    std::vector<std::optional<Speedup>> pair;
    judges.LetGo();  // a session keeps the inputs of its checks
    for (size_t side = 0; side < jobs.size(); ++side) {
      // A B, B A, …: neither is always the first.
      const size_t which = i % 2 == 0 ? side : jobs.size() - 1 - side;
      const auto reply = judges.Evaluate(requests[which]);
      if (!reply.ok()) return failed(reply.status());
      const Evaluation& evaluation = reply->evaluation;
      if (code == 0) code = ExitCode(evaluation);
      json document = davinci::ToJson(evaluation);
      document["candidate"] = shown(which);
      document["repetition"] = i + 1;
      evaluations.push_back(std::move(document));
      pair.resize(std::max(pair.size(), which + 1));
      pair[which] = evaluation.speedup;
      if (evaluation.speedup) speedups[which].push_back(Of(*evaluation.speedup));
      if (repeat.json) continue;
      const bool good = evaluation.outcome == Outcome::kOk;
      std::string labels;
      for (const std::string& label : evaluation.labels) labels += "; " + label;
      fmt::print("{:>3}  {}  {}  {}{}\n", i + 1,
                 Styled(std::string(OutcomeName(evaluation.outcome)),
                        good ? TextStyle::kGood : TextStyle::kBad, color),
                 shown(which),
                 evaluation.speedup ? Text(Of(evaluation.speedup.value())) : evaluation.message,
                 Printable(labels));
      std::fflush(stdout);
    }
    if (pair.size() == 2 && pair[0] && pair[1])
      a_over_b.push_back(
          {pair[0].value().median / pair[1].value().median,
           pair[0].value().low / pair[1].value().high,
           pair[1].value().low > 0 ? pair[0].value().high / pair[1].value().low : INFINITY});
  }
  json summary = json::object();
  for (size_t side = 0; side < jobs.size(); ++side) {
    const auto combined = Combine(speedups[side]);
    if (!combined) continue;
    summary[side == 0 ? "candidate" : "against"] = ToJson(*combined);
    if (!repeat.json)
      fmt::print("{}: {} over {}, {}\n", shown(side), Text(*combined), job.baseline,
                 Counted(static_cast<int64_t>(speedups[side].size()), "judgement"));
  }
  if (const auto combined = Combine(a_over_b)) {
    summary["candidate_over_against"] = ToJson(*combined);
    const bool faster = combined->low > 1;
    const bool slower = combined->high < 1;
    summary["verdict"] = faster ? "faster" : slower ? "slower" : "no difference shown";
    if (!repeat.json)
      fmt::print("{} over {}: {}, {}\n", shown(0), shown(1), Text(*combined),
                 summary["verdict"].get<std::string>());
  } else if (jobs.size() == 2 && !repeat.json) {
    fmt::print("no comparison: one of the two has no bounded speedup\n");
  }
  if (repeat.json) {
    json document = {{"schema", "davinci.repeat/1"}, {"summary", std::move(summary)}};
    document["evaluations"] = std::move(evaluations);
    fmt::print("{}\n", JsonText(document, 2));
  }
  return code;
}

}  // namespace davinci::app
