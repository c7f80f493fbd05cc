#include "davinci/judge/transcribed_machine.h"

#include <utility>

#include "davinci/judge/transcribed_process.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

json RatesJson(const stats::AttainableRates& rates) {
  return {rates.read_bytes, rates.write_bytes, rates.copy_bytes, rates.flops};
}

stats::AttainableRates RatesFrom(const json& rates) {
  stats::AttainableRates found;
  found.read_bytes = rates.at(0);
  found.write_bytes = rates.at(1);
  found.copy_bytes = rates.at(2);
  found.flops = rates.at(3);
  return found;
}

json FailureJson(const Status& status) { return {{"status", StatusJson(status)}}; }

}  // namespace

json ImportsJson(const task::LocalImports& imports) {
  return {{"folders", imports.folders},
          {"visible", imports.visible},
          {"names", imports.names},
          {"package", imports.package},
          {"digest", imports.digest}};
}

task::LocalImports ImportsFrom(const json& imports) {
  return {imports.at("folders"), imports.at("visible"), imports.at("names"), imports.at("package"),
          imports.at("digest")};
}

Result<gpu::DeviceLease> TranscribedLeases::Acquire(const std::string& device,
                                                    const gpu::LeaseRequest& request) {
  Result<gpu::DeviceLease> lease = Unavailable("played");
  const bool exclusive = request.mode == gpu::LeaseMode::kExclusive;
  const json answer = transcript_->Ask("lease", {device, exclusive ? "exclusive" : "shared"}, [&] {
    lease = real_->Acquire(device, request);
    return lease.ok() ? json(lease->waited_ms()) : FailureJson(lease.status());
  });
  if (real_ != nullptr) return lease;
  if (answer.is_object()) return StatusFromJson(answer.at("status"));
  return gpu::DeviceLease::Played(device, request.mode, answer.get<double>());
}

bool TranscribedLeases::ExclusiveIsDue(const std::string& device) const {
  return transcript_->Ask("lease.due", nullptr, [&] { return json(real_->ExclusiveIsDue(device)); })
      .get<bool>();
}

bool TranscribedLeases::IsAwaited(const std::string& device) const {
  return transcript_->Ask("lease.awaited", nullptr, [&] { return json(real_->IsAwaited(device)); })
      .get<bool>();
}

Result<std::optional<json>> TranscribedFacts::Get(std::string_view space, std::string_view key) {
  const json answer = transcript_->Ask("fact", {space, key}, [&] {
    const auto found = real_->Get(space, key);
    return !found.ok() ? FailureJson(found.status()) : *found ? json{{"value", **found}} : json();
  });
  if (answer.is_null()) return std::optional<json>();
  if (answer.contains("status")) return StatusFromJson(answer.at("status"));
  return std::optional<json>(answer.at("value"));
}

Status TranscribedFacts::Put(std::string_view space, std::string_view key, const json& value) {
  return StatusFromJson(transcript_->Ask(
      "keep", {space, key, value}, [&] { return StatusJson(real_->Put(space, key, value)); }));
}

json TranscribedMachine::State(Target target) {
  return transcript_->Ask("machine", TargetName(target), [&] { return real_->State(target); });
}

Result<CorePeaks> TranscribedMachine::PeaksOfCore(bool remeasure) {
  const json answer = transcript_->Ask("peaks", remeasure, [&] {
    const auto peaks = real_->PeaksOfCore(remeasure);
    if (!peaks.ok()) return FailureJson(peaks.status());
    return json{peaks->read_bytes_per_second, peaks->write_bytes_per_second,
                peaks->fp32_flops_per_second};
  });
  if (answer.is_object()) return StatusFromJson(answer.at("status"));
  return CorePeaks{answer.at(0), answer.at(1), answer.at(2)};
}

std::optional<stats::AttainableRates> TranscribedMachine::RatesIfKnown(int threads, double bytes) {
  const json answer = transcript_->Ask("rates_if_known", {threads, bytes}, [&] {
    const auto rates = real_->RatesIfKnown(threads, bytes);
    return rates ? RatesJson(*rates) : json();
  });
  return answer.is_null() ? std::nullopt : std::optional(RatesFrom(answer));
}

Result<stats::AttainableRates> TranscribedMachine::Rates(int threads, double bytes) {
  const json answer = transcript_->Ask("rates", {threads, bytes}, [&] {
    const auto rates = real_->Rates(threads, bytes);
    return rates.ok() ? RatesJson(*rates) : FailureJson(rates.status());
  });
  if (answer.is_object()) return StatusFromJson(answer.at("status"));
  return RatesFrom(answer);
}

std::vector<std::string> TranscribedMachine::VendorLibraries(const worker::Process& process) {
  return transcript_
      ->Ask("vendor_libraries", nullptr, [&] { return json(real_->VendorLibraries(process)); })
      .get<std::vector<std::string>>();
}

std::optional<std::string> TranscribedMachine::FileSha256(const std::string& path) {
  const json answer = transcript_->Ask("sha256", path, [&] {
    const auto sha256 = real_->FileSha256(path);
    return sha256 ? json(*sha256) : json();
  });
  return answer.is_null() ? std::nullopt : std::optional(answer.get<std::string>());
}

task::LocalImports TranscribedMachine::ImportsOf(std::string_view source, const std::string& path) {
  return ImportsFrom(transcript_->Ask("imports", path,
                                      [&] { return ImportsJson(real_->ImportsOf(source, path)); }));
}

std::unique_ptr<AwakeCores> TranscribedMachine::KeepAwake(std::span<const int> cores) {
  return real_ == nullptr ? nullptr : real_->KeepAwake(cores);
}

}  // namespace davinci::judge
