// Order statistics of small samples, and the quantiles their intervals need. Pure; NaN in the
// input is the caller's mistake.
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

inline constexpr double kNormal975 = 1.959963984540054;  // 97.5 % quantile of the normal
// 97.5 % quantile of Student's t. Exact closed forms for 1 and 2 degrees of freedom, then the
// expansion in 1/dof around the normal quantile (error below 0.2 % from 3 degrees on). dof >= 1.
double StudentT975(int dof);

}  // namespace davinci::judge
