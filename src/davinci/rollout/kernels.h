// The best kernels of a task. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"
#include "davinci/data/rollout.h"

namespace davinci::rollout {

// A kernel that was found correct.
struct Kernel {
  TurnId turn;            // the first that made it
  std::string code_hash;  // its source lies in the run's content store
  Language language = Language::kAuto;
  std::vector<std::string> skills;
  Evaluation screening;
  std::optional<Evaluation> confirmed;  // under the full protocol

  // Lower end of the speedup that counts: the confirmed one, else the screening's; 0 without one.
  double SpeedupLow() const;
  double SpeedupMedian() const;
};

// Every distinct correct kernel of the trajectories once, as the first turn that made it; best
// first.
std::vector<Kernel> CollectKernels(const std::vector<Trajectory>& trajectories);

// Best first: confirmed kernels before others and by the lower end of their speedup; others by
// their median, because a screening's interval is often too wide to order anything. Ties: by turn.
void RankKernels(std::vector<Kernel>* kernels);

}  // namespace davinci::rollout
