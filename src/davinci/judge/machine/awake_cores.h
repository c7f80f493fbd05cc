// AwakeCores: keeps the cores of a few processes from falling asleep.
//
// A core of a virtual machine that has nothing to do is given back to its host, and to wake a
// thread there takes 0.1 to 0.2 ms: in the middle of a timed call, now and then. While an
// AwakeCores lives, a thread of the lowest class (SCHED_IDLE) spins on each of some cores; a thread
// that wakes there displaces it at once.
#pragma once

#include <span>
#include <thread>
#include <vector>

#include "davinci/worker/process.h"

namespace davinci::judge {

// Where the main threads of the processes ran last: each core once, at most half of those that the
// calling thread may use. The cores of their other threads are left alone: there are dozens, most
// asleep, and compilers need the cores.
std::vector<int> CoresOf(std::span<worker::Process* const> processes);

class AwakeCores {
 public:
  // None where the system refuses.
  explicit AwakeCores(std::span<const int> cores);
  int num_cores() const { return static_cast<int>(spinners_.size()); }

 private:
  std::vector<std::jthread> spinners_;
};

}  // namespace davinci::judge
