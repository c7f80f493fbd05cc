#include "davinci/rl/value_baseline.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace davinci::rl {
namespace {

double Variance(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return squares / n;
}

}  // namespace

GaeResult GeneralisedAdvantages(std::span<const double> rewards, std::span<const double> values,
                                double gamma, double lambda) {
  GaeResult result{std::vector<double>(rewards.size()), std::vector<double>(rewards.size())};
  double later_advantage = 0;
  double later_value = 0;
  for (size_t t = rewards.size(); t-- > 0;) {
    const double delta = rewards[t] + gamma * later_value - values[t];
    later_advantage = delta + gamma * lambda * later_advantage;
    later_value = values[t];
    result.advantages[t] = later_advantage;
    result.returns[t] = later_advantage + values[t];
  }
  return result;
}

ValueLoss ClippedValueLoss(double value, double old_value, double target, double clip) {
  const double distance = value - target;
  ValueLoss result{0.5 * distance * distance, distance, false};
  if (clip <= 0) return result;
  const double held = std::clamp(value, old_value - clip, old_value + clip);
  const double held_loss = 0.5 * (held - target) * (held - target);
  if (held_loss > result.loss) result = {held_loss, held == value ? distance : 0.0, held != value};
  return result;
}

double ExplainedVariance(std::span<const double> values, std::span<const double> targets) {
  if (targets.empty()) return 0;
  std::vector<double> residuals;
  for (size_t i = 0; i < targets.size(); ++i) residuals.push_back(targets[i] - values[i]);
  const double total = Variance({targets.begin(), targets.end()});
  return total > 0 ? 1 - Variance(residuals) / total : 0;
}

void Whiten(std::span<double> advantages) {
  if (advantages.empty()) return;
  const double mean = std::accumulate(advantages.begin(), advantages.end(), 0.0) /
                      static_cast<double>(advantages.size());
  const double deviation = std::sqrt(Variance({advantages.begin(), advantages.end()}));
  for (double& advantage : advantages) advantage = (advantage - mean) / (deviation + 1e-8);
}

void CriticGate::Restore(std::vector<double> recent, bool open) {
  recent_ = std::move(recent);
  open_ = open;
}

CriticGate::CriticGate(double threshold, int window)
    : threshold_(threshold), window_(static_cast<size_t>(std::max(window, 1))) {}

void CriticGate::Observe(double explained_variance) {
  recent_.push_back(explained_variance);
  if (recent_.size() > window_) recent_.erase(recent_.begin());
  const double mean =
      std::accumulate(recent_.begin(), recent_.end(), 0.0) / static_cast<double>(recent_.size());
  open_ = open_ || (recent_.size() == window_ && mean >= threshold_);
}

}  // namespace davinci::rl
