#include "davinci/rollout/kernels.h"

#include <algorithm>
#include <set>

#include "davinci/data/turn_facts.h"

namespace davinci::rollout {

namespace {

const Evaluation& Counting(const Kernel& kernel) {
  return kernel.confirmed ? *kernel.confirmed : kernel.screening;
}

bool Usable(const Kernel& kernel) { return IsAccepted(Counting(kernel)); }

}  // namespace

double Kernel::SpeedupLow() const {
  const auto& speedup = Counting(*this).speedup;
  return speedup ? speedup->low : 0;
}

double Kernel::SpeedupMedian() const {
  const auto& speedup = Counting(*this).speedup;
  return speedup ? speedup->median : 0;
}

std::vector<Kernel> CollectKernels(const std::vector<Trajectory>& trajectories) {
  std::vector<Kernel> kernels;
  std::set<std::string> seen;
  for (const Trajectory& trajectory : trajectories) {
    for (const Turn& turn : trajectory.turns) {
      if (!IsAccepted(turn.evaluation) || turn.code_hash.empty()) continue;
      if (!seen.insert(turn.code_hash).second) continue;
      Kernel kernel;
      kernel.turn = turn.id;
      kernel.code_hash = turn.code_hash;
      kernel.language = turn.language;
      kernel.skills = trajectory.skills;
      kernel.screening = turn.evaluation;
      kernels.push_back(std::move(kernel));
    }
  }
  RankKernels(&kernels);
  return kernels;
}

void RankKernels(std::vector<Kernel>* kernels) {
  std::stable_sort(kernels->begin(), kernels->end(), [](const Kernel& a, const Kernel& b) {
    // A finalist that failed the full protocol comes last.
    if (Usable(a) != Usable(b)) return Usable(a);
    if (a.confirmed.has_value() != b.confirmed.has_value()) return a.confirmed.has_value();
    const double worth_a = a.confirmed ? a.SpeedupLow() : a.SpeedupMedian();
    const double worth_b = b.confirmed ? b.SpeedupLow() : b.SpeedupMedian();
    if (worth_a != worth_b) return worth_a > worth_b;
    if (a.SpeedupMedian() != b.SpeedupMedian()) return a.SpeedupMedian() > b.SpeedupMedian();
    return a.turn < b.turn;
  });
}

}  // namespace davinci::rollout
