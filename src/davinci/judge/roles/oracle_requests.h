// Requests of the supervisor to an oracle, a struct each. ToJson() writes the message that the
// process receives; python/davinci_worker/oracle/messages.py declares how it is read, and
// tests/golden/requests/oracle holds a file of each kind that tests of both languages read.
//
// Members of type json pass on what another process described: tensors, and sizes of a sidecar.
// A flag that is false and an optional member without a value are not sent where that is said.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "davinci/config/task_config.h"
#include "davinci/judge/roles/request_op.h"
#include "davinci/task/local_imports.h"

namespace davinci::judge::to_oracle {

// The place of a call's inputs: an arena, and bytes from its beginning.
struct Place {
  std::string name;
  int64_t shift = 0;
};
// The inputs of the calls that are compared.
struct Left {
  Place outputs;
  std::optional<Place> baseline = std::nullopt;  // not sent without a value
};

// --- the reference ---

// Sizes of a task that is judged without a device.
struct ShrinkTo {
  int64_t memory = 0;  // bytes of each process
  bool own = false;    // the task's own size is tried first
  int64_t most = 0;    // bytes of inputs, weights and outputs that are drawn at all
  int64_t to = 0;      // bytes that a larger task is shrunk to
};
struct Load {
  static constexpr char kOp[] = "load";
  std::string path;
  std::string source;
  std::string entry;
  std::string function;
  std::string op_path;  // not sent where empty
  nlohmann::json globals;
  std::vector<nlohmann::json> variants;
  uint64_t init_seed = 0;
  uint64_t state_seed = 0;
  bool randomise = false;
  bool alone = false;  // no other process computes on the device
  double call_seconds = 0;
  task::LocalImports imports;
  config::Precision precision = config::Precision::kFp32;
  bool inplace = false;
  config::ModuleMode mode = config::ModuleMode::kAsConstructed;  // sent where it is another
  bool domain_on_host = false;                                   // sent where true
  // Members below are not sent without a value.
  std::optional<double> tolerance_multiple = std::nullopt;
  std::optional<double> published_tolerance = std::nullopt;
  std::optional<ShrinkTo> compile_only = std::nullopt;
  std::optional<int> window_calls = std::nullopt;  // of a window at most, where fewer than usual
  nlohmann::json inputs = nullptr;         // of a sidecar, TaskConfig::inputs; empty: no value
  nlohmann::json specification = nullptr;  // Job::specification; null: no value
};
struct Describe {
  static constexpr char kOp[] = "describe";
  int variant = 0;
  uint64_t seed = 0;
};
struct Graph {
  static constexpr char kOp[] = "graph";
  int variant = 0;
  uint64_t seed = 0;
};
struct SymbolicGraph {
  static constexpr char kOp[] = "symbolic_graph";
  uint64_t seed = 0;
};
struct Mutates {
  static constexpr char kOp[] = "mutates";
  uint64_t seed = 0;
};
struct Admit {
  static constexpr char kOp[] = "admit";
  uint64_t seed = 0;
  std::optional<double> budget_seconds = std::nullopt;  // not sent without a value
};

// --- its weights ---

struct State {
  static constexpr char kOp[] = "state";
  int variant = 0;
};
struct Unread {
  static constexpr char kOp[] = "unread";
  int variant = 0;
  uint64_t seed = 0;
};
struct Reweigh {
  static constexpr char kOp[] = "reweigh";
  uint64_t seed = 0;
  bool buffers = false;
};
struct Unrandomise {
  static constexpr char kOp[] = "unrandomise";
};

// --- inputs ---

struct MakeArena {
  static constexpr char kOp[] = "arena";
  std::string name;
  int64_t slot_bytes = 0;
  int slots = 0;
};
struct Prepare {
  static constexpr char kOp[] = "prepare";
  uint64_t seed = 0;
  std::string distribution;
  int variant = 0;
  bool truth = false;
  bool keep = false;  // other candidates of the session see the same; sent where true
};
struct Publish {
  static constexpr char kOp[] = "publish";
  std::string name;
  int64_t shift = 0;
  int64_t slot_bytes = 0;
};
struct Nonfinite {
  static constexpr char kOp[] = "nonfinite";
  uint64_t seed = 0;
};

// --- what a call has left behind ---

// cpu: the arena of outputs, whose descriptor goes along.
struct MapOutputs {
  static constexpr char kOp[] = "outputs";
  int64_t bytes = 0;
};
// Outputs that are overwritten before the next inputs are drawn, at places that follow from `seed`.
struct Overwrite {
  std::vector<size_t> which;
  uint64_t seed = 0;
};
struct Settle {
  static constexpr char kOp[] = "settle";
  nlohmann::json outputs;
  std::optional<Overwrite> overwrite = std::nullopt;  // not sent without a value
};
struct Verify {
  static constexpr char kOp[] = "verify";
  nlohmann::json outputs;
  std::optional<nlohmann::json> baseline = std::nullopt;  // not sent without a value
  Left left;
  bool truth = false;
  bool settled = false;  // `settle` has sampled these outputs
  // Inputs that must not have changed; not sent without a value.
  std::optional<Place> intact = std::nullopt;
};
struct Compare {
  static constexpr char kOp[] = "compare";
  nlohmann::json outputs;
  Left left;
  bool at_a_glance = false;  // sent where true
};
struct PublishedCompare {
  static constexpr char kOp[] = "published_compare";
  nlohmann::json outputs;
  double tolerance = 0;
};
struct NonfiniteCompare {
  static constexpr char kOp[] = "nonfinite_compare";
  nlohmann::json outputs;
};

// --- windows of several calls ---

struct MakeBuffers {
  static constexpr char kOp[] = "buffers";
  int count = 0;
};
struct DrawAhead {
  static constexpr char kOp[] = "draw_ahead";
  std::vector<uint64_t> seeds;
};
struct Draw {
  static constexpr char kOp[] = "draw";
  std::vector<uint64_t> seeds;
};
struct PublishSeveral {
  static constexpr char kOp[] = "publish_several";
  std::string name;
  std::vector<int64_t> shifts;
  bool cool = false;
};
struct Hold {
  static constexpr char kOp[] = "hold";
};
struct Release {
  static constexpr char kOp[] = "release";
  double seconds = 0;
};
struct Filled {
  static constexpr char kOp[] = "filled";
  uint64_t seed = 0;
  int count = 0;
  uint64_t secret = 0;
};
struct VerifySeveral {
  static constexpr char kOp[] = "verify_several";
  std::vector<Verify> calls;
};

// --- device and process ---

struct Profile {
  static constexpr char kOp[] = "profile";
  uint64_t seed = 0;
  double warmup_seconds = 0;
};
struct Peaks {
  static constexpr char kOp[] = "peaks";
};
struct Calibrate {
  static constexpr char kOp[] = "calibrate";
};
struct Turn {
  static constexpr char kOp[] = "turn";
};
// Between two candidates.
struct Rest {
  static constexpr char kOp[] = "rest";
};
// Between two tasks.
struct Forget {
  static constexpr char kOp[] = "forget";
};

using Request =
    std::variant<Load, Describe, Graph, SymbolicGraph, Mutates, Admit, State, Unread, Reweigh,
                 Unrandomise, MakeArena, Prepare, Publish, Nonfinite, MapOutputs, Settle, Verify,
                 Compare, PublishedCompare, NonfiniteCompare, MakeBuffers, DrawAhead, Draw,
                 PublishSeveral, Hold, Release, Filled, VerifySeveral, Profile, Peaks, Calibrate,
                 Turn, Rest, Forget>;

nlohmann::json ToJson(const Request& request);
// Several requests in one message, "several".
nlohmann::json ToJson(std::span<const Request> requests);

}  // namespace davinci::judge::to_oracle
