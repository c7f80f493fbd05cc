#include "davinci/report/curve_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "davinci/report/html_text.h"

namespace davinci::report {
namespace {

constexpr size_t kNumColors = 6;  // classes s0 … s5 of the style sheet
constexpr size_t kMostPoints = 400;

constexpr double kWidth = 420;
constexpr double kHeight = 210;
constexpr double kLeft = 58;
constexpr double kRight = 402;  // room for half of the last step's number
constexpr double kTop = 10;
constexpr double kBottom = 182;

// Means of stretches of the same number of points, so that a page stays small.
std::vector<std::pair<double, double>> Thinned(const std::vector<std::pair<double, double>>& all) {
  if (all.size() <= kMostPoints) return all;
  std::vector<std::pair<double, double>> thinned;
  for (size_t i = 0; i < kMostPoints; ++i) {
    const size_t begin = i * all.size() / kMostPoints;
    const size_t end = (i + 1) * all.size() / kMostPoints;
    double x = 0;
    double y = 0;
    for (size_t k = begin; k < end; ++k) {
      x += all[k].first;
      y += all[k].second;
    }
    const auto count = static_cast<double>(end - begin);
    thinned.emplace_back(x / count, y / count);
  }
  return thinned;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void Include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Room around what is flat.
  void Open() {
    if (high > low) return;
    const double room = high == 0 ? 1 : std::abs(high) * 0.5;
    low -= room;
    high += room;
  }
  double Place(double value) const { return (value - low) / (high - low); }
};

std::string TickText(double value) {
  const double size = std::abs(value);
  if (size >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:.6g}", size < 1e-12 ? 0.0 : value);
}

}  // namespace

std::vector<double> LinearTicks(double low, double high, int most) {
  std::vector<double> ticks;
  if (!(high > low) || most < 1) return ticks;
  const double rough = (high - low) / most;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * decade;
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= rough) {
      step = factor * decade;
      break;
    }
  // Counted, not summed: no rounding creeps in.
  const double slack = 1e-9 * (high - low);
  const double first = std::ceil((low - slack) / step);
  for (int i = 0; (first + i) * step <= high + slack; ++i) ticks.push_back((first + i) * step);
  return ticks;
}

std::string CurvePlot(const std::string& title, const std::vector<Curve>& curves, bool from_zero) {
  Range x;
  Range y;
  if (from_zero) y.Include(0);
  bool any = false;
  std::vector<std::vector<std::pair<double, double>>> shown;
  for (const Curve& curve : curves) {
    shown.push_back(Thinned(curve.points));
    for (const auto& [step, value] : shown.back()) {
      any = true;
      x.Include(step);
      y.Include(value);
    }
  }
  if (!any) return "";
  const bool one_step = !(x.high > x.low);
  if (one_step) {
    x.low -= 1;
    x.high += 1;
  }
  y.Open();
  // The axis ends at ticks.
  const auto rough = LinearTicks(y.low, y.high, 4);
  if (rough.size() > 1) {
    const double step = rough[1] - rough[0];
    y.low = std::floor(y.low / step + 1e-9) * step;
    y.high = std::ceil(y.high / step - 1e-9) * step;
  }
  const auto at_x = [&](double value) { return kLeft + (kRight - kLeft) * x.Place(value); };
  const auto at_y = [&](double value) { return kBottom - (kBottom - kTop) * y.Place(value); };

  std::string svg =
      fmt::format("<svg class=\"curve\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">",
                  kWidth, kHeight, EscapeHtml(title));
  for (const double tick : LinearTicks(y.low, y.high, 5))
    svg += fmt::format(
        "<line class=\"{4}\" x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\"/>"
        "<text class=\"tick\" x=\"{3}\" y=\"{5:.1f}\" text-anchor=\"end\">{6}</text>",
        kLeft, at_y(tick), kRight, kLeft - 6, std::abs(tick) < 1e-12 ? "one" : "grid",
        at_y(tick) + 4, TickText(tick));
  for (const double tick : LinearTicks(x.low, x.high, 6)) {
    if (tick != std::floor(tick)) continue;  // a step is a whole number
    svg +=
        fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    at_x(tick), kHeight - 10, TickText(tick));
  }
  std::string key;
  for (size_t i = 0; i < curves.size(); ++i) {
    if (shown[i].empty()) continue;
    const size_t color = (i + 1) % kNumColors;
    std::string points;
    for (const auto& [step, value] : shown[i])
      points += fmt::format("{:.1f},{:.1f} ", at_x(step), at_y(value));
    points.pop_back();
    svg += fmt::format(
        "<g class=\"s{}\"><title>{}: {:.4g} at step {:g}, {:.4g} at step {:g}</title>", color,
        EscapeHtml(curves[i].name), curves[i].points.front().second, curves[i].points.front().first,
        curves[i].points.back().second, curves[i].points.back().first);
    if (shown[i].size() > 1) svg += fmt::format("<polyline points=\"{}\"/>", points);
    const auto& [last_x, last_y] = shown[i].back();
    svg += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\"/></g>",
                       at_x(last_x), at_y(last_y));
    key += fmt::format("<span class=\"name\"><span class=\"key k{}\"></span>{} {:.4g}</span>",
                       color, EscapeHtml(curves[i].name), curves[i].points.back().second);
  }
  return fmt::format("<figure><figcaption><b>{}</b>{}</figcaption>{}</svg></figure>\n",
                     EscapeHtml(title), key, svg);
}

}  // namespace davinci::report
