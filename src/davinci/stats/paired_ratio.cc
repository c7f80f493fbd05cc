#include "davinci/stats/paired_ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "davinci/stats/summary.h"

namespace davinci::stats {
namespace {

// sqrt(pi / 2): standard deviation of a median over that of a mean, normal data.
constexpr double kMedianInefficiency = 1.2533141373155003;

// SplitMix64's step and finaliser; quality is ample for resampling and the sequence is the same
// everywhere.
class ResampleRng {
 public:
  explicit ResampleRng(uint64_t seed) : state_(seed) {}
  // Uniform in [0, n) by multiplication; the bias is below n / 2^32.
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(((Next() >> 32) * n) >> 32); }

 private:
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  uint64_t state_;
};

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

struct Interval {
  double low;
  double high;
};

Interval BootstrapMedian(const std::vector<double>& blocks, const PairedRatioOptions& options) {
  const int m = static_cast<int>(blocks.size());
  const double z = std::sqrt(static_cast<double>(m) / (m - 1)) * StudentT975(m - 1);
  const double tail = NormalCdf(-z);
  ResampleRng rng(options.seed);
  std::vector<double> resample(blocks.size());
  std::vector<double> medians(static_cast<size_t>(options.num_resamples));
  for (double& median : medians) {
    for (double& value : resample) value = blocks[rng.Below(static_cast<uint32_t>(m))];
    const auto middle = resample.begin() + m / 2;
    std::nth_element(resample.begin(), middle, resample.end());
    median = m % 2 == 1 ? *middle : 0.5 * (*middle + *std::max_element(resample.begin(), middle));
  }
  return {Percentile(medians, tail), Percentile(medians, 1 - tail)};
}

Interval StudentAround(const std::vector<double>& blocks, double center) {
  const auto m = static_cast<double>(blocks.size());
  const double mean = std::accumulate(blocks.begin(), blocks.end(), 0.0) / m;
  double sum_sq = 0;
  for (const double x : blocks) sum_sq += (x - mean) * (x - mean);
  const double half = StudentT975(static_cast<int>(m) - 1) * std::sqrt(sum_sq / (m - 1) / m);
  return {std::min(center, mean) - half, std::max(center, mean) + half};
}

// Student's interval with the spread taken from the median absolute deviation: six blocks that
// happen to lie close together on one side are no proof, and one preempted call must not hide a
// real difference.
Interval RobustStudentAround(const std::vector<double>& blocks, double center) {
  const auto m = static_cast<double>(blocks.size());
  const double half =
      StudentT975(static_cast<int>(m) - 1) * kMedianInefficiency * ScaledMad(blocks) / std::sqrt(m);
  return {center - half, center + half};
}

Interval Hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

std::vector<double> Seconds(std::span<const PairedSample> pairs, double PairedSample::*side) {
  std::vector<double> seconds;
  for (const PairedSample& pair : pairs) seconds.push_back(pair.*side);
  return seconds;
}

std::vector<double> LogMedianOfLaunches(std::span<const PairedSample> pairs,
                                        const std::vector<double>& blocks, size_t pairs_per_block) {
  std::map<int, std::vector<double>> by_launch;
  for (size_t i = 0; i < blocks.size(); ++i)
    by_launch[pairs[i * pairs_per_block].launch].push_back(blocks[i]);
  std::vector<double> medians;
  medians.reserve(by_launch.size());
  for (const auto& [launch, own] : by_launch) medians.push_back(Median(own));
  return medians;
}

// Of the median over the launches, as the log of a ratio; `medians`: of each.
double BetweenLogSd(std::span<const PairedSample> pairs, const std::vector<double>& medians,
                    double unsteadiness, const PairedRatioOptions& options) {
  const double baseline = Median(Seconds(pairs, &PairedSample::baseline_seconds));
  const double candidate = Median(Seconds(pairs, &PairedSample::candidate_seconds));
  const double own_kernels =
      std::max(1.0, options.baseline_kernels * std::min(1.0, candidate / baseline));
  const double shares = std::hypot(std::sqrt(options.baseline_kernels) / baseline,
                                   std::sqrt(own_kernels) / candidate);
  double sd = std::hypot(options.between_process_log_sd, options.between_process_seconds * shares);
  if (const auto launches = static_cast<double>(medians.size()); launches > 1 && sd > 0) {
    const double mean = std::accumulate(medians.begin(), medians.end(), 0.0) / launches;
    double squares = kAssumedFreedom * sd * sd;
    for (const double median : medians) squares += (median - mean) * (median - mean);
    sd = std::sqrt(squares / (kAssumedFreedom + launches - 1)) * kMedianInefficiency /
         std::sqrt(launches);
  }
  return std::hypot(sd, std::log(std::max(unsteadiness / kSteady, 1.0)));
}

double Unsteadiness(std::span<const PairedSample> pairs) {
  double worst = 1;
  for (const auto side : {&PairedSample::baseline_seconds, &PairedSample::candidate_seconds}) {
    const std::vector<double> seconds = Seconds(pairs, side);
    worst = std::max(worst, Median(seconds) / Percentile(seconds, 0.1));
  }
  return worst;
}

bool Outside(const PairedRatio& ratio, double band) {
  return ratio.decided_low > 1 + band || ratio.decided_high < 1 - band;
}

bool IsTime(double seconds) { return std::isfinite(seconds) && seconds > 0; }

}  // namespace

Result<PairedRatio> ComputePairedRatio(std::span<const PairedSample> pairs,
                                       const PairedRatioOptions& options) {
  if (options.num_resamples < 100 || !(options.between_process_log_sd >= 0) ||
      !std::isfinite(options.between_process_log_sd) || !(options.between_process_seconds >= 0) ||
      !std::isfinite(options.between_process_seconds) || options.baseline_kernels < 1 ||
      !(options.band >= 0 && options.band < 1) ||
      !(options.half_width_factor >= 1 && options.half_width_factor < 100) ||
      (options.pairs_per_block != 1 && options.pairs_per_block != 2))
    return InvalidArgument(
        "paired ratio: needs at least 100 resamples, a standard deviation >= 0, a band in [0, 1) "
        "a factor in [1, 100) and one or two pairs to a block");
  if (pairs.size() < 2)
    return InvalidArgument("paired ratio: needs at least two pairs (one A B B A block)");
  const auto each = static_cast<size_t>(options.pairs_per_block);
  std::vector<double> blocks;
  blocks.reserve(pairs.size() / each);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (!IsTime(pairs[i].baseline_seconds) || !IsTime(pairs[i].candidate_seconds))
      return InvalidArgument("paired ratio: pair " + std::to_string(i) +
                             " holds a time that is not positive and finite");
  }
  for (size_t i = 0; i + each <= pairs.size(); i += each) {
    double sum = 0;
    for (const PairedSample& pair : pairs.subspan(i, each))
      sum += std::log(pair.baseline_seconds / pair.candidate_seconds);
    blocks.push_back(sum / static_cast<double>(each));
  }

  PairedRatio ratio;
  ratio.n = static_cast<int>(each * blocks.size());
  const double center = Median(blocks);
  ratio.median = std::exp(center);
  ratio.block_log_sd = ScaledMad(blocks);
  ratio.unsteadiness = Unsteadiness(pairs);
  const std::vector<double> medians = LogMedianOfLaunches(pairs, blocks, each);
  for (const double median : medians) ratio.launches.push_back(std::exp(median));
  if (blocks.size() < 2) {
    ratio.low = 0;
    ratio.high = ratio.decided_high = std::numeric_limits<double>::infinity();
    return ratio;
  }
  Interval interval = BootstrapMedian(blocks, options);
  if (std::ssize(blocks) < kMinBootstrapBlocks) {
    interval = Hull(interval, StudentAround(blocks, center));
  } else if (std::ssize(blocks) < kAmpleBlocks) {
    interval = Hull(interval, RobustStudentAround(blocks, center));
  }
  const double between_log_sd = BetweenLogSd(pairs, medians, ratio.unsteadiness, options);
  const double extra = kNormal975 * between_log_sd;
  ratio.low =
      std::exp(center - std::hypot((center - interval.low) * options.half_width_factor, extra));
  ratio.high =
      std::exp(center + std::hypot((interval.high - center) * options.half_width_factor, extra));
  // Of many comparisons one in twenty lies outside its 95 % interval; one in a thousand may be
  // called significant.
  const int dof = static_cast<int>(std::ssize(blocks)) - 1;
  const double wider = options.half_width_factor * StudentT9995(dof) / StudentT975(dof);
  const double extra_wider = kNormal9995 * between_log_sd;
  ratio.decided_low = std::exp(center - std::hypot((center - interval.low) * wider, extra_wider));
  ratio.decided_high = std::exp(center + std::hypot((interval.high - center) * wider, extra_wider));
  ratio.significant = Outside(ratio, options.band);
  return ratio;
}

PairedRatio AtAverage(PairedRatio ratio, double average, double band) {
  ratio.median = ratio.low = average;
  ratio.decided_low = std::min(ratio.decided_low, average);
  ratio.significant = ratio.significant && Outside(ratio, band);
  return ratio;
}

PairedRatio WithDoubt(PairedRatio ratio, double factor, double band) {
  (factor > 1 ? ratio.high : ratio.low) *= factor;
  (factor > 1 ? ratio.decided_high : ratio.decided_low) *= factor;
  ratio.significant = ratio.significant && Outside(ratio, band);
  return ratio;
}

PairedRatio WithDoubtfulCharge(PairedRatio ratio, double candidate_seconds, double charge,
                               double band) {
  constexpr double kLeastSeconds = 1e-9;
  return WithDoubt(std::move(ratio),
                   candidate_seconds / std::max(candidate_seconds - charge, kLeastSeconds), band);
}

PairedRatio WithCostlierCalls(PairedRatio ratio, double candidate_seconds, double more,
                              double band) {
  return WithDoubt(std::move(ratio), candidate_seconds / (candidate_seconds + more), band);
}

PairedRatio WithError(PairedRatio ratio, double log_sd, double band) {
  const auto away = [&](double end, double quantile) {
    return std::exp(std::hypot(std::log(end / ratio.median), quantile * log_sd));
  };
  ratio.low = ratio.median / away(ratio.low, kNormal975);
  ratio.high = ratio.median * away(ratio.high, kNormal975);
  ratio.decided_low = ratio.median / away(ratio.decided_low, kNormal9995);
  ratio.decided_high = ratio.median * away(ratio.decided_high, kNormal9995);
  ratio.significant = ratio.significant && Outside(ratio, band);
  return ratio;
}

PairedRatio WithBounds(PairedRatio ratio, const PairedRatio& slowest, const PairedRatio& fastest,
                       double band) {
  ratio.low = std::min({ratio.low, slowest.low, fastest.low});
  ratio.high = std::max({ratio.high, slowest.high, fastest.high});
  ratio.decided_low = std::min({ratio.decided_low, slowest.decided_low, fastest.decided_low});
  ratio.decided_high = std::max({ratio.decided_high, slowest.decided_high, fastest.decided_high});
  ratio.significant = Outside(ratio, band);
  return ratio;
}

double RelativeHalfWidth(const PairedRatio& ratio) {
  return (ratio.high - ratio.low) / 2 / ratio.median;
}

}  // namespace davinci::stats
