// Process: one forked Python child (oracle, baseline or runner), seen from outside: the seam behind
// which the judge's outside lies, so that tests and replays of trials play it.
//
// Freezing: Freeze() stops every thread and returns only when all of them have stopped; Thaw() lets
// them go on. A Process is used by one thread at a time; Kill() may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
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

// One child, seen from outside. ForkedProcess (forked_process.h) is the real one.
class Process {
 public:
  Process() = default;
  virtual ~Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Waits for pid and {"ready"}; returns the sandbox report of the child.
  virtual Result<nlohmann::json> AwaitReady(double timeout_seconds) = 0;

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
  virtual Result<Reply> Await(double timeout_seconds, const BuildHandler& build = nullptr) = 0;
  // Replies are awaited without sleeping for up to `seconds`: faster, at the price of a core.
  virtual void set_spin(double seconds) = 0;

  // Below Request(): frames, as Channel (channel.h) sends and receives them. A wait ends with
  // kCancelled when the child ends.
  virtual Status SendFrame(std::string_view frame, std::span<const int> fds = {}) = 0;
  virtual Status Wait(double timeout_seconds) = 0;
  virtual bool SpinUntilReadable(double seconds) = 0;
  virtual size_t WaitingBytes() = 0;
  virtual Result<Message> Receive(double timeout_seconds) = 0;

  virtual pid_t pid() const = 0;
  virtual Status Freeze() = 0;
  virtual Status Thaw() = 0;
  // User + system CPU time of all threads so far, in nanoseconds.
  virtual int64_t CpuNs() const = 0;
  // Of the main thread and up to 31 others; zeros where the kernel does not count.
  virtual CoreTimes ReadCoreTimes() const = 0;
  // How long the calling thread, which waits for the child, was ready to run but waited for a core
  // so far; 0 where the kernel does not count it.
  virtual int64_t OwnCoreWaitNs() const = 0;
  virtual int64_t ResidentBytes() const = 0;
  virtual int NumThreads() const = 0;
  // The core on which the main thread ran last; -1 where /proc does not tell.
  virtual int Core() const = 0;
  // Processes other than the child itself inside its pid namespace (its descendants).
  virtual std::vector<pid_t> OtherProcesses() const = 0;
  // Installed seccomp filters, from /proc; the minimum over all threads.
  virtual int NumSeccompFilters() const = 0;
  // Paths of mapped shared objects.
  virtual std::vector<std::string> MappedLibraries() const = 0;
  // Copies `size` bytes at `address` of the (frozen) child. Fails when any of it is not readable.
  virtual Status ReadMemory(uint64_t address, void* destination, size_t size) const = 0;
  // The same for many pieces of `size` bytes each, put behind one another.
  virtual Status ReadPieces(std::span<const uint64_t> addresses, size_t size,
                            char* destination) const = 0;
  // Fills pieces of the (frozen) child's memory, 1024 at most, with `byte`. False: from the first
  // that cannot be written to on, they stay as they are.
  virtual bool FillPieces(std::span<const uint64_t> addresses, size_t size, char byte) const = 0;
  // Ranges are [address, address + bytes).
  using Ranges = std::span<const std::pair<uint64_t, uint64_t>>;
  // True where any byte of the ranges lies in a mapping that is shared, with another process or
  // with itself, or that is of a file: a private one shows what it did not write.
  virtual bool SharesMemory(Ranges ranges) const = 0;
  // NumUnwrittenPages() (page_map.h) of the child.
  virtual int64_t UnwrittenPages(Ranges ranges) const = 0;

  virtual void Kill() = 0;
  // Non-blocking unless `timeout_seconds` > 0. Empty while the child lives.
  virtual std::optional<Death> WaitForDeath(double timeout_seconds = 0) = 0;
  // The last bytes the child wrote to stdout and stderr, and how many it wrote in all.
  virtual std::string OutputTail() = 0;
  virtual int64_t OutputBytes() const = 0;
  // Kills the child when its resident memory exceeds `bytes` (checked by the fork server's
  // watchdog); 0 = unlimited.
  virtual void SetMemoryLimit(int64_t bytes) = 0;
  virtual bool exceeded_memory() const = 0;
};

// Of a process: its threads, and all processes that it or those have started and that still belong
// to them. Empty when it is gone.
std::vector<pid_t> Threads(pid_t pid);
std::vector<pid_t> Descendants(pid_t pid);

}  // namespace davinci::worker
