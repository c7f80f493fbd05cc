// TimingCores: cores of the host for what is timed on a device.
//
// A window of calls is as long as its host is slow, and its clock starts when the oracle says so.
// On a machine full of compilers and of other candidates a runner shares its core, or the other
// hardware thread of it, with them: the same eight calls are queued in 0.8 or in 1.4 ms, and an
// oracle that waits 3 ms for a core says so too late. So each device has cores of its own, the last
// ones of the machine: one with all its hardware threads for the runners, of which one runs at a
// time, and two hardware threads for the oracle and the supervisor. Everything else that this
// process starts keeps off the cores of all devices; other programs know nothing of them.
#pragma once

#include <sched.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "davinci/worker/process.h"

namespace davinci::judge {

// Hardware threads, by number.
struct TimingPlace {
  std::vector<int> runner;  // of one core; the first is the main thread's, the others stay empty
  int oracle = 0;
  int supervisor = 0;
};

struct TimingPlan {
  std::vector<TimingPlace> places;  // by device of the machine
  std::vector<int> others;          // for everything else
};

// Of a machine with these cores, each a list of hardware threads. None where more than a third of
// all threads would be taken.
std::optional<TimingPlan> PlanTimingCores(std::span<const std::vector<int>> cores, int num_devices);

// The cores that the calling thread may use, as /sys tells which threads share one. A virtual
// machine that tells of none may well have them: there two neighbours are taken for one core.
std::vector<std::vector<int>> HostCores();
std::vector<std::vector<int>> PairNeighbours(std::vector<std::vector<int>> cores);

class TimingCores {
 public:
  // `device`: the place of the device among the machine's. Of the cores that this process could use
  // when the first of these was made.
  TimingCores(int device, int num_devices);
  // Of a plan that has the device.
  TimingCores(int device, TimingPlan plan) : device_(device), plan_(std::move(plan)) {}

  // Whether there is a place for the device.
  bool exist() const { return plan_.has_value(); }
  const TimingPlace& place() const { return plan_.value().places[static_cast<size_t>(device_)]; }

  // From now on this process, what it has started and what it will start use other cores. The first
  // call in a process counts.
  void KeepOff() const;

  // While it lives, the runners, the oracle's main thread and the calling thread are in their
  // places; where there are none, nothing happens.
  class Taken {
   public:
    Taken(const TimingCores& cores, std::span<worker::Process* const> runners,
          worker::Process* oracle);
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;
    ~Taken();

   private:
    const TimingCores& cores_;
    std::vector<worker::Process*> roles_;
    cpu_set_t before_{};  // of the calling thread
  };

 private:
  int device_;
  std::optional<TimingPlan> plan_;
};

}  // namespace davinci::judge
