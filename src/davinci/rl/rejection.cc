#include "davinci/rl/rejection.h"

#include <algorithm>
#include <cmath>

#include "davinci/base/rng.h"

namespace davinci::rl {
namespace {

constexpr double kMostLogRatio = 20;

}  // namespace

Mismatch AssessMismatch(std::span<const double> log_ratios, const MismatchOptions& options) {
  Mismatch mismatch;
  if (log_ratios.empty()) {
    mismatch.verdict = MismatchVerdict::kNoTokens;
    return mismatch;
  }
  double sum = 0;
  for (const double d : log_ratios) sum += d;
  const double mean = sum / static_cast<double>(log_ratios.size());
  mismatch.geometric_ratio = std::exp(std::clamp(mean, -kMostLogRatio, kMostLogRatio));
  const auto [least, greatest] = std::minmax_element(log_ratios.begin(), log_ratios.end());
  mismatch.least_ratio = std::exp(*least);
  mismatch.greatest_ratio = std::exp(*greatest);
  // Written so that a NaN is rejected.
  if (options.veto_ratio > 0 && !(*least >= std::log(options.veto_ratio))) {
    mismatch.verdict = MismatchVerdict::kVetoed;
  } else if (!(mismatch.geometric_ratio >= options.low &&
               mismatch.geometric_ratio <= options.high)) {
    mismatch.verdict = MismatchVerdict::kOutsideBand;
  }
  return mismatch;
}

std::vector<double> TokenImportanceWeights(std::span<const double> log_ratios, double cap) {
  std::vector<double> weights;
  weights.reserve(log_ratios.size());
  for (const double d : log_ratios)
    weights.push_back(std::min(std::exp(std::clamp(d, -kMostLogRatio, kMostLogRatio)), cap));
  return weights;
}

double KeepProbability(bool correct, std::optional<double> coverage, double speedup,
                       const ProfilingOptions& options) {
  if (!correct || !coverage) return 1;
  if (options.always_keep_speedup > 0 && speedup >= options.always_keep_speedup) return 1;
  if (options.width <= 0) return *coverage >= options.start ? 1 : 0;
  return std::clamp((*coverage - options.start) / options.width, 0.0, 1.0);
}

double SeededDraw(uint64_t seed, std::string_view sample) {
  uint64_t state = seed;  // FNV-1a over the name, mixed by SplitMix64
  uint64_t hash = 0xcbf29ce484222325ull;
  for (const char c : sample) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  state ^= hash;
  SplitMix64 stream(state);
  (void)stream.Next();
  return stream.Uniform();
}

}  // namespace davinci::rl
