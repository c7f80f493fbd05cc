// Advantages from a learnt critic (PPO as CUDA Agent has it, arXiv 2602.24286): generalised
// advantage estimation (Schulman et al. 2016) and the gate that keeps a useless critic from
// steering. Pure.
#pragma once

#include <span>
#include <vector>

namespace davinci::rl {

struct GaeResult {
  std::vector<double> advantages;
  std::vector<double> returns;  // value targets: advantage + value
};

// Over the trained tokens of one trajectory, in order; `rewards` and `values` have the same length,
// the value behind the last token is 0 (the episode ends).
//   delta_t = r_t + gamma V_{t+1} - V_t,  A_t = delta_t + gamma lambda A_{t+1}
GaeResult GeneralisedAdvantages(std::span<const double> rewards, std::span<const double> values,
                                double gamma, double lambda);

// Of one value: half the squared distance to its target; with `clip` > 0 the larger of this and of
// the same with the value held within `clip` of the one before the update (PPO). `gradient`: with
// respect to the value, 0 where the held term is in force.
struct ValueLoss {
  double loss = 0;
  double gradient = 0;
  bool clipped = false;
};
ValueLoss ClippedValueLoss(double value, double old_value, double target, double clip);

// 1 - Var(target - value) / Var(target); 0 where the targets do not vary.
double ExplainedVariance(std::span<const double> values, std::span<const double> targets);

// (A - mean) / (standard deviation + 1e-8) over all advantages of a step; one alone becomes 0.
void Whiten(std::span<double> advantages);

// Critic pretraining ends, and policy updates begin, once the explained variance of the last
// `window` steps has been at least `threshold` on average.
class CriticGate {
 public:
  CriticGate(double threshold, int window);
  void Observe(double explained_variance);
  bool open() const { return open_; }  // stays open
  // What a checkpoint holds: the window, oldest first, and whether the gate is open.
  const std::vector<double>& recent() const { return recent_; }
  void Restore(std::vector<double> recent, bool open);

 private:
  double threshold_;
  size_t window_;
  std::vector<double> recent_;
  bool open_ = false;
};

}  // namespace davinci::rl
