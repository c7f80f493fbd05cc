#include "davinci/report/html_scores.h"

#include <fmt/format.h>

#include "davinci/report/html_text.h"

namespace davinci::report {
namespace {

std::string Bounds(score::Scale scale, const score::Estimate& estimate) {
  if (!estimate.low || !estimate.high) return "";
  const double factor = scale == score::Scale::kRate ? 100 : 1;
  const int digits = scale == score::Scale::kRate ? 1 : 2;
  return fmt::format(" <span class=\"soft\">[{:.{}f}, {:.{}f}]</span>", factor * *estimate.low,
                     digits, factor * *estimate.high, digits);
}

}  // namespace

std::string ScoreHtml(const score::ScoreReport& report) {
  std::string html = fmt::format("<p>{}</p>\n<div class=\"scroll\"><table><tr><th>metric</th>",
                                 EscapeHtml(report.definition));
  for (const score::ScoreSection& section : report.sections)
    html += fmt::format("<th class=\"n\">{} ({} tasks, {} samples)</th>", EscapeHtml(section.title),
                        section.num_tasks, section.num_samples);
  html += "</tr>\n";
  for (const score::MetricValue& metric : report.sections.front().metrics) {
    html += fmt::format("<tr><td>{}</td>", EscapeHtml(metric.title));
    for (const score::ScoreSection& section : report.sections) {
      std::string cell = "–";
      for (const score::MetricValue& other : section.metrics)
        if (other.key == metric.key)
          cell = EscapeHtml(score::FormatValue(other.scale, other.estimate.value)) +
                 Bounds(other.scale, other.estimate);
      html += fmt::format("<td class=\"n\">{}</td>", cell);
    }
    html += "</tr>\n";
  }
  html += "</table></div>\n<ul class=\"soft\">";
  for (const std::string& note : report.notes) html += fmt::format("<li>{}</li>", EscapeHtml(note));
  return html + "<li>brackets: 95 % bootstrap intervals over tasks</li></ul>\n";
}

std::string ComparisonHtml(const score::RunComparison& comparison) {
  std::string html = fmt::format(
      "<p>{} tasks in both runs, {} only in the first, {} only in the second; paired by task.</p>\n"
      "<div class=\"scroll\"><table><tr><th>metric</th><th class=\"n\">first</th>"
      "<th class=\"n\">second</th><th class=\"n\">second vs first</th>"
      "<th class=\"n\">better / worse</th><th class=\"n\">p (sign)</th>"
      "<th class=\"n\">p (permutation)</th></tr>\n",
      comparison.num_common, comparison.only_first, comparison.only_second);
  for (const score::MetricComparison& metric : comparison.metrics) {
    const bool geometric = metric.scale == score::Scale::kGeometric;
    const double factor = metric.scale == score::Scale::kRate ? 100 : 1;
    const std::string change = geometric ? fmt::format("{:.2f}×", metric.difference.value)
                                         : fmt::format("{:+.{}f}", factor * metric.difference.value,
                                                       metric.scale == score::Scale::kRate ? 1 : 2);
    html += fmt::format(
        "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}{}</td>"
        "<td class=\"n\">{} / {}</td><td class=\"n\">{:.3g}</td><td class=\"n\">{:.3g}</td></tr>\n",
        EscapeHtml(metric.title), EscapeHtml(score::FormatValue(metric.scale, metric.first)),
        EscapeHtml(score::FormatValue(metric.scale, metric.second)), change,
        Bounds(metric.scale, metric.difference), metric.better, metric.worse, metric.sign_p,
        metric.permutation_p);
  }
  return html + "</table></div>\n";
}

}  // namespace davinci::report
