// The derivatives that a Learner is given: each target's loss and slope from the formulas of rl/,
// and the sums that a log line shows. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "davinci/rl/packing.h"
#include "davinci/rl/policy_loss.h"
#include "davinci/rl/value_baseline.h"

namespace davinci::trainer {

inline constexpr size_t kNumAgents = 3;  // rl::AgentKind

// One sampled token.
struct PolicyTarget {
  float advantage = 0;     // of its sample, agent weight included
  float old_log_prob = 0;  // the ratio's denominator
  float weight = 1;  // rl::TokenWeights of its sample, times an importance weight if one is used
  rl::AgentKind agent = rl::AgentKind::kPolicy;
};

// Sums over tokens; divide by `tokens`.
struct PolicySums {
  int64_t tokens = 0;
  double loss = 0;  // weighted: what is minimised
  double clipped_low = 0;
  double clipped_high = 0;
  double clipped_dual = 0;
  double log_ratio = 0;  // log p_old - log p_now: first-order estimate of KL(old | now)
  double kl = 0;         // ratio - 1 - log ratio, never negative ("k3")
  void Add(const PolicySums& other);
};

// Of one pass; call it as the pass's LossGradient. `targets` outlives it.
class PolicyObjective {
 public:
  PolicyObjective(const rl::ClipOptions& clip, std::span<const PolicyTarget> targets)
      : clip_(clip), targets_(targets) {}
  void operator()(size_t first, std::span<const float> log_probs, std::span<float> gradients);
  const std::array<PolicySums, kNumAgents>& by_agent() const { return sums_; }

 private:
  rl::ClipOptions clip_;
  std::span<const PolicyTarget> targets_;
  std::array<PolicySums, kNumAgents> sums_;
};

struct ValueTarget {
  float old_value = 0;
  float target = 0;
  float weight = 1;
};

class ValueObjective {
 public:
  ValueObjective(double clip, std::span<const ValueTarget> targets)
      : clip_(clip), targets_(targets) {}
  void operator()(size_t first, std::span<const float> values, std::span<float> gradients);
  double loss() const { return loss_; }
  int64_t num_clipped() const { return num_clipped_; }

 private:
  double clip_;
  std::span<const ValueTarget> targets_;
  double loss_ = 0;
  int64_t num_clipped_ = 0;
};

}  // namespace davinci::trainer
