// Runner: the supervisor's hold on one candidate (or baseline) process. The process is hostile by
// assumption.
//
// Requests before the first call are ordinary: the process runs freely while it imports and
// constructs. From StartCalls() on it is frozen except inside Call(): nothing it does can lie
// outside the clock.
//
// Every problem is a Failure whose outcome is derived from what the kernel reports (death, signal,
// memory, deadline); what the process says about itself only refines it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "davinci/judge/roles/failure.h"
#include "davinci/worker/fork_server.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

// Within which a process that was forked is ready.
inline constexpr double kReadyTimeoutSeconds = 60;

struct Answer {
  nlohmann::json ok;
  std::vector<UniqueFd> fds;
  std::optional<Failure> failure;
  int64_t cpu_ns = 0;       // that a frozen process used for it
  int64_t main_cpu_ns = 0;  // … its main thread
  int64_t wall_ns = 0;      // from BeginFrozen() to the answer
  int64_t stopped_ns = 0;   // … to where every thread had stopped
  int64_t others_ns = 0;    // … the part of it for which others had the core it waited for
};

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

// What a process spent on being armed: until it answered and until it had stopped, both at most the
// CPU time of all its threads, and the CPU time of its main thread.
struct Arming {
  int64_t answered_ns = 0;
  int64_t stopped_ns = 0;
  int64_t main_cpu_ns = 0;
  int64_t wall_ns = 0;  // until every thread stood, less the wait for cores that others had
};

// What one call of a window returned.
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

// What a candidate may have compiled in all its life. While a compiler works the clock of a call or
// an import stands, so without these a stream of requests would hold it for ever. Waiting for other
// people's compilations and what comes out of the cache costs nothing of `seconds`.
struct CompileLimits {
  double seconds = 120;
  int requests = 256;
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

class Runner {
 public:
  Runner(std::shared_ptr<worker::Process> process, worker::BuildHandler build);
  // Before the candidate is loaded; the defaults hold otherwise.
  void set_compile_limits(const CompileLimits& limits) { compile_limits_ = limits; }

  // Waits until the child is up; a Failure here is ours.
  std::optional<Failure> AwaitReady(double timeout_seconds);
  // The most that is waited for an answer whose deadline is `timeout_seconds`: deadlines are put
  // off by the time without a core.
  static double LongestWait(double timeout_seconds);
  const nlohmann::json& sandbox_report() const { return sandbox_report_; }

  // `stage` is the outcome when the process dies: kLoadError while loading, kRuntimeError while
  // running.
  Answer Ask(const nlohmann::json& message, double timeout_seconds, Outcome stage,
             std::span<const int> fds = {});
  void Post(const nlohmann::json& message, std::span<const int> fds = {});
  Answer Await(double timeout_seconds, Outcome stage);

  // Freezes the process for the first time.
  std::optional<Failure> StartCalls();
  // One forward, after {"op":"arm", …} prepared it off the clock, before its inputs existed. The
  // process is frozen before and after.
  CallResult Call(const CallOptions& options);
  // An ordinary request between calls: thaws, asks, freezes again.
  // BeginFrozen() and FinishFrozen() are its halves, for overlapping two runners.
  void BeginFrozen(const nlohmann::json& message, std::span<const int> fds = {});
  Answer FinishFrozen(double timeout_seconds);
  Answer AskFrozen(const nlohmann::json& message, double timeout_seconds,
                   std::span<const int> fds = {});
  // Between two modules: the process forgets the last one and runs freely again. False when
  // something of it is left, or the process did not answer; then it must not be used again.
  bool Forget(double timeout_seconds);
  // Thaws for good; call before asking for evidence after the last timed call.
  void EndCalls();
  bool frozen() const { return frozen_; }
  // An {"op":"arm"} was answered and no Call() followed: the process reads nothing but GO.
  bool armed() const { return armed_; }
  // What was compiled for it, {"path", "stage", "key"} each (build/request.h), in order.
  const std::vector<nlohmann::json>& built() const { return built_; }

  worker::Process& process() { return *process_; }

 private:
  // What a deadline is put off by: the time for which the process, since `before`, had no core.
  double WithoutCoreSeconds(const worker::CoreTimes& before, double timeout_seconds) const;
  Failure Classify(const Status& status, Outcome stage, double timeout_seconds);
  Failure FromError(const nlohmann::json& error, Outcome stage) const;
  nlohmann::json Build(const nlohmann::json& request);
  void Send(std::string_view frame, std::span<const int> fds);

  std::shared_ptr<worker::Process> process_;
  worker::BuildHandler build_;
  CompileLimits compile_limits_;
  double compile_seconds_ = 0;  // of compilers at work
  int num_builds_ = 0;
  bool last_build_timed_out_ = false;
  std::vector<nlohmann::json> built_;
  std::string machine_lacks_;  // why the last build could not be tried; empty where it was
  nlohmann::json sandbox_report_;
  std::optional<Status> post_error_;
  bool ready_ = false;
  bool frozen_ = false;
  bool armed_ = false;
  std::string last_structure_;  // what a short DONE refers to
  std::vector<OutputTensor> last_outputs_;
  std::map<uint64_t, nlohmann::json> exports_;  // CUDA: data pointer -> how the oracle opens it
  int64_t cpu_when_frozen_ns_ = 0;
  int64_t asked_ns_ = 0;
  worker::CoreTimes cores_when_asked_;
  int64_t own_wait_when_asked_ns_ = 0;
};

}  // namespace davinci::judge
