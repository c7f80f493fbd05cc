// Leases, kept facts and the machine's own answers, by way of a transcript.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davinci/gpu/lease.h"
#include "davinci/judge/machine/machine.h"
#include "davinci/judge/transcript.h"
#include "davinci/store/kv_cache.h"

namespace davinci::judge {

// `real` of each of these classes is null in a replay.

class TranscribedLeases final : public gpu::DeviceLeases {
 public:
  TranscribedLeases(Transcript* transcript, gpu::DeviceLeases* real)
      : transcript_(transcript), real_(real) {}
  Result<gpu::DeviceLease> Acquire(const std::string& device,
                                   const gpu::LeaseRequest& request) override;
  bool ExclusiveIsDue(const std::string& device) const override;
  bool IsAwaited(const std::string& device) const override;

 private:
  Transcript* transcript_;
  gpu::DeviceLeases* real_;
};

class TranscribedFacts final : public store::KvCache {
 public:
  TranscribedFacts(Transcript* transcript, store::KvCache* real)
      : KvCache({}, {}), transcript_(transcript), real_(real) {}
  Result<std::optional<nlohmann::json>> Get(std::string_view space, std::string_view key) override;
  Status Put(std::string_view space, std::string_view key, const nlohmann::json& value) override;

 private:
  Transcript* transcript_;
  store::KvCache* real_;
};

class TranscribedMachine final : public Machine {
 public:
  TranscribedMachine(Transcript* transcript, Machine* real)
      : transcript_(transcript), real_(real) {}
  nlohmann::json State(Target target) override;
  Result<CorePeaks> PeaksOfCore(bool remeasure) override;
  std::optional<stats::AttainableRates> RatesIfKnown(int threads, double bytes) override;
  Result<stats::AttainableRates> Rates(int threads, double bytes) override;
  std::vector<std::string> VendorLibraries(const worker::Process& process) override;
  std::optional<std::string> FileSha256(const std::string& path) override;
  task::LocalImports ImportsOf(std::string_view source, const std::string& path) override;
  std::unique_ptr<AwakeCores> KeepAwake(std::span<const int> cores) override;

 private:
  Transcript* transcript_;
  Machine* real_;
};

nlohmann::json ImportsJson(const task::LocalImports& imports);
task::LocalImports ImportsFrom(const nlohmann::json& imports);

}  // namespace davinci::judge
