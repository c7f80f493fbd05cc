// Order statistics of small samples, and the quantiles their intervals need. Pure; NaN in the
// input is the caller's mistake.
#pragma once

#include <span>
#include <vector>

namespace davinci::stats {

// Linear interpolation between order statistics (Hyndman and Fan's type 7, numpy's default); q in
// [0, 1]. NaN if empty.
double Percentile(std::span<const double> values, double q);
double Median(std::span<const double> values);
// Median absolute deviation from the median, times 1.4826 so that it estimates the standard
// deviation of normal data.
double ScaledMad(std::span<const double> values);
double Mean(std::span<const double> values);           // NaN if empty
double StandardError(std::span<const double> values);  // of the mean; 0 below two values
// Of the median, for normal data with a few outliers: sqrt(pi / 2) * ScaledMad / sqrt(n).
double MedianStandardError(std::span<const double> values);

inline constexpr double kNormal975 = 1.959963984540054;   // 97.5 % quantile of the normal
inline constexpr double kNormal9995 = 3.290526731491895;  // 99.95 %
// Quantiles of Student's t at 97.5 % and 99.95 %: the half widths of intervals of 95 % and 99.9 %.
// From the distribution in closed form (Abramowitz and Stegun, 26.7.3 and 26.7.4). dof >= 1.
double StudentT975(int dof);
double StudentT9995(int dof);

}  // namespace davinci::stats
