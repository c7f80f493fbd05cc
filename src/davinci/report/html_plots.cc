#include "davinci/report/html_plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/data/shown_interval.h"
#include "davinci/report/html_style.h"
#include "davinci/report/html_text.h"

namespace davinci::report {
namespace {

double HighEnd(const Speedup& speedup, const RatioAxis& axis) {
  const double high = Shown(speedup).high;
  return std::isfinite(high) ? high : axis.high;
}

}  // namespace

void RatioAxis::Include(const Speedup& speedup) {
  const SpeedFigure figure = FigureOf(speedup);
  if (figure.kind == SpeedFigure::Kind::kNone) return;
  Include(figure.value);
  if (figure.kind != SpeedFigure::Kind::kMedian) return;
  Include(Shown(speedup).low);
  Include(Shown(speedup).high);
}

void RatioAxis::Include(double ratio) {
  if (!std::isfinite(ratio) || ratio <= 0) return;
  low = std::min(low, ratio / 1.1);
  high = std::max(high, ratio * 1.1);
}

double RatioAxis::Place(double ratio) const {
  if (!(ratio > 0)) return 0;
  return std::clamp(std::log(ratio / low) / std::log(high / low), 0.0, 1.0);
}

std::vector<double> RatioAxis::Ticks() const {
  std::vector<double> ticks;
  double decade = std::pow(10, std::floor(std::log10(low)));
  while (decade <= high) {
    for (const double step : {1.0, 2.0, 5.0})
      if (decade * step >= low && decade * step <= high) ticks.push_back(decade * step);
    decade *= 10;
  }
  return ticks;
}

std::string IntervalMark(const Speedup& speedup, const RatioAxis& axis) {
  constexpr double kWidth = 220;
  const auto x = [&](double ratio) { return 4 + (kWidth - 8) * axis.Place(ratio); };
  const SpeedFigure figure = FigureOf(speedup);
  return fmt::format(
      "<svg class=\"mark\" viewBox=\"0 0 {0} 20\" width=\"{0}\" height=\"20\" role=\"img\">"
      "<title>{1}</title><line class=\"one\" x1=\"{2:.1f}\" y1=\"0\" x2=\"{2:.1f}\" y2=\"20\"/>"
      "<line class=\"range\" x1=\"{3:.1f}\" y1=\"10\" x2=\"{4:.1f}\" y2=\"10\"/>{5}</svg>",
      kWidth, EscapeHtml(FormatSpeedup(speedup)), x(1), x(Shown(speedup).low),
      x(HighEnd(speedup, axis)),
      figure.kind == SpeedFigure::Kind::kNone
          ? std::string()
          : fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"10\" r=\"4\"/>",
                        x(figure.value)));
}

std::string TurnPlot(const std::vector<Trajectory>& trajectories) {
  constexpr double kWidth = 640;
  constexpr double kHeight = 260;
  constexpr double kLeft = 60;
  constexpr double kTop = 12;
  constexpr double kBottom = 200;  // of the plot; below it the strip of wrong turns
  constexpr double kWrongY = 218;
  RatioAxis axis;
  size_t num_turns = 0;
  for (const Trajectory& trajectory : trajectories) {
    num_turns = std::max(num_turns, trajectory.turns.size());
    for (const Turn& turn : trajectory.turns) {
      if (turn.evaluation.speedup) axis.Include(*turn.evaluation.speedup);
    }
  }
  if (num_turns == 0) return "";
  const auto y = [&](double ratio) { return kBottom - (kBottom - kTop) * axis.Place(ratio); };
  const double column = (kWidth - kLeft - 12) / static_cast<double>(num_turns);
  // Trajectories stand side by side within a turn's column.
  const auto x = [&](size_t turn, size_t trajectory) {
    const double inside = (static_cast<double>(trajectory) + 0.5) /
                          static_cast<double>(std::max<size_t>(trajectories.size(), 1));
    return kLeft + column * (static_cast<double>(turn) + 0.15 + 0.7 * inside);
  };
  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"speedup by turn\">",
      kWidth, kHeight);
  for (const double tick : axis.Ticks())
    svg += fmt::format(
        "<line class=\"{3}\" x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\"/>"
        "<text class=\"tick\" x=\"{4}\" y=\"{5:.1f}\" text-anchor=\"end\">{6:g}×</text>",
        kLeft, y(tick), kWidth - 8, tick == 1 ? "one" : "grid", kLeft - 6, y(tick) + 4, tick);
  svg += fmt::format("<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"end\">wrong</text>",
                     kLeft - 6, kWrongY + 4);
  for (size_t turn = 0; turn < num_turns; ++turn)
    svg += fmt::format(
        "<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">turn {}</text>",
        kLeft + column * (static_cast<double>(turn) + 0.5), kHeight - 12, turn + 1);

  for (size_t i = 0; i < trajectories.size(); ++i) {
    const Trajectory& trajectory = trajectories[i];
    std::string points;
    std::string marks;
    for (size_t t = 0; t < trajectory.turns.size(); ++t) {
      const Evaluation& evaluation = trajectory.turns[t].evaluation;
      const std::string title = EscapeHtml(
          fmt::format("{}: {}", ToString(trajectory.turns[t].id),
                      evaluation.speedup ? FormatSpeedup(*evaluation.speedup)
                                         : std::string(OutcomeName(evaluation.outcome))));
      const double cx = x(t, i);
      if (!evaluation.speedup) {
        // Correct without a time lies on the line of 1, which is all that is known.
        const bool fine = VerdictClass(evaluation) == "even";
        const double cy = fine ? y(1) : kWrongY;
        marks += fmt::format(
            "<g class=\"{5}\"><title>{0}</title><path d=\"M{1:.1f} {2:.1f}l8 8m0 -8l-8 8\"/>"
            "<rect fill-opacity=\"0\" x=\"{3:.1f}\" y=\"{4:.1f}\" width=\"14\" height=\"14\"/></g>",
            title, cx - 4, cy - 4, cx - 7, cy - 7, fine ? "untimed" : "miss");
        continue;
      }
      const Speedup& s = *evaluation.speedup;
      marks += fmt::format(
          "<g><title>{0}</title><line class=\"range\" x1=\"{1:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" "
          "y2=\"{3:.1f}\"/>",
          title, cx, y(Shown(s).low), y(HighEnd(s, axis)));
      // What the interval carries no number for has a range and no dot.
      if (const SpeedFigure figure = FigureOf(s); figure.kind != SpeedFigure::Kind::kNone) {
        points += fmt::format("{:.1f},{:.1f} ", cx, y(figure.value));
        marks += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>", cx,
                             y(figure.value));
      }
      marks += "</g>";
    }
    svg += fmt::format("<g class=\"s{}\">", trajectory.id.scheme % kNumSchemeColors);
    if (!points.empty()) svg += fmt::format("<polyline points=\"{}\"/>", points);
    svg += marks + "</g>";
  }
  return svg + "</svg>\n";
}

std::string BarPlot(const std::vector<std::pair<std::string, double>>& seconds) {
  constexpr double kWidth = 640;
  constexpr double kRow = 24;
  constexpr double kLabel = 150;
  constexpr double kNumber = 110;
  double most = 0;
  for (const auto& [name, value] : seconds) most = std::max(most, value);
  if (!(most > 0)) return "";
  std::string svg = fmt::format(
      "<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"seconds per stage\">",
      kWidth, kRow * static_cast<double>(seconds.size()) + 4);
  double y = 2;
  for (const auto& [name, value] : seconds) {
    const double width = (kWidth - kLabel - kNumber) * std::max(0.0, value) / most;
    svg += fmt::format(
        "<text class=\"tick\" x=\"{0}\" y=\"{1:.1f}\" text-anchor=\"end\">{2}</text>"
        "<rect class=\"bar\" x=\"{3}\" y=\"{4:.1f}\" width=\"{5:.1f}\" height=\"16\" rx=\"2\"/>"
        "<text class=\"tick\" x=\"{6:.1f}\" y=\"{1:.1f}\">{7}</text>",
        kLabel - 8, y + 13, EscapeHtml(name), kLabel, y, width, kLabel + width + 6,
        FormatSeconds(value));
    y += kRow;
  }
  return svg + "</svg>\n";
}

}  // namespace davinci::report
