// Order statistics of small samples. Pure; NaN in the input is the caller's mistake.
#pragma once

#include <span>
#include <vector>

namespace davinci::judge {

// Linear interpolation between order statistics (Hyndman and Fan's type 7, numpy's default); q in
// [0, 1]. NaN if empty.
double Percentile(std::span<const double> values, double q);
double Median(std::span<const double> values);
// Median absolute deviation from the median, times 1.4826 so that it estimates the standard
// deviation of normal data.
double ScaledMad(std::span<const double> values);

}  // namespace davinci::judge
