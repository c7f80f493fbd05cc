#include "davinci/judge/machine/awake_cores.h"

#include <sched.h>

#include <set>
#include <stop_token>

namespace davinci::judge {
namespace {

void SpinOn(const std::stop_token& stop, int core) {
  const sched_param lowest{};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  if (sched_setscheduler(0, SCHED_IDLE, &lowest) != 0 ||
      sched_setaffinity(0, sizeof one, &one) != 0)
    return;
  while (!stop.stop_requested()) {
    for (int i = 0; i < 100; ++i) __builtin_ia32_pause();
    sched_yield();  // what has got the core in its turn would else keep it for milliseconds
  }
}

}  // namespace

std::vector<int> CoresOf(std::span<worker::Process* const> processes) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  const auto most = static_cast<size_t>(CPU_COUNT(&allowed)) / 2;
  std::set<int> cores;
  for (const worker::Process* process : processes)
    if (const int core = process->Core();
        core >= 0 && CPU_ISSET(core, &allowed) && cores.size() < most)
      cores.insert(core);
  return {cores.begin(), cores.end()};
}

AwakeCores::AwakeCores(std::span<const int> cores) {
  for (const int core : cores)
    spinners_.emplace_back([core](const std::stop_token& stop) { SpinOn(stop, core); });
}

}  // namespace davinci::judge
