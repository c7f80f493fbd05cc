// Which kernels of a right delta reply make it slow: it is judged without one of them at a time,
// and PyTorch computes that one's steps (agent/sound_kernels.h), so that a product that PyTorch
// does faster takes nothing from the kernels around it. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/agent/sound_kernels.h"
#include "davinci/data/evaluation.h"

namespace davinci::rollout {

// Right, timed, and not significantly faster than the baseline.
bool IsSlow(const Evaluation& evaluation);

class SlowKernels {
 public:
  // `kernels`: of a candidate whose verdict is `whole`. Those that take most of the device's time,
  // by its profile, are tried first.
  SlowKernels(const std::vector<std::string>& kernels, const Evaluation& whole);

  // The kernels to judge next, without the others; nothing: each was tried, or one would be left.
  std::optional<std::set<std::string>> Next() const;
  // The verdict about these. Returns whether it is the best so far, and the others stay away.
  bool Learn(const Evaluation& verdict);

  // Returns those of the kernels that are not in `kept`, and why.
  std::vector<agent::LeftOut> Others(const std::set<std::string>& kept) const;

 private:
  const std::vector<std::string> kernels_;
  std::set<std::string> kept_;
  double best_ = 0;                 // its speedup that is sure
  std::vector<std::string> order_;  // the last is tried next
};

}  // namespace davinci::rollout
