// Requests of the supervisor to a runner, a struct each. ToJson() writes the message that the
// process receives; python/davinci_worker/runner/messages.py declares how it is read, and
// tests/golden/requests/runner holds a file of each kind that tests of both languages read.
//
// Members of type json pass on what the oracle described: tensors, weights, memory of a device.
// A flag that is false and an optional member without a value are not sent where that is said.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "davinci/config/task_config.h"
#include "davinci/judge/roles/request_op.h"
#include "davinci/task/local_imports.h"

namespace davinci::judge::to_runner {

// --- loading ---

// Without a device: whose instructions a candidate compiles to, and how long one interprets it.
struct CompileOnlyOptions {
  int arch = 0;
  double seconds = 0;
};
struct LoadCandidate {
  static constexpr char kOp[] = "load";
  std::string path;
  std::string entry;
  std::string function;
  task::LocalImports imports;
  std::optional<CompileOnlyOptions> compile_only = std::nullopt;  // null without a value
  bool shared = false;  // the process may serve another candidate later; sent where true
};
// As the baseline, in the role of a candidate.
struct LoadReference {
  static constexpr char kOp[] = "load";
  std::string path;
  std::string source;
  std::string entry;
  std::string function;
  std::string op_path;
  nlohmann::json globals;
  task::LocalImports imports;
};
struct Construct {
  static constexpr char kOp[] = "construct";
  int variant = 0;
  std::string init;  // pickled constructor arguments, opaque
  uint64_t seed = 0;
  std::string mode;  // "", "train", "eval"
  // Members below are not sent without a value.
  std::optional<uint64_t> padding = std::nullopt;  // bytes below all that is allocated from here on
  std::optional<config::Precision> cast = std::nullopt;
  std::optional<std::string> compile = std::nullopt;  // mode of torch.compile
};
// `exported`: the oracle's reply to `state` or `reweigh`, whose descriptors go along.
struct TakeState {
  static constexpr char kOp[] = "state";
  int variant = 0;
  nlohmann::json exported;
  // Fewer tensors are wanted now; not sent without a value.
  std::optional<bool> again = std::nullopt;
};
// The arena of the inputs; its descriptors go along.
struct Bind {
  static constexpr char kOp[] = "bind";
  int variant = 0;
  nlohmann::json inputs;
  std::vector<std::optional<int64_t>> contiguous =
      {};  // by output: elements of one that must be so
  std::vector<std::string> kept;
  int64_t bytes = 0;
  // On cuda it opens the arena; not sent without a value.
  std::optional<nlohmann::json> handle = std::nullopt;
};
// `made`: the oracle's reply to `buffers`.
struct MapBuffers {
  static constexpr char kOp[] = "buffers";
  nlohmann::json made;
};

// --- calls ---

struct Arm {
  static constexpr char kOp[] = "arm";
  std::string args;
  int64_t shift = 0;
  bool gate = false;    // it gives the device up while it compiles; sent where true
  bool seeded = false;  // a seed comes with GO; sent where true
};
struct ArmWindow {
  static constexpr char kOp[] = "arm";
  int calls = 0;
  std::vector<int64_t> shifts = {};
  std::vector<std::string> args = {};
  bool flush = false;
  bool idle = false;
  bool seeded = false;
  bool empty = false;
};

// --- what is asked of it besides ---

struct Profile {
  static constexpr char kOp[] = "profile";
  std::string args;
  int64_t shift = 0;
  double warmup_seconds = 0;
};
struct Hot {
  static constexpr char kOp[] = "hot";
  std::string args;
  int64_t shift = 0;
  double seconds = 0;
};
// Threads that only sleep.
struct Sleepers {
  static constexpr char kOp[] = "sleepers";
  int count = 0;
};
struct CallExport {
  static constexpr char kOp[] = "export";
  std::string path;
  std::string task;
  std::string source;
  nlohmann::json globals;
  task::LocalImports imports;
  std::string package;
  std::vector<nlohmann::json> variants;
  uint64_t seed = 0;
  std::optional<config::Precision> cast = std::nullopt;  // not sent without a value
};
struct Warm {
  static constexpr char kOp[] = "warm";
};
struct WarmProfiler {
  static constexpr char kOp[] = "warm_profiler";
};
struct Lock {
  static constexpr char kOp[] = "lock";
};
struct CompileOnly {
  static constexpr char kOp[] = "compile_only";
};
// Between two candidates or references.
struct Forget {
  static constexpr char kOp[] = "forget";
};

using Request = std::variant<LoadCandidate, LoadReference, Construct, TakeState, Bind, MapBuffers,
                             Arm, ArmWindow, Profile, Hot, Sleepers, CallExport, Warm, WarmProfiler,
                             Lock, CompileOnly, Forget>;

nlohmann::json ToJson(const Request& request);

}  // namespace davinci::judge::to_runner
