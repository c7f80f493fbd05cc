// The best kernels of a task. Pure.
#pragma once

#include <vector>

#include "davinci/data/rollout.h"
#include "davinci/rollout/step.h"

namespace davinci::rollout {

// Every distinct correct kernel of the trajectories once, as the first turn that made it; best
// first.
std::vector<Kernel> CollectKernels(const std::vector<Trajectory>& trajectories);

// Best first: confirmed kernels before others and by the lower end of their speedup; others by
// their median, because a screening's interval is often too wide to order anything. Ties: by turn.
void RankKernels(std::vector<Kernel>* kernels);

}  // namespace davinci::rollout
