// A process and where it comes from, with all that is asked of them in a transcript: recorded where
// there is a real one, played where the transcript replays.
//
// Questions of other threads than the trial's (a session that is put to rest) are no part of the
// trial: they go to the real process, and a played one is dead for them.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "davinci/judge/transcript.h"
#include "davinci/worker/fork_server.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

class TranscribedProcess final : public worker::Process {
 public:
  // `real` is null in a replay. `name`: in the transcript ("oracle1").
  TranscribedProcess(Transcript* transcript, std::string name, std::shared_ptr<Process> real)
      : transcript_(transcript), name_(std::move(name)), real_(std::move(real)) {}

  Result<nlohmann::json> AwaitReady(double timeout_seconds) override;
  Result<Reply> Await(double timeout_seconds, const worker::BuildHandler& build) override;
  void set_spin(double seconds) override;
  Status SendFrame(std::string_view frame, std::span<const int> fds) override;
  Status Wait(double timeout_seconds) override;
  bool SpinUntilReadable(double seconds) override;
  size_t WaitingBytes() override;
  Result<worker::Message> Receive(double timeout_seconds) override;
  pid_t pid() const override { return real_ ? real_->pid() : -1; }
  Status Freeze() override;
  Status Thaw() override;
  int64_t CpuNs() const override;
  worker::CoreTimes ReadCoreTimes() const override;
  int64_t OwnCoreWaitNs() const override;
  int64_t ResidentBytes() const override;
  int NumThreads() const override;
  int Core() const override { return real_ ? real_->Core() : -1; }
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
  std::optional<worker::Death> WaitForDeath(double timeout_seconds) override;
  std::string OutputTail() override;
  int64_t OutputBytes() const override;
  void SetMemoryLimit(int64_t bytes) override;
  bool exceeded_memory() const override;

 private:
  // The answer of `real`, by way of the transcript where that listens; `dead` where there is none.
  nlohmann::json Ask(std::string_view what, const nlohmann::json& question,
                     const std::function<nlohmann::json()>& real,
                     const nlohmann::json& dead = nullptr) const;
  std::string Named(std::string_view what) const;

  Transcript* transcript_;
  const std::string name_;
  const std::shared_ptr<Process> real_;
};

class TranscribedSpawner final : public worker::Spawner {
 public:
  // `real` is null in a replay; both outlive this object.
  TranscribedSpawner(Transcript* transcript, worker::Spawner* real)
      : transcript_(transcript), real_(real) {}

  Status Prewarm(const std::string& cache_folder, int arch) override;
  // The sandbox and the environment are the machine's, and no part of the question.
  Result<std::shared_ptr<worker::Process>> Spawn(const worker::SpawnRequest& request) override;

 private:
  Transcript* transcript_;
  worker::Spawner* real_;
  std::map<std::string, int> num_spawned_;  // by role
};

// A Status as JSON; null: it is OK.
nlohmann::json StatusJson(const Status& status);
Status StatusFromJson(const nlohmann::json& status);

}  // namespace davinci::judge
