#include "davinci/judge/stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace davinci::judge {
namespace {
// 1 / the 0.75 quantile of the standard normal distribution.
constexpr double kMadToSigma = 1.4826022185056018;
}  // namespace

double Percentile(std::span<const double> values, double q) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(values.begin(), values.end());
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const double fraction = position - static_cast<double>(below);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(below),
                   sorted.end());
  const double low = sorted[below];
  if (fraction == 0) return low;
  const double high =
      *std::min_element(sorted.begin() + static_cast<std::ptrdiff_t>(below) + 1, sorted.end());
  return low + fraction * (high - low);
}

double Median(std::span<const double> values) { return Percentile(values, 0.5); }

double ScaledMad(std::span<const double> values) {
  const double center = Median(values);
  std::vector<double> deviations;
  deviations.reserve(values.size());
  for (const double value : values) deviations.push_back(std::abs(value - center));
  return kMadToSigma * Median(deviations);
}

double StudentT975(int dof) {
  if (dof == 1) return 12.706204736432095;
  if (dof == 2) return 4.302652729911275;
  const double z = kNormal975;
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
  const double d = dof;
  return z + (z3 + z) / (4 * d) + (5 * z5 + 16 * z3 + 3 * z) / (96 * d * d) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * d * d * d) +
         (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * d * d * d * d);
}

}  // namespace davinci::judge
