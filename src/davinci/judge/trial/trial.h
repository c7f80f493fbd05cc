// Trial: the record of one examination of a request, from the first fork to the verdict.
//
// Steps are free functions, in the order of kSteps (run_trial.cc). They change the trial and add to
// its report. A step returns a Status for bad input and failures of ours only; `true` means go on;
// `false` means that report.failure holds the verdict.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/base/rng.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/evidence.h"
#include "davinci/gpu/lease.h"
#include "davinci/judge/machine/device_memory.h"
#include "davinci/judge/machine/timing_cores.h"
#include "davinci/judge/request/job.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/judge/roles/judge_context.h"
#include "davinci/judge/roles/oracle_replies.h"
#include "davinci/judge/roles/prewarmed_runner.h"
#include "davinci/judge/roles/session.h"
#include "davinci/judge/trial/timed_pairs.h"
#include "davinci/stats/charges.h"
#include "davinci/task/task.h"

namespace davinci::judge {

// The stage that waits for the candidate's module and constructs it.
inline constexpr char kBuildingStage[] = "building";

struct StageClock {
  Stopwatch watch;  // since the trial began
  std::string stage;
  double stage_began = 0;
  nlohmann::json stage_seconds = nlohmann::json::object();
};

struct Candidate {
  PrewarmedRunner home;  // its scratch folder; the runner itself is timed.runner
  Timed timed;
  task::LocalImports imports;
  mutable std::optional<bool> text_may_share;  // MayShareProcess(), once it was asked
  int served = 0;                              // candidates that its process served before this one
  int64_t said_before = 0;                     // bytes that it had written by then
  std::map<int, nlohmann::json> handovers;     // by variant; see KeepHandover()
  std::optional<Answer> loaded;                // what came of loading it, once asked
  bool uses_triton = false;
  int gate_variant = -1;                // whose first call has been gated
  bool shares_outputs = false;          // in some call, although the reference does not
  std::vector<std::string> correct_on;  // distributions other than the task's
};

// Leases of the device, outside of timing.
struct DeviceShare {
  gpu::DeviceLease users;
  // Held while loading, drawing, comparing or checking there. A holder gives way to evaluations
  // that wait to be timed.
  gpu::DeviceLease share;
};

// The inputs drawn last, and those of the next pair.
struct DrawnInputs {
  std::string last_args;
  int64_t shift[2] = {0, 0};                   // in the arenas, by Side
  std::optional<from_oracle::Prepared> ahead;  // of the next pair, whose inputs are drawn already
  std::string next_distribution = "task";      // of the next pair; decided before they are drawn
  uint64_t call_seed = 0;  // of random numbers in calls with them; known after GO
};

struct WeightChanges {
  int count = 0;            // since the candidate's first call
  bool right_since = true;  // the candidate, after the last one
};

// Several processes of baseline and candidate (launches.h). The current one is session->baseline
// and `candidate`; the others are parked.
struct Launch {
  PrewarmedRunner home;  // of the candidate; removed after its process is gone
  Timed baseline;
  Timed candidate;
};
struct Launches {
  std::vector<Launch> parked = std::vector<Launch>(1);  // that of `current` is empty
  size_t current = 0;
};

// Plan of the windows of a trial on cuda (timed_windows.h).
struct WindowPlan {
  WindowKind full_queue;
  WindowKind from_idle;
  WindowKind alone;
  bool one_memory = false;         // calls of a window return the same memory: one call to a window
  std::vector<int64_t> shifts[2];  // of the calls of the last window, by Side
  std::vector<uint64_t> ahead;     // seeds of inputs that the oracle has drawn
  int num_pairs = 0;               // of record or not
  // What two events around a call say beyond what it adds to a queue.
  double between_events_seconds = 0;
};

// What calls cost that is not theirs, learnt from pairs.
struct CallCosts {
  int64_t overhead_ns = 0;
  int64_t tail_cpu_ns = 0;    // CPU time the baseline itself spends after DONE
  int64_t usual_wait_ns = 0;  // of all threads for a core, in a call that nothing held up
  bool undisturbed = true;    // the samples are of such calls only
};

// What it costs to wake and to stop as many more threads as the candidate has than the baseline;
// zeros where it has no more.
struct Waking {
  double cpu_seconds = 0;
  double main_cpu_seconds = 0;
  double wall_seconds = 0;  // until all of them stood
};
// Learnt from pairs: arming_excess.h on cpu, window_times.h on cuda.
struct LearntCharges {
  stats::Charges record;
  stats::Charges latency;  // of calls from an idle queue
  bool in_doubt = false;   // stats::ChargeIsInDoubt()
};

struct TimeSpent {
  double baseline_seconds = 0;  // of a call
  // Seconds of timing by what they went to: draw, arm, publish, call, look, verify.
  std::map<std::string, double> by_purpose;
  std::optional<TimingCores::Taken> cores;  // while pairs are timed on a device
};

struct CompileOnlyState {
  nlohmann::json report = nlohmann::json::object();
  // Why correctness could not be decided; nothing while it could.
  std::optional<CompileOnlyEvidence::Blocked> blocked;
};

struct Report {
  std::optional<Failure> failure;
  Evidence evidence;
  Evaluation evaluation;
};

// Not thread-safe: one thread runs a trial.
struct Trial {
  // `memory`: more of the device's memory than estimated, or all of it, after it ran out.
  Trial(const JudgeContext& lent, const Job& asked, const Protocol& rules,
        MemoryBudget memory = MemoryBudget::kEstimated);

  const JudgeContext& context;
  const Job& job;
  const task::Task& task;
  const Protocol& protocol;
  const MemoryBudget budget;

  StageClock clock;
  std::unique_ptr<Session> session;  // from StartRoles on where one is free, else LoadCandidate
  bool claimed = false;              // the pool expects a Return()
  Candidate candidate;
  DeviceShare device;
  uint64_t secret_seed = SecretSeed();  // published with the verdict, after the fact
  SecretStream secret{secret_seed};
  DrawnInputs inputs;
  WeightChanges weights;
  Launches launches;
  TimeSpent timing;
  TimedPairs pairs;  // of the last phase (timing_phase.h)
  CallCosts costs;   // learnt from pairs
  Waking waking;
  WindowPlan windows;  // cuda
  LearntCharges charges;
  CompileOnlyState compile_only;
  nlohmann::json admission;  // of the task, once known
  Report report;
};

// Ends the current stage and begins another; an empty name begins none.
void BeginStage(Trial& trial, std::string_view name);
// Under which the device is leased.
std::string DeviceKey(const Trial& trial);
// True where the trial has the whole device, after its memory ran out.
bool IsAlone(const Trial& trial);
bool HasTimingCores(const JudgeContext& context, Target target);
double CallTimeout(const Trial& trial);
// Memory of each process.
int64_t MemoryBytes(const Job& job, const Protocol& protocol);
// Is the baseline compiled at its first call, by the judge or by the reference itself?
bool BaselineCompiles(const Job& job, const Session& session);
// {"set", "own", "bytes"} where the task's own size is not what is looked at; else null.
const nlohmann::json* ShrunkSizes(const Session* session);
DeviceMemoryEvidence& DeviceMemoryOf(Report* report);
// Makes another launch the current one.
void UseLaunch(Trial& trial, size_t launch);
// Of all launches.
std::vector<Timed*> TimedOf(Trial& trial, Side side);

}  // namespace davinci::judge
