// Evidence: the measurements behind a verdict, as a trial collects them. ToJson() writes
// `evidence` of the Evaluation; docs/evaluation.schema.json describes it, and says what each status
// must come with.
//
// Members that are absent were not reached, not asked, or do not exist on the target. Members of
// type json hold what another process answered, as it answered: the oracle where nothing else is
// said, the candidate's own process where "its word" is said. No decision reads the latter.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/data/rule.h"

namespace davinci {

// One comparison of the candidate's answer with truth.
struct CheckEvidence {
  std::string distribution;
  int variant = 0;  // 0: the task's own size
  bool passed = false;
  double error_over_tolerance = 0;  // the largest
};

// A comparison that failed.
struct MismatchEvidence {
  nlohmann::json comparison;
  std::string distribution;
  int variant = 0;
  int reweighs = 0;  // times that weights had been written to
};

// Why an evaluation ended before its time. Texts are empty where there are none.
struct FailureEvidence {
  std::optional<Rule> rule;
  std::string traceback;    // its word
  std::string death;        // how the process ended
  std::string output_tail;  // what it wrote last
  std::optional<MismatchEvidence> mismatch;
};

// Two sides, candidate first.
using BothMs = std::array<double, 2>;

// The clocks of timed calls, medians in milliseconds.
struct ClockEvidence {
  double outer_ms = 0;
  double runner_ms = 0;  // its word; it can only make the time longer
  double outer_without_waiting_ms = 0;
  double cpu_ms = 0;
  double cpu_while_stopped_ms = 0;
  double protocol_overhead_ms = 0;
  double protocol_noise_ms = 0;
  double arm_excess_ms = 0;
  double arm_charged_ms = 0;
  std::optional<BothMs> settle_ms;   // cuda
  std::optional<BothMs> publish_ms;  // cuda, by turn
  std::string agreement;             // empty: not compared
};

// Windows on a device, milliseconds of a call (judge-internals.md, "Time of record on cuda").
struct WindowEvidence {
  // Medians of candidate and baseline; nothing where none were measured.
  using Medians = std::array<std::optional<double>, 2>;
  int calls = 0;
  bool one_memory = false;
  double empty_ms = 0;
  double turn_ms = 0;
  double flush_ms = 0;
  double first_call_ms = 0;
  double between_events_ms = 0;
  Medians full_queue_ms;
  Medians alone_ms;
  BothMs after_done_ms = {};  // in a full queue, from an idle one
  double charged_ms = 0;
  BothMs host_ms = {};
  size_t not_held = 0;
  bool own_cores = false;
  int pairs = 0;
};

struct RooflineEvidence {
  double attainable_ms = 0;
  bool memory_bound = false;
  double bytes = 0;
  double flops = 0;
  double impossible_ms = 0;  // 0: bounds nothing
  nlohmann::json peaks;
};

// The published rule next to ours.
struct PublishedRuleEvidence {
  bool correct = true;
  double tolerance = 0;
  int trials = 0;
  int64_t wrong_elements = 0;
  nlohmann::json max_abs_diff = 0.0;  // a number, or the name of one that JSON does not have
  std::string compared;
  std::string why;  // there is no such rule for this precision; then nothing above holds
};

struct UndisturbedEvidence {
  size_t baseline = 0;
  size_t candidate = 0;
  size_t of = 0;
};

// The cost of waking and stopping threads, as many as the candidate has more than the baseline.
struct WakingEvidence {
  int threads = 0;
  double cpu_ms = 0;
  double wall_ms = 0;
};

struct DeviceStateEvidence {
  nlohmann::json before;
  nlohmann::json after;  // null until timing ended
};

struct DeviceMemoryEvidence {
  std::optional<int64_t> estimated_bytes;
  nlohmann::json oracle_peak_bytes;  // null: not said
};

// A candidate for cuda without a GPU.
struct CompileOnlyEvidence {
  struct Compared {
    int variant = 0;
    std::string distribution;
  };
  struct NotCompared {
    int variant = 0;
    std::string because;
  };
  struct Blocked {
    std::string reason;
    std::string detail;
  };
  std::string arch;
  std::string sizes;
  nlohmann::json report;  // its word; null where it is too large
  nlohmann::json shrunk;  // null at the task's own size
  nlohmann::json bytes;
  std::optional<std::vector<Compared>> compared;
  std::optional<NotCompared> not_compared;
  std::optional<Blocked> blocked;  // why correctness is not decided
  std::vector<std::string> ran;
  std::vector<std::string> not_checked;
};

struct Evidence {
  FailureEvidence failure;
  std::optional<std::vector<CheckEvidence>> checks;
  std::optional<ClockEvidence> clocks;
  std::optional<WindowEvidence> windows;
  std::optional<RooflineEvidence> roofline;
  std::optional<PublishedRuleEvidence> kernelbench;
  std::optional<UndisturbedEvidence> undisturbed_calls;
  std::optional<WakingEvidence> waking;
  std::optional<DeviceStateEvidence> device_state;
  std::optional<DeviceMemoryEvidence> device_memory;
  std::optional<CompileOnlyEvidence> compile_only;
  std::optional<size_t> stress_while_timing;
  std::optional<std::string> stopped_because;
  std::optional<std::string> timed_again;
  std::vector<double> launches;  // speedup of each; empty: one
  std::optional<std::vector<std::string>> candidate_libraries;
  std::optional<int> threads;
  std::optional<int64_t> output_bytes;  // that the candidate's process wrote …
  std::string output_tail;              // … and the end of it
  nlohmann::json sandbox;
  nlohmann::json admission;
  nlohmann::json nonfinite;
  nlohmann::json profile;  // its word
  nlohmann::json work;
  nlohmann::json verified;
};

nlohmann::json ToJson(const Evidence& evidence);
nlohmann::json ToJson(const CompileOnlyEvidence& evidence);

}  // namespace davinci
