// Protocol: how much evidence a verdict needs. The judge never improvises; everything it may vary
// is a field here, and the name and version of the protocol are part of every Evaluation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/config/task_config.h"

namespace davinci::judge {

// One correctness call: which inputs, on which shapes.
struct CheckStep {
  std::string distribution;    // "task", "heavy_tailed", "log_uniform"
                               // (python/davinci_worker/distributions.py), "published-0" …
  bool every_variant = false;  // on each declared shape variant instead of the task's own size
};

struct Protocol {
  std::string name;
  int version = 1;  // raised when verdicts rest on other evidence than before

  // Correctness. The task's own size first, then each variant; the first failure ends the
  // evaluation.
  std::vector<CheckStep> steps;
  // KernelBench's published rule decides instead of ours (python/davinci_worker/published.py):
  // weights as initialised after seed 42, trials with seeds derived from 42, torch.allclose against
  // the reference's own output. Timing stays ours.
  bool published = false;
  // A first look for training (docs/judge.md, "Staged"): comments are left out before a candidate
  // is judged, a candidate may run in a process that has served others (shared_process.h), and
  // nothing is profiled on a device. Who pays by it confirms by another protocol what it pays most
  // for.
  bool staged = false;
  // Report the published rule's opinion, and whether NaN gets through, beside the verdict.
  bool second_opinion = true;

  // Timing. A pair is one baseline and one candidate call on the same fresh inputs.
  int min_pairs = 10;
  int max_pairs = 100;
  double timing_budget_seconds =
      2.5;                          // wall clock of the whole phase, drawing and checking included
  double target_half_width = 0.02;  // stop when the 95 % interval is this tight, relative
  double target_of_effect = 0.03;   // … or this share of |ln speedup|: 3.8 % for 3.5 times
  double sampling_share_of_width = 0.6;  // … or the processes differ by far more than the samples
  double full_check_share = 0.1;  // secret share of timed calls also compared with float64 truth
  // Secret share of pairs that are not timed but checked on stress inputs: who knows that timing
  // has begun does not know that the rest is ordinary. One at least, where it is above 0.
  double stress_share = 0.05;
  // CPU: pairs of processes of baseline and candidate that are timed by turns, what a process is
  // born with being different in each (launches.cc).
  int launches = 1;
  double give_up_below = 0.0;  // screening: stop early when the speedup is surely below this

  // CUDA: `speedup` and the times are of latency (as published), else of the device in a full
  // queue.
  bool latency_is_record = false;
  // CUDA: calls in a window at most; pairs of calls alone, and from an idle queue, after so many.
  int window_calls = 12;
  int alone_every = 1;
  int latency_every = 1;
  // CUDA: pairs in a full queue for each that comes with empty windows of its processes, what is
  // taken off being the median of all of them; half as many of calls alone and from an idle queue.
  int pairs_per_empty = 2;
  // CUDA: hardware queues of the timed roles, 0 = the driver's default of 8. Making a context costs
  // the driver about 15 ms for each, one context after the other; streams beyond them share a
  // queue. Those for copies cost as much: two, one in each direction, or one where there is a
  // limit.
  int device_connections = 0;
  // CUDA: also profile the baseline, once per task. Its session ends with that
  // (collect_evidence.cc).
  bool profile_baseline = true;
  // CUDA: the device is kept busy this long before kernels are timed, for its clocks to rise.
  double profile_warmup_seconds = 0.05;

  // Limits.
  double load_timeout_seconds = 30;  // importing and constructing, compilation not counted
  // Everything compiled for one candidate, and each run of a compiler. The slowest honest thing
  // known, nvcc with all of torch's headers, takes a minute.
  double compile_timeout_seconds = 120;
  // The first call of each shape of a baseline that torch.compile makes.
  double baseline_compile_timeout_seconds = 300;
  double call_timeout_seconds = 20;  // a single forward, at least
  double call_timeout_factor = 50;   // … or this many baseline calls, whichever is longer
  double interpreter_budget_seconds =
      8;  // of one forward without a device; beyond it the shape is left out
  int64_t memory_bytes = int64_t{16} << 30;  // of candidate and baseline each
};

// What a process may use of a machine with `machine_bytes` (0: not known): the limit, and on small
// machines so much that who exceeds it is stopped before others lack memory.
int64_t MemoryWithin(int64_t limit_bytes, int64_t machine_bytes);

// "davinci" (full), "screening" (training: same guarantees, fewer samples), "staged" (training with
// confirmation: the fewest samples, shared processes), "kernelbench" (published seeds and
// tolerances).
inline constexpr uint64_t kPublishedSeed = 42;
// atol = rtol of the published rule: 1e-4 for fp32 (and tf32), 1e-2 for fp16 and bf16; nothing for
// fp64, which it does not know.
std::optional<double> PublishedTolerance(config::Precision precision);

Result<Protocol> ProtocolByName(std::string_view name);
std::vector<std::string> ProtocolNames();

}  // namespace davinci::judge
