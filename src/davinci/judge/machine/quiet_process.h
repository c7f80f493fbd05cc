// QuietProcess: for tests, a process that says nothing and needs nothing; tests override what they
// play.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "davinci/worker/process.h"

namespace davinci::judge {

class QuietProcess : public worker::Process {
 public:
  Result<nlohmann::json> AwaitReady(double) override { return nlohmann::json::object(); }
  Result<Reply> Await(double, const worker::BuildHandler&) override { return Reply(); }
  void set_spin(double) override {}
  Status SendFrame(std::string_view, std::span<const int>) override { return Status::Ok(); }
  Status Wait(double) override { return Status::Ok(); }
  bool SpinUntilReadable(double) override { return false; }
  size_t WaitingBytes() override { return 0; }
  Result<worker::Message> Receive(double) override { return worker::Message(); }
  pid_t pid() const override { return -1; }
  Status Freeze() override { return Status::Ok(); }
  Status Thaw() override { return Status::Ok(); }
  int64_t CpuNs() const override { return 0; }
  worker::CoreTimes ReadCoreTimes() const override { return {}; }
  int64_t OwnCoreWaitNs() const override { return 0; }
  int64_t ResidentBytes() const override { return 0; }
  int NumThreads() const override { return 1; }
  int Core() const override { return -1; }
  std::vector<pid_t> OtherProcesses() const override { return {}; }
  int NumSeccompFilters() const override { return 0; }
  std::vector<std::string> MappedLibraries() const override { return {}; }
  Status ReadMemory(uint64_t, void*, size_t) const override { return Status::Ok(); }
  Status ReadPieces(std::span<const uint64_t>, size_t, char*) const override {
    return Status::Ok();
  }
  bool FillPieces(std::span<const uint64_t>, size_t, char) const override { return true; }
  bool SharesMemory(Ranges) const override { return false; }
  int64_t UnwrittenPages(Ranges) const override { return 0; }
  void Kill() override {}
  std::optional<worker::Death> WaitForDeath(double) override { return std::nullopt; }
  std::string OutputTail() override { return ""; }
  int64_t OutputBytes() const override { return 0; }
  void SetMemoryLimit(int64_t) override {}
  bool exceeded_memory() const override { return false; }
};

}  // namespace davinci::judge
