// Process: one forked Python child (oracle, baseline or runner), seen from outside.
//
// Owns the child: destroying a Process kills it and everything in its pid namespace. The child may
// be hostile; nothing here trusts what it says. Deaths are noticed through the status pipe at once,
// never by a timeout.
//
// Freezing: Freeze() stops every thread with SIGSTOP and returns only when the kernel shows all of
// them stopped; Thaw() lets them go on. CPU time is read from the kernel's per-process clock. A
// Process is used by one thread at a time; Kill() may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/base/unique_fd.h"
#include "davinci/worker/channel.h"

namespace davinci::worker {

// How a child ended, from its raw wait status.
struct Death {
  bool exited = false;  // else killed by `signal`
  int exit_code = 0;
  int signal = 0;
  // "exited with code 0", "was killed by SIGSEGV (segmentation fault)", "was ended by abort()
  // (SIGABRT)" also for exit code 134 (sandbox/worker_abi.h)
  std::string Describe() const;
};

// Nanoseconds on a core and waiting for one, of the main thread and of all threads together.
struct CoreTimes {
  struct Thread {
    pid_t tid = 0;
    int64_t ran_ns = 0;
    int64_t waited_ns = 0;
  };
  int64_t main_ran_ns = 0;
  int64_t main_waited_ns = 0;
  int64_t ran_ns = 0;
  int64_t waited_ns = 0;
  std::vector<Thread> others;  // by tid; of a reading, empty in a difference
  // Since `before`. Threads that have ended since are not counted, nor is the wait of one that did
  // no more than go back to sleep: all wake when a process goes on, and those with nothing to do
  // wait behind those that compute.
  CoreTimes Since(const CoreTimes& before) const;
  // Of the main thread's wait what threads of its own process cannot have caused: they ran for
  // less.
  int64_t OthersNs() const;
};

// Answers {"build": …} requests of a runner while it loads or runs. Called on the thread that waits
// for the runner.
using BuildHandler = std::function<nlohmann::json(const nlohmann::json& request)>;

class Process {
 public:
  Process(Channel control, UniqueFd status, UniqueFd output);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Waits for pid and {"ready"}; returns the sandbox report of the child.
  Result<nlohmann::json> AwaitReady(double timeout_seconds);

  // One request, one reply: the value under "ok" or "done", or the {"error"} object under kError.
  struct Reply {
    nlohmann::json ok;
    nlohmann::json error;  // null unless the user's code failed
    std::vector<UniqueFd> fds;
    bool failed() const { return !error.is_null(); }
  };
  Result<Reply> Request(const nlohmann::json& message, double timeout_seconds,
                        std::span<const int> fds = {});
  // The two halves of Request, for overlapping several processes. `build` answers compilation
  // requests in between; the time it takes does not count against the deadline.
  Status Post(const nlohmann::json& message, std::span<const int> fds = {});
  Result<Reply> Await(double timeout_seconds, const BuildHandler& build = nullptr);
  // Replies are awaited without sleeping for up to `seconds`: faster, at the price of a core.
  void set_spin(double seconds) { spin_seconds_ = seconds; }

  Channel& control() { return control_; }
  int status_fd() const { return status_.get(); }
  pid_t pid() const { return pid_; }

  Status Freeze();
  Status Thaw();
  // User + system CPU time of all threads so far, in nanoseconds.
  int64_t CpuNs() const;
  // Of the main thread and up to 31 others; zeros where the kernel does not count.
  CoreTimes ReadCoreTimes() const;
  int64_t ResidentBytes() const;
  int NumThreads() const;
  // The core on which the main thread ran last; -1 where /proc does not tell.
  int Core() const;
  // Processes other than the child itself inside its pid namespace (its descendants).
  std::vector<pid_t> OtherProcesses() const;
  // Installed seccomp filters, from /proc; the minimum over all threads.
  int NumSeccompFilters() const;
  // Paths of mapped shared objects that are not below `ignored_prefixes`.
  std::vector<std::string> MappedLibraries() const;
  // Copies `size` bytes at `address` of the (frozen) child. Fails when any of it is not readable.
  Status ReadMemory(uint64_t address, void* destination, size_t size) const;
  // The same for many pieces of `size` bytes each, put behind one another.
  Status ReadPieces(std::span<const uint64_t> addresses, size_t size, char* destination) const;
  // Fills pieces of the (frozen) child's memory, 1024 at most, with `byte`. False: from the first
  // that cannot be written to on, they stay as they are.
  bool FillPieces(std::span<const uint64_t> addresses, size_t size, char byte) const;
  // Whether any byte of a range [address, address + bytes) lies in a mapping that is shared, with
  // another process or with itself, or that is of a file: a private one shows what it did not
  // write.
  bool SharesMemory(std::span<const std::pair<uint64_t, uint64_t>> ranges) const;

  void Kill();
  // Non-blocking unless `timeout_seconds` > 0. Empty while the child lives.
  std::optional<Death> WaitForDeath(double timeout_seconds = 0);
  // The last bytes the child wrote to stdout and stderr, and how many it wrote in all.
  std::string OutputTail();
  int64_t OutputBytes() const { return output_bytes_; }
  // Kills the child when its resident memory exceeds `bytes` (checked by the fork server's
  // watchdog); 0 = unlimited.
  void SetMemoryLimit(int64_t bytes) { memory_limit_ = bytes; }
  bool exceeded_memory() const { return exceeded_memory_; }
  void CheckMemory();

 private:
  void DrainOutput();
  bool ReadStatus(double timeout_seconds);
  void SetDeath(const Death& death);

  Channel control_;
  UniqueFd status_;
  UniqueFd output_;
  UniqueFd stop_drain_;
  double spin_seconds_ = 0;
  std::atomic<pid_t> pid_{-1};
  UniqueFd pidfd_;  // written before pid_
  std::optional<Death> death_;
  std::atomic<bool> dead_{false};  // death_, for the watchdog
  std::atomic<int64_t> memory_limit_{0};
  std::atomic<bool> exceeded_memory_{false};
  std::atomic<int64_t> output_bytes_{0};
  std::mutex tail_mutex_;
  std::string tail_;  // guarded by tail_mutex_
  std::atomic<bool> drained_{false};
  std::thread drain_;
};

// How long the calling thread was ready to run but waited for a core so far; 0 where the kernel
// does not count it.
int64_t OwnCoreWaitNs();

// Of a process: its threads, and all processes that it or those have started and that still belong
// to them. Empty when it is gone.
std::vector<pid_t> Threads(pid_t pid);
std::vector<pid_t> Descendants(pid_t pid);

}  // namespace davinci::worker
