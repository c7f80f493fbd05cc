#include "davinci/weights/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace davinci::weights {
namespace {

using std::numbers::pi;

// As transformers computes them: powers in fp32.
float Power(double base, int64_t i, int64_t dim) {
  return std::pow(static_cast<float>(base), static_cast<float>(2 * i) / static_cast<float>(dim));
}

// Where a wave turns `rotations` times within `length` positions, in units of dimensions.
double CorrectionDim(double rotations, int64_t dim, double base, int64_t length) {
  return static_cast<double>(dim) * std::log(static_cast<double>(length) / (rotations * 2 * pi)) /
         (2 * std::log(base));
}

std::vector<float> Yarn(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  const int64_t dim = config.head_dim;
  double low =
      CorrectionDim(scaling.beta_fast, dim, config.rope_theta, scaling.original_max_positions);
  double high =
      CorrectionDim(scaling.beta_slow, dim, config.rope_theta, scaling.original_max_positions);
  if (scaling.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(dim - 1));
  if (low == high) high += 0.001;
  std::vector<float> inverse;
  for (int64_t i = 0; i < dim / 2; ++i) {
    const float power = Power(config.rope_theta, i, dim);
    const float ramp = std::clamp(
        (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low), 0.0F,
        1.0F);
    const float extrapolated = 1.0F - ramp;
    const float divided = 1.0F / (static_cast<float>(scaling.factor) * power);
    inverse.push_back(divided * (1.0F - extrapolated) + 1.0F / power * extrapolated);
  }
  return inverse;
}

float Llama3(const RopeScaling& scaling, float inverse) {
  const auto original = static_cast<float>(scaling.original_max_positions);
  const auto low = static_cast<float>(scaling.low_freq_factor);
  const auto high = static_cast<float>(scaling.high_freq_factor);
  const auto factor = static_cast<float>(scaling.factor);
  const float wavelength = static_cast<float>(2 * pi) / inverse;
  if (wavelength < original / high) return inverse;
  if (wavelength > original / low) return inverse / factor;
  const float smooth = (original / wavelength - low) / (high - low);
  return (1.0F - smooth) * inverse / factor + smooth * inverse;
}

}  // namespace

RopeFrequencies ComputeRopeFrequencies(const ModelConfig& config, int64_t length) {
  const RopeScaling& scaling = config.rope_scaling;
  const int64_t dim = config.head_dim;
  RopeFrequencies result;
  if (scaling.kind == RopeScaling::Kind::kYarn) {
    result.inverse = Yarn(config);
    result.attention_factor = static_cast<float>(scaling.attention_factor);
    return result;
  }
  double base = config.rope_theta;
  if (scaling.kind == RopeScaling::Kind::kDynamic) {
    const auto original = static_cast<double>(scaling.original_max_positions);
    const double longest = std::max(static_cast<double>(length), original);
    base *= std::pow(scaling.factor * longest / original - (scaling.factor - 1),
                     static_cast<double>(dim) / static_cast<double>(dim - 2));
  }
  for (int64_t i = 0; i < dim / 2; ++i) {
    float inverse = 1.0F / Power(base, i, dim);
    if (scaling.kind == RopeScaling::Kind::kLinear)
      inverse /= static_cast<float>(scaling.factor);
    else if (scaling.kind == RopeScaling::Kind::kLlama3)
      inverse = Llama3(scaling, inverse);
    else if (scaling.kind == RopeScaling::Kind::kFactors)
      inverse /= scaling.factors[static_cast<size_t>(i)];
    result.inverse.push_back(inverse);
  }
  return result;
}

}  // namespace davinci::weights
