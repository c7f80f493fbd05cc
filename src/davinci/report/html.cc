#include "davinci/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "davinci/report/html_plots.h"
#include "davinci/report/html_scores.h"
#include "davinci/report/html_task.h"
#include "davinci/report/html_text.h"

namespace davinci::report {
namespace {

// A page that browsers still open at once. Texts share it evenly.
constexpr size_t kPageBytes = size_t{24} << 20;
constexpr size_t kFewestTextBytes = 600;
constexpr size_t kMostTextBytes = size_t{200} << 10;

size_t MaxTextBytes(const RunView& run) {
  size_t texts = 1;
  for (const TaskView& task : run.tasks) {
    texts += 2 + task.proposals.size();
    // Reply, reasoning, code and message of every turn.
    for (const Trajectory& trajectory : task.trajectories) texts += 4 * trajectory.turns.size();
  }
  return std::clamp(kPageBytes / texts, kFewestTextBytes, kMostTextBytes);
}

std::string Head(const RunView& run) {
  std::set<std::string> models;
  for (const TaskView& task : run.tasks)
    for (const Trajectory& trajectory : task.trajectories)
      for (const Turn& turn : trajectory.turns)
        if (!turn.model.empty()) models.insert(turn.model);
  std::string facts;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty())
      facts +=
          fmt::format("{}{} {}", facts.empty() ? "" : " · ", EscapeHtml(name), EscapeHtml(value));
  };
  add("target", run.target);
  add("device", run.device);
  for (const std::string& model : models) add("model", model);
  add("began", FormatUnixTime(run.started_unix_s));
  add("run", run.folder);
  std::string html =
      fmt::format("<h1>{}</h1>\n<p class=\"soft\">{}</p>\n", EscapeHtml(run.title), facts);
  if (run.recorded)
    html +=
        "<p class=\"notice\">The model's replies were recorded earlier and played back; the "
        "judgements are of this machine.</p>\n";
  if (!run.finished)
    html +=
        "<p class=\"notice\">This run was interrupted. What is shown is complete up to then.</p>\n";
  return html;
}

std::string Cards(const HtmlInput& input) {
  const RunView& run = *input.run;
  LlmCost total;
  for (const auto& [agent, cost] : CostsByAgent(run)) total += cost;
  std::string html = "<div class=\"cards\">\n" + Card("tasks", FormatCount(std::ssize(run.tasks)));
  if (!input.scores.empty()) {
    const score::ScoreSection& all = input.scores.front().sections.front();
    size_t shown = 0;
    // The protocol's first metrics are its headline.
    for (const score::MetricValue& metric : all.metrics) {
      if (++shown > 3) break;
      html += Card(metric.title, score::FormatValue(metric.scale, metric.estimate.value));
    }
  }
  html += Card("model calls", FormatCount(total.calls));
  html += Card("tokens", FormatCount(total.prompt_tokens + total.completion_tokens));
  html += Card("cost", MoneyText(total));
  if (run.finished_unix_s > run.started_unix_s && run.started_unix_s > 0)
    html += Card("time", FormatSeconds(run.finished_unix_s - run.started_unix_s));
  return html + "</div>\n";
}

std::string Overview(const RunView& run) {
  RatioAxis axis;
  for (const TaskView& task : run.tasks) {
    const Evaluation* headline = HeadlineOf(task);
    if (headline != nullptr && headline->speedup) axis.Include(*headline->speedup);
  }
  std::string html =
      "<h2>Tasks</h2>\n<div class=\"scroll\"><table><tr><th>task</th><th class=\"n\">speedup</th>"
      "<th></th><th>over</th><th class=\"n\">latency</th><th "
      "class=\"n\">rollouts</th><th>state</th></tr>\n";
  for (const TaskView& task : run.tasks) {
    const Evaluation* headline = HeadlineOf(task);
    const bool timed = headline != nullptr && headline->speedup;
    const TaskState state = StateOf(task);
    const bool wrong = state == TaskState::kUnsolved || state == TaskState::kNoneHeld;
    html += fmt::format(
        "<tr><td><a href=\"#{}\">{}</a></td><td class=\"n {}\">{}</td><td>{}</td><td>{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
        TaskAnchor(task), EscapeHtml(task.task.id),
        headline != nullptr ? VerdictClass(*headline) : std::string_view(wrong ? "bad" : "even"),
        timed ? EscapeHtml(FormatSpeedup(*headline->speedup)) : std::string("–"),
        timed ? IntervalMark(*headline->speedup, axis) : std::string(),
        timed ? EscapeHtml(headline->speedup->baseline) : std::string(),
        timed && headline->latency ? EscapeHtml(FormatSpeedup(headline->latency->speedup))
                                   : std::string("–"),
        task.trajectories.size(), StateText(state));
  }
  return html + "</table></div>\n";
}

// Which skills were shown, and how their rollouts did.
std::string SkillsUsed(const RunView& run) {
  struct Use {
    int rollouts = 0;
    int solved = 0;
    int won = 0;
  };
  std::map<std::string, Use> uses;
  for (const TaskView& task : run.tasks) {
    for (const Trajectory& trajectory : task.trajectories) {
      const bool solved =
          std::any_of(trajectory.turns.begin(), trajectory.turns.end(),
                      [](const Turn& turn) { return turn.evaluation.outcome == Outcome::kOk; });
      const bool won = task.winner && task.winner.value().turn.rollout == trajectory.id;
      for (const std::string& skill : trajectory.skills) {
        Use& use = uses[skill];
        use.rollouts += 1;
        use.solved += solved ? 1 : 0;
        use.won += won ? 1 : 0;
      }
    }
  }
  if (uses.empty()) return "";
  std::string html =
      "<h2>Skills used</h2>\n<div class=\"scroll\"><table><tr><th>skill</th>"
      "<th class=\"n\">rollouts</th><th class=\"n\">with a correct kernel</th>"
      "<th class=\"n\">winners</th></tr>\n";
  for (const auto& [name, use] : uses)
    html += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td></tr>\n",
        EscapeHtml(name), use.rollouts, use.solved, use.won);
  return html + "</table></div>\n";
}

std::string Costs(const RunView& run) {
  std::string html =
      "<h2>Costs</h2>\n<div class=\"scroll\"><table><tr><th>agent</th><th class=\"n\">calls</th>"
      "<th class=\"n\">prompt tokens</th><th class=\"n\">reply tokens</th>"
      "<th class=\"n\">cost</th><th class=\"n\">waiting for models</th></tr>\n";
  const auto row = [&](std::string_view name, const LlmCost& cost) {
    html += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
        EscapeHtml(name), FormatCount(cost.calls), FormatCount(cost.prompt_tokens),
        FormatCount(cost.completion_tokens), MoneyText(cost), FormatSeconds(cost.seconds));
  };
  LlmCost total;
  for (const auto& [agent, cost] : CostsByAgent(run)) {
    if (cost != LlmCost{}) row(agent, cost);
    total += cost;
  }
  row("all", total);
  return html + "</table></div>\n";
}

std::string Stages(const RunView& run) {
  const std::string plot = BarPlot(run.stage_seconds);
  if (plot.empty()) return "";
  return fmt::format("<h2>Stage times</h2>\n<p class=\"soft\">{}</p>\n{}",
                     EscapeHtml(run.stage_note), plot);
}

}  // namespace

std::string RenderHtml(const HtmlInput& input) {
  const RunView& run = *input.run;
  std::string html = PageHead(run.title) + Head(run);
  html += Cards(input);
  html += Overview(run);
  if (input.comparison != nullptr)
    html += "<h2>Compared with another run</h2>\n" + ComparisonHtml(*input.comparison);
  html += SkillsUsed(run);
  html += Costs(run);
  html += Stages(run);
  const size_t max_text_bytes = MaxTextBytes(run);
  for (const TaskView& task : run.tasks) html += TaskSection(run, task, max_text_bytes);
  for (const score::ScoreReport& report : input.scores)
    html += fmt::format("<h2>Scores: {}</h2>\n{}", EscapeHtml(report.title), ScoreHtml(report));
  html += SettingsHtml(run.settings);
  return html + "</body>\n</html>\n";
}

}  // namespace davinci::report
