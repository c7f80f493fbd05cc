#include "davinci/judge/stats/process_ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "davinci/judge/stats/summary.h"

namespace davinci::judge {
namespace {

using Seconds = double PairedSample::*;
// By process: log seconds or log ratios.
using Values = std::map<int, std::vector<double>>;

struct Block {
  double log_ratio;
  int baseline;
  int candidate;
};

std::vector<Block> CleanBlocks(std::span<const PairedSample> pairs) {
  std::vector<Block> blocks;
  for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const PairedSample& a = pairs[i];
    const PairedSample& b = pairs[i + 1];
    if (a.baseline_process != b.baseline_process || a.candidate_process != b.candidate_process)
      continue;
    if (!a.baseline_clean || !a.candidate_clean || !b.baseline_clean || !b.candidate_clean)
      continue;
    blocks.push_back({0.5 * (std::log(a.baseline_seconds / a.candidate_seconds) +
                             std::log(b.baseline_seconds / b.candidate_seconds)),
                      a.baseline_process, a.candidate_process});
  }
  return blocks;
}

struct OneSide {
  double mean = 0;
  double variance = 0;  // of the mean
  int num = 0;
};

// `log_sd`: what processes differ by at least.
OneSide Summarise(const Values& values, double log_sd) {
  std::vector<double> medians;
  for (const auto& [process, list] : values) medians.push_back(Median(list));
  OneSide side;
  side.num = static_cast<int>(medians.size());
  side.mean = Mean(medians);
  const double error = StandardError(medians);
  side.variance = std::max(error * error, log_sd * log_sd / side.num);
  return side;
}

double Dof(const OneSide& a, const OneSide& b) {
  const auto part = [](const OneSide& side) {
    return side.variance * side.variance / std::max(side.num - 1, 1);
  };
  const double both = a.variance + b.variance;
  return both * both / std::max(part(a) + part(b), std::numeric_limits<double>::min());
}

// Of one side's processes, as a share of a call: what is known beforehand.
double PriorLogSd(std::span<const PairedSample> pairs, Seconds side,
                  const PairedRatioOptions& options) {
  std::vector<double> seconds;
  for (const PairedSample& pair : pairs) seconds.push_back(pair.*side);
  return std::hypot(options.between_process_log_sd / std::sqrt(2.0),
                    options.between_process_seconds / Median(seconds));
}

void SetInterval(double center, double half95, double half999, const PairedRatioOptions& options,
                 PairedRatio* ratio) {
  ratio->median = std::exp(center);
  ratio->low = std::exp(center - half95);
  ratio->high = std::exp(center + half95);
  ratio->decided_low = std::exp(center - half999);
  ratio->decided_high = std::exp(center + half999);
  ratio->significant =
      ratio->decided_low > 1 + options.band || ratio->decided_high < 1 - options.band;
}

// `sampling`: standard error of the centre within processes.
void FromSides(const OneSide& baseline, const OneSide& candidate, double center, double sampling,
               const PairedRatioOptions& options, PairedRatio* ratio) {
  const int dof = std::max(1, static_cast<int>(Dof(baseline, candidate)));
  const double error = std::sqrt(baseline.variance + candidate.variance);
  const double factor = options.half_width_factor;
  SetInterval(
      center, factor * std::max(StudentT975(dof) * error, kNormal975 * std::hypot(error, sampling)),
      factor * std::max(StudentT9995(dof) * error, kNormal9995 * std::hypot(error, sampling)),
      options, ratio);
}

bool Crossed(std::span<const PairedSample> pairs, const PairedRatioOptions& options,
             PairedRatio* ratio) {
  const std::vector<Block> blocks = CleanBlocks(pairs);
  if (static_cast<double>(blocks.size()) < kMostlyClean * static_cast<double>(pairs.size() / 2))
    return false;
  Values rows;
  Values columns;
  std::vector<double> all;
  for (const Block& block : blocks) {
    rows[block.baseline].push_back(block.log_ratio);
    columns[block.candidate].push_back(block.log_ratio);
    all.push_back(block.log_ratio);
  }
  if (all.size() < 2) return false;
  const OneSide row = Summarise(rows, PriorLogSd(pairs, &PairedSample::baseline_seconds, options));
  const OneSide column =
      Summarise(columns, PriorLogSd(pairs, &PairedSample::candidate_seconds, options));
  ratio->block_log_sd = ScaledMad(all);
  ratio->n = static_cast<int>(2 * all.size());
  FromSides(row, column, 0.5 * (row.mean + column.mean), MedianStandardError(all), options, ratio);
  return true;
}

// Processes with enough undisturbed calls of a side.
Values Undisturbed(std::span<const PairedSample> pairs, Seconds seconds, int PairedSample::*process,
                   bool PairedSample::*clean) {
  Values values;
  for (const PairedSample& pair : pairs)
    if (pair.*clean) values[pair.*process].push_back(std::log(pair.*seconds));
  std::erase_if(values, [](const auto& item) { return std::ssize(item.second) < kLeastCalls; });
  return values;
}

double SamplingVariance(const Values& values) {
  double sum = 0;
  for (const auto& [process, list] : values) sum += std::pow(MedianStandardError(list), 2);
  return sum / std::pow(static_cast<double>(values.size()), 2);
}

int NumProcesses(std::span<const PairedSample> pairs, int PairedSample::*process) {
  int most = 0;
  for (const PairedSample& pair : pairs) most = std::max(most, pair.*process);
  return most + 1;
}

bool Apart(std::span<const PairedSample> pairs, const PairedRatioOptions& options,
           PairedRatio* ratio) {
  const Values baseline =
      Undisturbed(pairs, &PairedSample::baseline_seconds, &PairedSample::baseline_process,
                  &PairedSample::baseline_clean);
  const Values candidate =
      Undisturbed(pairs, &PairedSample::candidate_seconds, &PairedSample::candidate_process,
                  &PairedSample::candidate_clean);
  const auto least = [&](int PairedSample::*process) {
    return std::min(2, NumProcesses(pairs, process));
  };
  if (std::ssize(baseline) < least(&PairedSample::baseline_process) ||
      std::ssize(candidate) < least(&PairedSample::candidate_process))
    return false;
  const OneSide a =
      Summarise(baseline, PriorLogSd(pairs, &PairedSample::baseline_seconds, options));
  const OneSide b =
      Summarise(candidate, PriorLogSd(pairs, &PairedSample::candidate_seconds, options));
  FromSides(a, b, a.mean - b.mean,
            std::sqrt(SamplingVariance(baseline) + SamplingVariance(candidate)), options, ratio);
  int calls[2] = {};
  for (const auto& item : baseline) calls[0] += static_cast<int>(item.second.size());
  for (const auto& item : candidate) calls[1] += static_cast<int>(item.second.size());
  ratio->n = std::min(calls[0], calls[1]);
  return true;
}

void Bounds(std::span<const PairedSample> pairs, const PairedRatioOptions& options,
            PairedRatio* ratio) {
  const auto logs = [&](const auto& value) {
    std::vector<double> all;
    for (const PairedSample& pair : pairs) all.push_back(std::log(value(pair)));
    return all;
  };
  const auto a = logs([](const PairedSample& p) { return p.baseline_seconds; });
  const auto b = logs([](const PairedSample& p) { return p.candidate_seconds; });
  const auto least_a = logs([](const PairedSample& p) { return p.BaselineLeast(); });
  const auto least_b = logs([](const PairedSample& p) { return p.CandidateLeast(); });
  const double error = std::hypot(MedianStandardError(a), MedianStandardError(b));
  const double center = Median(a) - Median(b);
  const double low = std::min(center, Median(least_a) - Median(b));
  const double high = std::max(center, Median(a) - Median(least_b));
  SetInterval(center, options.half_width_factor * kNormal975 * error,
              options.half_width_factor * kNormal9995 * error, options, ratio);
  ratio->low *= std::exp(low - center);
  ratio->decided_low *= std::exp(low - center);
  ratio->high *= std::exp(high - center);
  ratio->decided_high *= std::exp(high - center);
  ratio->significant = false;
  ratio->inconclusive = true;
  ratio->n = static_cast<int>(pairs.size());
}

}  // namespace

PairedRatio ComputeProcessRatio(std::span<const PairedSample> pairs,
                                const PairedRatioOptions& options) {
  PairedRatio ratio;
  if (Crossed(pairs, options, &ratio)) return ratio;
  if (Apart(pairs, options, &ratio)) {
    ratio.apart = true;
    return ratio;
  }
  Bounds(pairs, options, &ratio);
  return ratio;
}

}  // namespace davinci::judge
