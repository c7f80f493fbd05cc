// ForkedProcess: a child of the fork server.
//
// Owns the child: destroying it kills the child and everything in its pid namespace. The child may
// be hostile; nothing here trusts what it says. Deaths are noticed through the status pipe at once,
// never by a timeout. Freezing sends SIGSTOP and asks the kernel for every thread's state; CPU time
// is read from the kernel's per-process clock.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "davinci/base/mutex.h"
#include "davinci/worker/memory_limit.h"
#include "davinci/worker/process.h"

namespace davinci::worker {

class ForkedProcess final : public Process {
 public:
  ForkedProcess(Channel control, UniqueFd status, UniqueFd output);
  ~ForkedProcess() override;

  Result<nlohmann::json> AwaitReady(double timeout_seconds) override;
  Result<Reply> Await(double timeout_seconds, const BuildHandler& build = nullptr) override;
  void set_spin(double seconds) override { spin_seconds_ = seconds; }
  Status SendFrame(std::string_view frame, std::span<const int> fds = {}) override;
  Status Wait(double timeout_seconds) override;
  bool SpinUntilReadable(double seconds) override;
  size_t WaitingBytes() override;
  Result<Message> Receive(double timeout_seconds) override;
  pid_t pid() const override { return pid_; }
  Status Freeze() override;
  Status Thaw() override;
  int64_t CpuNs() const override;
  CoreTimes ReadCoreTimes() const override;
  int64_t OwnCoreWaitNs() const override;
  int64_t ResidentBytes() const override;
  int NumThreads() const override;
  int Core() const override;
  std::vector<pid_t> OtherProcesses() const override;
  int NumSeccompFilters() const override;
  std::vector<std::string> MappedLibraries() const override;
  Status ReadMemory(uint64_t address, void* destination, size_t size) const override;
  Status ReadPieces(std::span<const uint64_t> addresses, size_t size,
                    char* destination) const override;
  bool FillPieces(std::span<const uint64_t> addresses, size_t size, char byte) const override;
  bool SharesMemory(Ranges ranges) const override;
  int64_t UnwrittenPages(Ranges ranges) const override;
  void Kill() override;
  std::optional<Death> WaitForDeath(double timeout_seconds = 0) override;
  std::string OutputTail() override;
  int64_t OutputBytes() const override { return output_bytes_; }
  void SetMemoryLimit(int64_t bytes) override { memory_limit_->Set(bytes); }
  bool exceeded_memory() const override { return memory_limit_->exceeded(); }

  // For a watchdog, which may hold it for longer than the child lives.
  const std::shared_ptr<MemoryLimit>& memory_limit() const { return memory_limit_; }

 private:
  void DrainOutput();
  bool ReadStatus(double timeout_seconds);
  void SetDeath(const Death& death);

  Channel control_;
  UniqueFd status_;
  UniqueFd output_;
  UniqueFd stop_drain_;
  double spin_seconds_ = 0;
  pid_t pid_ = -1;
  UniqueFd pidfd_;  // valid where pid_ is
  std::optional<Death> death_;
  const std::shared_ptr<MemoryLimit> memory_limit_ = std::make_shared<MemoryLimit>();
  std::atomic<int64_t> output_bytes_{0};
  Mutex tail_mutex_;
  std::string tail_ DAVINCI_GUARDED_BY(tail_mutex_);
  std::atomic<bool> drained_{false};
  std::thread drain_;
};

}  // namespace davinci::worker
