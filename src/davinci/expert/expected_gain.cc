#include "davinci/expert/expected_gain.h"

#include <algorithm>

namespace davinci::expert {
namespace {

struct Machine {
  double bytes_per_us;  // of memory
  double flops_per_us;  // of products in fp32
  double launch_us;     // one call of PyTorch's on the host
  double own_us;        // one call of a kernel of ours
  double kernel_us;     // the shortest kernel on the device; 0: the host computes
};

// A large GPU, and a few cores of a server.
constexpr Machine kGpu = {3e6, 5e7, 8, 10, 2};
constexpr Machine kCpu = {2e4, 1.5e5, 4, 3, 0};

double DeviceTime(const teacher::Work& work, const Machine& machine) {
  const int launches = work.own_launches + work.torch_launches;
  return std::max(machine.kernel_us * launches, work.bytes / machine.bytes_per_us) +
         work.flops / machine.flops_per_us;
}

}  // namespace

double EstimatedTime(const teacher::Work& work, Target target) {
  const Machine& machine = target == Target::kCuda ? kGpu : kCpu;
  const double host = machine.own_us * work.own_launches + machine.launch_us * work.torch_launches;
  // A device works while the host launches what comes next.
  return target == Target::kCuda ? std::max(DeviceTime(work, machine), host)
                                 : DeviceTime(work, machine) + host;
}

double ExpectedGain(const teacher::Candidate& candidate, Target target) {
  if (candidate.own_kernels == 0) return 1;
  // Copies into a graph, its one launch, and copies out of it.
  constexpr double kReplay_us = 30;
  const bool replayed =
      target == Target::kCuda && candidate.rules.Contains(teacher::Rule::kReplayGraph);
  const double own = replayed ? std::max(DeviceTime(candidate.work, kGpu), kReplay_us)
                              : EstimatedTime(candidate.work, target);
  return EstimatedTime(candidate.eager, target) / std::max(own, 1e-3);
}

}  // namespace davinci::expert
