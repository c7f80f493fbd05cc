// Records of a runner's calls: what a call may do, what it returned and what it took.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/judge/roles/failure.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

// One output tensor as the runner describes it. Untrusted: pointers and sizes are claims.
struct OutputTensor {
  uint64_t address = 0;
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;
  std::string device;
  bool plain = true;
  std::optional<double> value;  // a Python number instead of a tensor
  nlohmann::json ipc;           // CUDA: how the oracle maps it
};

// Arming holds what a process spent on being armed: until it answered and until it had stopped,
// both at most the CPU time of all its threads, and the CPU time of its main thread.
struct Arming {
  int64_t answered_ns = 0;
  int64_t stopped_ns = 0;
  int64_t main_cpu_ns = 0;
  int64_t wall_ns = 0;  // until every thread stood, less the wait for cores that others had
};

// Returned holds what one call of a window returned.
struct Returned {
  std::string structure;
  std::vector<OutputTensor> outputs;
};

struct CallResult {
  std::optional<Failure> failure;
  std::string structure;  // "T", "tuple(T,T)", "dict(a:T)"
  std::vector<OutputTensor> outputs;
  int64_t wall_ns = 0;    // GO to DONE on the supervisor's clock
  int64_t freeze_ns = 0;  // DONE to every thread stopped
  int64_t settle_ns = 0;  // CUDA: until a sample of the outputs was read on the device, after DONE
  int64_t inner_ns = 0;   // what the runner claims
  int64_t cpu_ns = 0;     // CPU time between thaw and frozen
  int64_t tail_cpu_ns = 0;      // the part of it spent after DONE, before every thread had stopped
  int64_t outside_cpu_ns = 0;   // CPU time spent while it should have been frozen, before this call
  int64_t unwritten_pages = 0;  // CPU: of the outputs, that come into being when they are read
  Arming arming;                // set by the caller that armed it
  int64_t core_wait_ns =
      0;  // the part of wall_ns that runner and supervisor waited for a core, or a little more
  worker::CoreTimes cores;  // between thaw and frozen
  // The members below belong to a window of several calls (timed_windows.cc).
  std::vector<Returned> returned;   // by call; `structure` and `outputs` are the last one's
  int64_t start_ns = 0;             // when it was let go; 0: never
  int64_t held_ns = 0;              // from there until the device was let go
  int64_t window_ns = 0;            // … and from there to DONE
  std::optional<int64_t> empty_ns;  // the same without the calls, where measured
  uint64_t seed = 0;                // that came with GO
  bool compiled = false;            // a compilation happened inside: not a sample
};

inline constexpr int kMostGates = 64;

struct CallOptions {
  double timeout_seconds = 0;
  // Wait for the end without sleeping for that long, where a core is to spare.
  double spin_seconds = 0;
  // Wake the process from the core that its main thread is bound to while it is stopped
  // (davinci_worker/placement.py), so that its other threads find theirs free.
  bool bind_to_last_core = false;
  // Goes with GO to a call whose arm message said "seeded": what its random numbers follow from.
  std::optional<uint64_t> seed = std::nullopt;
  // A window of so many calls, or of none of them.
  size_t num_calls = 1;
  bool is_empty = false;
  // Called as soon as the process has been let go.
  std::function<void()> on_thawed = nullptr;
  // Called once when the call is not over after this long, and once more after each on_gate().
  double patience_seconds = 1;
  std::function<void()> on_slow = nullptr;
  // Asked from then on, several times a second: a failure stops the process and is the call's.
  std::function<std::optional<Failure>()> while_slow = nullptr;
  // Called when the runner gives the device up, because a compiler is about to work, and when it
  // asks for it again, before a kernel is launched; it is let go on when they return. Both or none;
  // from kMostGates requests on they are not called any more.
  std::function<void()> on_compile = nullptr;
  std::function<void()> on_gate = nullptr;
};

}  // namespace davinci::judge
