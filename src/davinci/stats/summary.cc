#include "davinci/stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace davinci::stats {
namespace {
// 1 / the 0.75 quantile of the standard normal distribution.
constexpr double kMadToSigma = 1.4826022185056018;
// P(|t| < x) for a whole number of degrees of freedom.
double StudentWithin(int dof, double x) {
  const double theta = std::atan2(x, std::sqrt(static_cast<double>(dof)));
  const double cosine2 = std::cos(theta) * std::cos(theta);
  double term = dof % 2 == 0 ? 1 : std::cos(theta);
  double sum = 0;
  for (int k = dof % 2 == 0 ? 2 : 3; k <= dof; k += 2) {
    sum += term;
    term *= cosine2 * (k - 1) / k;
  }
  return dof % 2 == 0 ? std::sin(theta) * sum : 2 / M_PI * (theta + std::sin(theta) * sum);
}

// The x with P(|t| < x) = within.
double StudentQuantile(int dof, double within) {
  double low = 0;
  double high = 1e4;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (StudentWithin(dof, middle) < within ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

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

double Mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StandardError(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = Mean(values);
  double sum_sq = 0;
  for (const double value : values) sum_sq += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return std::sqrt(sum_sq / (n - 1) / n);
}

double MedianStandardError(std::span<const double> values) {
  if (values.empty()) return 0;
  return std::sqrt(std::numbers::pi / 2 / static_cast<double>(values.size())) * ScaledMad(values);
}

double StudentT975(int dof) { return StudentQuantile(dof, 0.95); }
double StudentT9995(int dof) { return StudentQuantile(dof, 0.999); }

}  // namespace davinci::stats
