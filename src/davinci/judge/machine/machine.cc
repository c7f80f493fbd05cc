#include "davinci/judge/machine/machine.h"

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/judge/machine/machine_state.h"
#include "davinci/judge/machine/vendor_code.h"

namespace davinci::judge {

nlohmann::json ThisMachine::State(Target target) {
  return MachineState(target, *monitor_, device_);
}

Result<CorePeaks> ThisMachine::PeaksOfCore(bool remeasure) {
  return CachedCorePeaks(cache_, remeasure);
}

std::optional<stats::AttainableRates> ThisMachine::RatesIfKnown(int threads, double bytes) {
  return KnownRates(cache_, threads, bytes);
}

Result<stats::AttainableRates> ThisMachine::Rates(int threads, double bytes) {
  DAVINCI_ASSIGN_OR_RETURN(const auto rates, MeasureRates(threads, bytes));
  KeepRates(cache_, threads, bytes, rates);
  return rates;
}

std::vector<std::string> ThisMachine::VendorLibraries(const worker::Process& process) {
  return ExecutedVendorLibraries(process.pid());
}

std::optional<std::string> ThisMachine::FileSha256(const std::string& path) {
  const auto bytes = ReadFile(path);
  return bytes.ok() ? std::optional(Sha256Hex(*bytes)) : std::nullopt;
}

task::LocalImports ThisMachine::ImportsOf(std::string_view source, const std::string& path) {
  return task::FindLocalImports(source, path);
}

std::unique_ptr<AwakeCores> ThisMachine::KeepAwake(std::span<const int> cores) {
  return std::make_unique<AwakeCores>(cores);
}

}  // namespace davinci::judge
