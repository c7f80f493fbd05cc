// Session: one task made ready, so that candidate after candidate can be asked about it. The oracle
// has loaded the reference, the baseline runner is bound and has been checked; what a candidate
// needs beside that is its own runner.
//
// A trial owns its session while it lasts; in between, sessions rest in a SessionPool. A
// session serves a limited number of candidates: weights are the session's secret, and a secret
// that is used for ever is none. Inputs are drawn afresh for every candidate.
//
// On a device the two processes outlive their task: contexts, libraries and first kernels cost far
// more than to forget one reference and to load another. A stripped session is these processes
// alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/base/rng.h"
#include "davinci/gpu/lease.h"
#include "davinci/judge/roles/oracle.h"
#include "davinci/judge/roles/output_arena.h"
#include "davinci/judge/roles/runner.h"
#include "davinci/judge/roles/variant_facts.h"

namespace davinci::judge {

// One role that is timed, with everything the supervisor knows about it.
struct Timed {
  std::string name;  // "candidate" or "baseline", also its arena's
  Side side = Side::kCandidate;
  std::unique_ptr<Runner> runner;
  std::vector<int64_t> outside_cpu_ns;
  int built_variant = -1;
  bool has_buffers = false;  // cuda: those that are filled between timed calls are mapped
};

struct Session {
  std::vector<gpu::DeviceLease> memory;  // released after the processes below are gone
  std::string key;   // what makes two sessions interchangeable; empty once it is stripped
  std::string host;  // what makes their processes interchangeable; empty: theirs serve one task
  TempDir work;      // scratch of oracle and baseline
  std::unique_ptr<Oracle> oracle;
  Timed baseline;
  OutputArena arena;
  std::vector<std::optional<VariantFacts>> facts;  // by variant; 0 is the task's own size
  SecretStream secret{SecretSeed()};               // seeds of weights; never published
  // Seeds of checks and of the weights they see, by name: all candidates of a session are checked
  // on the same secret inputs, whose truth is worked out once. They cannot tell each other.
  std::map<std::string, uint64_t> check_seeds;
  uint64_t CheckSeed(const std::string& name) {
    const auto [found, fresh] = check_seeds.try_emplace(name, 0);
    if (fresh) found->second = secret.Next() >> 1;
    return found->second;
  }
  uint64_t init_seed = 0;
  // Without a device: {"bytes": the task's own size, "shrunk": null or {"set", "own", "bytes"}}.
  nlohmann::json fitted = nlohmann::json::object();
  // cuda: the buffers that runners fill between timed calls, null until they are made.
  nlohmann::json buffers;
  // The most calls of a window, which the session's buffers are made for; nothing: the usual
  // number.
  std::optional<int> window_calls;
  // cuda: device time of a call of the baseline, once measured; plans the next candidate's windows.
  std::optional<double> baseline_seconds;
  bool reference_mutates = false;        // it changes its inputs
  bool reference_hides_changes = false;  // … and does not return all that it changed
  bool ready = false;                    // the reference is loaded and the baseline is bound
  bool baseline_checked = false;         // it answered one correctness call
  bool baseline_outside_tolerance = false;
  bool spoilt = false;  // not to be used again: changed for one candidate, or a role fell ill
  int uses = 0;
  int tasks = 0;             // that its processes have served before this one
  double resting_since = 0;  // monotonic seconds

  // For each of the two processes to let go of what it served.
  static constexpr double kLetGoSeconds = 10;
  // False once a process of it has ended.
  bool Alive();
  // Makes both processes forget the task, and gives back the device's memory. False when one could
  // not, or something of the task is left in it: then the session is of no use any more.
  bool Strip();
};

}  // namespace davinci::judge
