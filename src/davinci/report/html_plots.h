// The plots of a report as inline SVG. Internal. Colours come from the page's style sheet, so that
// they follow light and dark; every mark has a <title> that a mouse or a screen reader finds.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "davinci/report/run_view.h"

namespace davinci::report {

// A range of ratios on a logarithmic axis.
struct RatioAxis {
  double low = 0.5;
  double high = 2;
  // Makes room for `ratio`; ignores what is not positive and finite.
  void Include(double ratio);
  // … for what is drawn of a speedup: nothing where its interval carries no number.
  void Include(const Speedup& speedup);
  // Where `ratio` lies, from 0 to 1; clamped.
  double Place(double ratio) const;
  // 1, 2, 5, 10, … within the range.
  std::vector<double> Ticks() const;
};

// One row of the overview: a dot with its interval, and the line of 1.
std::string IntervalMark(const Speedup& speedup, const RatioAxis& axis);
// Speedup over turns, one line per trajectory, coloured by scheme; wrong turns lie in a strip of
// their own at the bottom. Empty when there is no turn.
std::string TurnPlot(const std::vector<Trajectory>& trajectories);
// Horizontal bars.
std::string BarPlot(const std::vector<std::pair<std::string, double>>& seconds);

}  // namespace davinci::report
