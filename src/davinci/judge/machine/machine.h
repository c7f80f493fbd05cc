// Machine: what a trial asks of the machine it runs on, other than its processes: state, peaks,
// files. A seam: replays of trials play it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/data/language.h"
#include "davinci/gpu/device.h"
#include "davinci/judge/machine/awake_cores.h"
#include "davinci/judge/machine/peaks.h"
#include "davinci/task/local_imports.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

class Machine {
 public:
  Machine() = default;
  virtual ~Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // MachineState() of the target's device.
  virtual nlohmann::json State(Target target) = 0;
  // CachedCorePeaks(), KnownRates(), and MeasureRates() with KeepRates() (peaks.h).
  virtual Result<CorePeaks> PeaksOfCore(bool remeasure) = 0;
  virtual std::optional<stats::AttainableRates> RatesIfKnown(int threads, double bytes) = 0;
  virtual Result<stats::AttainableRates> Rates(int threads, double bytes) = 0;
  // ExecutedVendorLibraries() (vendor_code.h) of a process.
  virtual std::vector<std::string> VendorLibraries(const worker::Process& process) = 0;
  // The hash of a file's content; nothing where it cannot be read.
  virtual std::optional<std::string> FileSha256(const std::string& path) = 0;
  // task::FindLocalImports() of a candidate.
  virtual task::LocalImports ImportsOf(std::string_view source, const std::string& path) = 0;
  // Keeps cores from falling asleep while it lives; null where nothing is timed.
  virtual std::unique_ptr<AwakeCores> KeepAwake(std::span<const int> cores) = 0;
};

// The machine this process runs on.
class ThisMachine final : public Machine {
 public:
  // `cache` may be null; both outlive this object. `device`: uuid of the GPU; empty: none.
  ThisMachine(const gpu::DeviceMonitor* monitor, store::KvCache* cache, std::string device)
      : monitor_(monitor), cache_(cache), device_(std::move(device)) {}

  nlohmann::json State(Target target) override;
  Result<CorePeaks> PeaksOfCore(bool remeasure) override;
  std::optional<stats::AttainableRates> RatesIfKnown(int threads, double bytes) override;
  Result<stats::AttainableRates> Rates(int threads, double bytes) override;
  std::vector<std::string> VendorLibraries(const worker::Process& process) override;
  std::optional<std::string> FileSha256(const std::string& path) override;
  task::LocalImports ImportsOf(std::string_view source, const std::string& path) override;
  std::unique_ptr<AwakeCores> KeepAwake(std::span<const int> cores) override;

 private:
  const gpu::DeviceMonitor* monitor_;
  store::KvCache* cache_;
  const std::string device_;
};

}  // namespace davinci::judge
