// A ScoreReport as a table for people and as JSON for machines.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/base/table.h"
#include "davinci/score/protocol.h"

namespace davinci::score {
namespace {

using nlohmann::json;

const MetricValue* Find(const ScoreSection& section, std::string_view key) {
  for (const MetricValue& metric : section.metrics)
    if (metric.key == key) return &metric;
  return nullptr;
}

std::string FormatEstimate(Scale scale, const Estimate& estimate) {
  std::string text = FormatValue(scale, estimate.value);
  if (estimate.low && estimate.high) {
    const double factor = scale == Scale::kRate ? 100 : 1;
    const int digits = scale == Scale::kRate ? 1 : 2;
    text += fmt::format(" [{:.{}f}, {:.{}f}]", factor * *estimate.low, digits,
                        factor * *estimate.high, digits);
  }
  return text;
}

std::string_view ScaleName(Scale scale) {
  switch (scale) {
    case Scale::kRate:
      return "rate";
    case Scale::kMean:
      return "mean";
    case Scale::kGeometric:
      return "geometric mean";
  }
  return "";
}

// ">=" rows that say what the ">" row above already said in every section: speedups are seldom
// exactly p, so this is the normal case. JSON keeps them.
bool RepeatsStrictRow(const ScoreReport& report, const std::string& key) {
  const size_t mark = key.find("_ge/");
  if (mark == std::string::npos) return false;
  std::string strict = key;
  strict.erase(mark, 3);
  for (const ScoreSection& section : report.sections) {
    const MetricValue* a = Find(section, key);
    const MetricValue* b = Find(section, strict);
    if (b == nullptr || a == nullptr || a->estimate.value != b->estimate.value) return false;
  }
  return true;
}

json NumberOrNull(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? json(*value) : json(nullptr);
}

}  // namespace

std::string FormatValue(Scale scale, double value) {
  switch (scale) {
    case Scale::kRate:
      return fmt::format("{:.1f} %", 100 * value);
    case Scale::kMean:
      return fmt::format("{:.2f}", value);
    case Scale::kGeometric:
      return fmt::format("{:.2f}x", value);
  }
  return "";
}

std::string ScoreTable(const ScoreReport& report, bool color, size_t max_width) {
  std::vector<Table::Column> columns = {{report.title, Align::kLeft}};
  for (const ScoreSection& section : report.sections)
    columns.push_back({fmt::format("{} ({})", section.title, section.num_tasks), Align::kRight});
  Table table(std::move(columns));
  bool left_out = false;
  const ScoreSection& all = report.sections.front();
  for (const MetricValue& metric : all.metrics) {
    if (RepeatsStrictRow(report, metric.key)) {
      left_out = true;
      continue;
    }
    std::vector<Table::Cell> cells = {metric.title};
    for (const ScoreSection& section : report.sections) {
      const MetricValue* found = Find(section, metric.key);
      cells.push_back(found ? FormatEstimate(metric.scale, found->estimate) : "-");
    }
    table.AddRow(std::move(cells));
  }
  std::string text = table.Render({color, max_width, ""});
  text += "Brackets: 95 % bootstrap interval over tasks and their samples.\n";
  if (left_out) text += "fast_p with ≥ is the same wherever it is not listed.\n";
  for (const std::string& note : report.notes) text += fmt::format("- {}\n", note);
  return text;
}

json ToJson(const ScoreReport& report) {
  json sections = json::array();
  for (const ScoreSection& section : report.sections) {
    json metrics = json::object();
    for (const MetricValue& metric : section.metrics)
      metrics[metric.key] = {{"title", metric.title},
                             {"scale", ScaleName(metric.scale)},
                             {"value", metric.estimate.value},
                             {"low", NumberOrNull(metric.estimate.low)},
                             {"high", NumberOrNull(metric.estimate.high)},
                             {"tasks", metric.estimate.num_tasks}};
    sections.push_back({{"title", section.title},
                        {"level", section.level ? json(section.level.value()) : json(nullptr)},
                        {"tasks", section.num_tasks},
                        {"samples", section.num_samples},
                        {"metrics", std::move(metrics)}});
  }
  return {{"schema", "davinci.score/1"},
          {"protocol", report.protocol},
          {"title", report.title},
          {"definition", report.definition},
          {"sections", std::move(sections)},
          {"notes", report.notes},
          {"samples_unfinished", report.num_unfinished}};
}

}  // namespace davinci::score
