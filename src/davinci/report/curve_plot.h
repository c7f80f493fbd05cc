// Curves over the steps of a training run as inline SVG. Internal. Colours as in html_plots.h.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace davinci::report {

struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // step and value; ascending, finite
};

// 5, 10, 15, … : at most `most` multiples of 1, 2 or 5 times a power of ten that span [low, high].
std::vector<double> LinearTicks(double low, double high, int most);

// A title, a key when there are several curves, and the curves over a common axis that holds
// every point and, with `from_zero`, 0. Empty when no curve has a point.
std::string CurvePlot(const std::string& title, const std::vector<Curve>& curves, bool from_zero);

}  // namespace davinci::report
