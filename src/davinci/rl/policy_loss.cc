#include "davinci/rl/policy_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace davinci::rl {
namespace {

constexpr double kLogRatioClamp = 20;

constexpr std::array<std::pair<Aggregation, std::string_view>, 4> kAggregationNames = {{
    {Aggregation::kTokenMean, "token-mean"},
    {Aggregation::kSequenceMeanTokenSum, "seq-mean-token-sum"},
    {Aggregation::kSequenceMeanTokenMean, "seq-mean-token-mean"},
    {Aggregation::kTokenSumConstant, "token-sum-constant"},
}};

}  // namespace

TokenLoss ClippedTokenLoss(double log_ratio, double advantage, const ClipOptions& options) {
  const double rho = std::exp(std::clamp(log_ratio, -kLogRatioClamp, kLogRatioClamp));
  const double bounded = std::clamp(rho, 1 - options.low, 1 + options.high);
  TokenLoss token;
  token.loss = -advantage * rho;
  token.gradient = std::abs(log_ratio) > kLogRatioClamp ? 0 : token.loss;
  if (-advantage * bounded > token.loss) {
    token.loss = -advantage * bounded;
    token.gradient = 0;
    token.clipped_low = advantage < 0;
    token.clipped_high = advantage > 0;
  }
  if (advantage < 0 && options.dual > 1 && -advantage * options.dual < token.loss) {
    token.loss = -advantage * options.dual;
    token.gradient = 0;
    token.clipped_dual = true;
  }
  return token;
}

std::string_view AggregationName(Aggregation aggregation) {
  for (const auto& [value, name] : kAggregationNames)
    if (value == aggregation) return name;
  return "?";
}

Result<Aggregation> ParseAggregation(std::string_view name) {
  std::string known;
  for (const auto& [value, text] : kAggregationNames) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(text);
  }
  return InvalidArgument(fmt::format("unknown loss aggregation \"{}\"; known are {}", name, known));
}

std::vector<double> TokenWeights(Aggregation aggregation, std::span<const int64_t> num_tokens,
                                 double divisor) {
  double tokens = 0;
  double sequences = 0;
  for (const int64_t n : num_tokens) {
    tokens += static_cast<double>(n);
    sequences += n > 0 ? 1 : 0;
  }
  std::vector<double> weights;
  for (const int64_t n : num_tokens) {
    if (n <= 0) {
      weights.push_back(0);
      continue;
    }
    switch (aggregation) {
      case Aggregation::kTokenMean:
        weights.push_back(1 / tokens);
        break;
      case Aggregation::kSequenceMeanTokenSum:
        weights.push_back(1 / (sequences * divisor));
        break;
      case Aggregation::kSequenceMeanTokenMean:
        weights.push_back(1 / (sequences * static_cast<double>(n)));
        break;
      case Aggregation::kTokenSumConstant:
        weights.push_back(1 / divisor);
        break;
    }
  }
  return weights;
}

}  // namespace davinci::rl
