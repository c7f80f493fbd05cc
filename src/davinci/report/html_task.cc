#include "davinci/report/html_task.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/base/plural.h"
#include "davinci/report/html_plots.h"
#include "davinci/report/html_style.h"
#include "davinci/report/html_text.h"

namespace davinci::report {
namespace {

std::string Names(const std::vector<std::string>& names) {
  std::string html;
  for (const std::string& name : names)
    html += fmt::format("<span class=\"chip\">{}</span>", EscapeHtml(name));
  return html.empty() ? "<span class=\"soft\">none</span>" : html;
}

std::string Evidence(const Evaluation& evaluation, size_t max_text_bytes) {
  std::string html;
  if (evaluation.speedup)
    html += fmt::format("<p>{} over {}{}</p>", EscapeHtml(FormatSpeedup(*evaluation.speedup)),
                        EscapeHtml(evaluation.speedup->baseline),
                        evaluation.speedup->significant ? "" : ", not significant");
  if (!evaluation.labels.empty()) html += fmt::format("<p>{}</p>", Names(evaluation.labels));
  if (!evaluation.message.empty()) html += CodeBlock(evaluation.message, max_text_bytes);
  return html;
}

std::string Source(const RunView& run, const std::string& code_hash, std::string_view title,
                   size_t max_text_bytes, bool open) {
  const auto found = run.sources.find(code_hash);
  if (found == run.sources.end()) return "";
  return Folded(title, CodeBlock(found->second, max_text_bytes), open);
}

std::string WinnerPart(const RunView& run, const TaskView& task, size_t max_text_bytes) {
  const Winner* best = BestKernel(task);
  if (best == nullptr) return "";
  const Winner& winner = *best;
  std::string html = fmt::format(
      "<h3>{}: <a href=\"#{}\">{}</a></h3>\n<p>Judged again in fresh processes, new "
      "seeds:</p>\n<ul>",
      task.winner ? std::string(AuthorOf(task, winner.turn) == Author::kExpert
                                    ? "Winner, written by the expert"
                                    : "Winner")
                  : fmt::format("Best correct kernel, {}", StateText(StateOf(task))),
      Anchor("turn", ToString(winner.turn)), EscapeHtml(ToString(winner.turn)));
  const auto item = [&](const Evaluation& evaluation) {
    html +=
        fmt::format("<li class=\"{}\">{}</li>", VerdictClass(evaluation),
                    evaluation.speedup
                        ? fmt::format("{} over {}", EscapeHtml(FormatSpeedup(*evaluation.speedup)),
                                      EscapeHtml(evaluation.speedup->baseline))
                        : EscapeHtml(OutcomeName(evaluation.outcome)));
  };
  item(winner.certified);
  for (const Evaluation& evaluation : winner.also) item(evaluation);
  if (winner.roofline_share)
    html += fmt::format("<li>{:.0f} % of the roofline</li>", 100 * *winner.roofline_share);
  html += "</ul>\n";
  if (const std::string rivals = RivalsText(task); !rivals.empty())
    html += fmt::format("<p>{}</p>\n", EscapeHtml(rivals));
  if (!winner.exported_path.empty())
    html += fmt::format("<p>Runs without davinci: <code>{}</code></p>\n",
                        EscapeHtml(winner.exported_path));
  if (!winner.explanation.empty())
    html += Folded("What was changed", CodeBlock(winner.explanation, max_text_bytes), true);
  html += Source(run, winner.code_hash, "Kernel", max_text_bytes, true);
  return html;
}

std::string SchemePart(const TaskView& task) {
  if (task.selections.empty()) return "";
  std::string html =
      "<h3>Skill sets</h3>\n<div class=\"scroll\"><table><tr><th>skill set</th><th>skills "
      "chosen</th>"
      "<th>offered</th><th>remark</th></tr>\n";
  for (const Selection& selection : task.selections) {
    std::string remark = selection.problem;
    if (selection.null_scheme) remark = "control: no skills";
    if (selection.merged_into)
      remark = fmt::format("same skills as skill set {}, rolled out there", *selection.merged_into);
    html += fmt::format(
        "<tr><td><span class=\"key k{}\"></span>{}</td><td>{}</td><td class=\"n\">{}</td>"
        "<td>{}</td></tr>\n",
        selection.scheme % kNumSchemeColors, selection.scheme, Names(selection.chosen),
        selection.shown.size(), EscapeHtml(remark));
  }
  return html + "</table></div>\n";
}

std::string RolloutTitle(const Trajectory& trajectory) {
  switch (AuthorOf(trajectory)) {
    case Author::kExpert:
      return fmt::format("expert, {}", trajectory.id.rollout);
    case Author::kUser:
      return "start kernel";
    case Author::kModel:
      break;
  }
  return fmt::format("skill set {}, {}", trajectory.id.scheme, trajectory.id.rollout);
}

// Rows: trajectories; cells: their turns, in order. The lineage of every kernel.
std::string LineagePart(const TaskView& task, const std::vector<Trajectory>& trajectories) {
  if (trajectories.empty()) return "";
  std::string html =
      "<h3>Lineage</h3>\n<div class=\"scroll\"><table><tr><th>rollout</th><th>skills shown</th>"
      "<th>turns</th><th>ended</th></tr>\n";
  for (const Trajectory& trajectory : trajectories) {
    std::string turns;
    for (const Turn& turn : trajectory.turns) {
      const bool best = task.winner && task.winner->turn == turn.id;
      turns +=
          fmt::format("{}<a class=\"chip {}{}\" href=\"#{}\">{}</a>", turns.empty() ? "" : "→ ",
                      VerdictClass(turn.evaluation), best ? " best" : "",
                      Anchor("turn", ToString(turn.id)), EscapeHtml(ShortVerdict(turn.evaluation)));
    }
    std::string end(TrajectoryEndName(trajectory.end));
    if (!trajectory.problem.empty()) end += ": " + trajectory.problem;
    html += fmt::format(
        "<tr><td><span class=\"key k{}\"></span>{}</td><td>{}</td><td>{}</td>"
        "<td>{}</td></tr>\n",
        trajectory.id.scheme % kNumSchemeColors, EscapeHtml(RolloutTitle(trajectory)),
        Names(trajectory.skills), turns, EscapeHtml(end));
  }
  return html + "</table></div>\n";
}

std::string TurnPart(const RunView& run, const TaskView& task, const Turn& turn,
                     size_t max_text_bytes) {
  std::string body = Evidence(turn.evaluation, max_text_bytes);
  const auto confirmed = task.confirmed.find(turn.code_hash);
  if (confirmed != task.confirmed.end())
    body += "<p>Judged again under the full protocol:</p>\n" +
            Evidence(confirmed->second, max_text_bytes);
  body += fmt::format(
      "<p class=\"soft\">{}{} {} prompt and {} reply tokens, {}, model {}, judge {}{}</p>\n",
      EscapeHtml(turn.model), turn.model.empty() ? "" : ":", FormatCount(turn.cost.prompt_tokens),
      FormatCount(turn.cost.completion_tokens), MoneyText(turn.cost),
      FormatSeconds(turn.cost.seconds), FormatSeconds(turn.judge_seconds),
      turn.judged_before ? " (an identical candidate had been judged)" : "");
  body += Source(run, turn.code_hash, "Code", max_text_bytes, false);
  if (!turn.reasoning.empty())
    body += Folded("Reasoning", CodeBlock(turn.reasoning, max_text_bytes));
  body += Folded("Reply", CodeBlock(turn.reply, max_text_bytes));
  const Evaluation& counts =
      confirmed != task.confirmed.end() ? confirmed->second : turn.evaluation;
  return fmt::format("<div id=\"{}\">{}</div>", Anchor("turn", ToString(turn.id)),
                     Folded(fmt::format("Turn {}: {}", turn.id.turn, ShortVerdict(counts)), body));
}

std::string SkillPart(const TaskView& task, size_t max_text_bytes) {
  if (task.proposals.empty()) return "";
  std::string html = "<h3>Skills proposed</h3>\n";
  for (const SkillProposal& proposal : task.proposals) {
    const auto verification =
        std::find_if(task.verifications.begin(), task.verifications.end(), [&](const auto& v) {
          return v.summary == proposal.summary && v.proposal == proposal.proposal;
        });
    std::string verdict =
        proposal.refused.empty() ? "not verified" : "refused: " + proposal.refused;
    std::string body = fmt::format("<p>{}</p>\n<p>{}</p>\n", EscapeHtml(proposal.description),
                                   Names(proposal.tags));
    if (verification != task.verifications.end()) {
      verdict = fmt::format("{}: {}", verification->admitted ? "admitted" : "refused",
                            verification->reason);
      if (verification->uplift) {
        const Speedup uplift{verification->uplift->median, verification->uplift->low,
                             verification->uplift->high, false, ""};
        body += fmt::format("<p>Uplift {}, threshold {:.2f}×</p>\n",
                            EscapeHtml(FormatSpeedup(uplift)), verification->threshold);
      }
      body +=
          "<div class=\"scroll\"><table><tr><th>arm</th><th>task</th><th class=\"n\">seed</th>"
          "<th>verdict</th></tr>\n";
      for (const VerificationSample& sample : verification->samples)
        body += fmt::format(
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"{}\">{}</td></tr>\n",
            sample.with_skill ? "with" : "without", EscapeHtml(sample.task), sample.seed,
            VerdictClass(sample.evaluation), EscapeHtml(ShortVerdict(sample.evaluation)));
      body += "</table></div>\n";
    }
    body += fmt::format(
        "<p class=\"soft\">written from <a href=\"#{}\">{}</a> and <a href=\"#{}\">{}</a></p>\n",
        Anchor("turn", ToString(proposal.before)), EscapeHtml(ToString(proposal.before)),
        Anchor("turn", ToString(proposal.after)), EscapeHtml(ToString(proposal.after)));
    body += CodeBlock(proposal.content, max_text_bytes);
    html += Folded(fmt::format("{} — {}", proposal.name, verdict), body);
  }
  return html;
}

}  // namespace

std::string TaskAnchor(const TaskView& task) { return Anchor("task", task.task.id); }

std::string TaskSection(const RunView& run, const TaskView& task, size_t max_text_bytes) {
  std::string html =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", TaskAnchor(task), EscapeHtml(task.task.id));
  if (!task.remark.empty()) html += fmt::format("<p>{}</p>\n", EscapeHtml(task.remark));
  const std::vector<Trajectory> trajectories = WithConfirmedVerdicts(task);
  html += TurnPlot(trajectories);
  html += WinnerPart(run, task, max_text_bytes);
  if (!task.reference.empty())
    html += Folded("Reference", CodeBlock(task.reference, max_text_bytes));
  html += SchemePart(task);
  html += LineagePart(task, trajectories);
  for (const Trajectory& trajectory : task.trajectories) {
    std::string turns;
    for (const Turn& turn : trajectory.turns) turns += TurnPart(run, task, turn, max_text_bytes);
    html += Folded(fmt::format("Skill set {}, rollout {}: replies, code and verdicts of {}",
                               trajectory.id.scheme, trajectory.id.rollout,
                               Counted(static_cast<int64_t>(trajectory.turns.size()), "turn")),
                   turns);
  }
  html += SkillPart(task, max_text_bytes);
  return html + "</section>\n";
}

}  // namespace davinci::report
