#include "davinci/judge/inspect/check_roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "davinci/judge/machine/peaks.h"
#include "davinci/judge/roles/output_arena.h"
#include "davinci/judge/trial/task_admission.h"
#include "davinci/judge/trial/verdict.h"
#include "davinci/stats/roofline.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Threads times the best core is an upper bound already; this is for a clock that was boosted when
// the call ran and not when the peak was measured. A device's bandwidth is measured as it is used,
// so less is enough.
constexpr double kCpuMargin = 0.33;
constexpr double kCudaMargin = 0.1;
// The share of the reference's arithmetic floor below which some of its operations were not done,
// or not in its precision.
constexpr double kFewerOperations = 0.5;

// Bytes of memory behind the outputs: an expanded output (stride 0) is written once.
double WrittenBytes(const std::vector<OutputTensor>& outputs) {
  double bytes = 0;
  for (const OutputTensor& t : outputs) {
    if (t.value || t.shape.size() != t.stride.size()) continue;
    double elements = 1;
    for (size_t i = 0; i < t.shape.size(); ++i)
      if (t.stride[i] != 0 || t.shape[i] == 0) elements *= static_cast<double>(t.shape[i]);
    bytes += elements * static_cast<double>(ElementBytes(t.dtype));
  }
  return bytes;
}

// The device for this process's measurement alone.
Result<gpu::DeviceLease> MeasureAlone(Trial& trial) {
  trial.device.share.Release();
  gpu::LeaseRequest request;
  request.mode = gpu::LeaseMode::kExclusive;
  request.purpose = "measuring peaks";
  return trial.context.leases->Acquire(DeviceKey(trial), request);
}

Result<stats::AttainableRates> CpuRates(Trial& trial, double bytes) {
  if (const auto known = trial.context.machine->RatesIfKnown(trial.context.threads, bytes))
    return *known;
  DAVINCI_ASSIGN_OR_RETURN(const gpu::DeviceLease lease, MeasureAlone(trial));
  // Another trial may have measured them meanwhile.
  if (const auto known = trial.context.machine->RatesIfKnown(trial.context.threads, bytes))
    return *known;
  return trial.context.machine->Rates(trial.context.threads, bytes);
}

Result<json> CudaPeaks(Trial& trial, bool remeasure) {
  const std::string key = "cuda/2/" + trial.context.device;
  json known;
  if (trial.context.facts != nullptr)
    if (auto found = trial.context.facts->Get("peaks", key); found.ok() && *found) known = **found;
  if (!known.is_null() && !remeasure) return known;
  DAVINCI_ASSIGN_OR_RETURN(gpu::DeviceLease lease, MeasureAlone(trial));
  DAVINCI_ASSIGN_OR_RETURN(auto measured, trial.session->oracle->Ask(to_oracle::Peaks{}));
  lease.Release();
  json peaks = measured.ok;
  peaks.erase("seconds");
  for (const char* rate : {"copy_gb_per_s", "read_gb_per_s", "write_gb_per_s", "fp32_tflops"})
    if (known.is_object() && known.contains(rate))
      peaks[rate] = std::max(peaks.value(rate, 0.0), known[rate].get<double>());
  if (trial.context.facts != nullptr) (void)trial.context.facts->Put("peaks", key, peaks);
  return peaks;
}

// What a call does at least, each against its own peak, and what a perfect kernel does.
struct LeastWork {
  stats::TaskWork reads;
  stats::TaskWork writes;
  // The arithmetic of the reference, which a kernel with a better algorithm need not do.
  stats::TaskWork arithmetic;
  stats::TaskWork perfect;  // as far as it is known
};

LeastWork LeastWorkOf(const Trial& trial, const CallWork& work) {
  // An output that need not depend on the inputs need not read them, nor be written anew. One
  // that is an input need not be written. Both are the task's doing, and its tags say so.
  const std::vector<std::string> tags = TaskTags(trial.task, trial.admission);
  const bool constant = HasTag(tags, "constant-output") || HasTag(tags, "cached-output") ||
                        HasTag(tags, "accepts-zeros");
  const bool in_place =
      trial.task.config.inplace || trial.session->reference_mutates || HasTag(tags, "identity");
  LeastWork least;
  if (!constant && work.reads_everything)
    least.reads.read_bytes = static_cast<double>(work.input_bytes);
  if (!constant && work.reads_whole_operands)
    least.perfect.read_bytes = static_cast<double>(work.input_bytes + work.weight_bytes);
  if (!constant && !in_place)
    least.writes.written_bytes =
        std::min(static_cast<double>(work.output_bytes),
                 WrittenBytes(trial.pairs.record.back().candidate.outputs));
  least.perfect.written_bytes = least.writes.written_bytes;
  if (trial.task.config.precision == config::Precision::kFp32)
    least.arithmetic.flops = static_cast<double>(work.flops);
  return least;
}

// The best rates of the device or the cores; `measured`: as evidence.
struct Peaks {
  stats::DevicePeaks read;
  stats::DevicePeaks write;
  stats::AttainableRates rates;
  json measured;
  double margin = 0;
};

// `bytes`: that a perfect kernel moves.
Result<Peaks> PeaksFor(Trial& trial, double bytes, bool remeasure) {
  Peaks peaks;
  if (trial.job.target == Target::kCpu) {
    auto core = trial.context.machine->PeaksOfCore(remeasure);
    auto together = CpuRates(trial, bytes);
    DAVINCI_RETURN_IF_ERROR(core.status());
    DAVINCI_RETURN_IF_ERROR(together.status());
    peaks.rates = *together;
    const double threads = trial.context.threads;
    peaks.read.bytes_per_second = threads * core->read_bytes_per_second;
    peaks.write.bytes_per_second = threads * core->write_bytes_per_second;
    peaks.read.flops_per_second = peaks.write.flops_per_second =
        threads * core->fp32_flops_per_second;
    peaks.measured = {{"threads", trial.context.threads}, {"one_core", ToJson(*core)}};
    peaks.measured.update(ToJson(peaks.rates));
    peaks.margin = kCpuMargin;
    return peaks;
  }
  DAVINCI_ASSIGN_OR_RETURN(peaks.measured, CudaPeaks(trial, remeasure));
  peaks.rates = RatesFromJson(peaks.measured);
  peaks.read.bytes_per_second =
      std::max({peaks.rates.read_bytes, peaks.rates.copy_bytes, peaks.rates.write_bytes});
  peaks.read.flops_per_second = peaks.rates.flops;
  peaks.write = peaks.read;
  peaks.write.cache_bytes = peaks.measured.value("l2_bytes", 0.0);
  peaks.margin = kCudaMargin;
  return peaks;
}

Result<bool> CheckRoofline(Trial& trial) {
  if (!trial.report.evaluation.candidate_time || trial.pairs.record.empty()) return true;
  const auto& work = trial.session->facts[0].value().work;
  if (!work) return true;
  const double seconds = 1e-3 * trial.report.evaluation.candidate_time->median_ms;

  for (const bool again : {false, true}) {
    LeastWork least = LeastWorkOf(trial, *work);
    const double moved_bytes = least.perfect.read_bytes + least.perfect.written_bytes;
    const auto peaks = PeaksFor(trial, moved_bytes, again);
    if (!peaks.ok()) return true;  // nothing to hold the time against
    const auto read_bound = stats::ComputeImpossible(least.reads, peaks->read);
    const auto write_bound = stats::ComputeImpossible(least.writes, peaks->write);
    const auto compute = stats::ComputeImpossible(least.arithmetic, peaks->read);
    if (!read_bound.ok() || !write_bound.ok() || !compute.ok()) return true;
    const double moving_seconds = std::max(read_bound->seconds, write_bound->seconds);
    const double least_seconds = (1 - peaks->margin) * moving_seconds;
    // What PyTorch itself does in less time is possible: a view moves nothing.
    const bool bounds =
        1e-3 * trial.report.evaluation.baseline_time.value().median_ms >= least_seconds;
    const bool below = bounds && !(seconds >= least_seconds);
    const bool fewer = compute->seconds > 0 && seconds < kFewerOperations * compute->seconds;
    if (!fewer) least.perfect.flops = least.arithmetic.flops;
    const auto attainable = stats::ComputeAttainable(least.perfect, peaks->rates);
    if (!attainable.ok()) return true;
    trial.report.evidence.roofline = {
        1e3 * attainable->seconds, attainable->memory_bound,           moved_bytes,
        least.perfect.flops,       bounds ? 1e3 * least_seconds : 0.0, peaks->measured};
    if ((below || !bounds) && !again) {
      // Before anyone is accused or let go: peaks once more, which may have been measured beside
      // other work, and the task's tags whatever they cost.
      if (!trial.admission.contains("tags") && !trial.protocol.published)
        if (auto asked = AskAdmission(trial, std::nullopt); asked.ok()) trial.admission = *asked;
      continue;
    }
    if (below) {
      return Verdict(
          trial,
          Broken(
              Rule::kBelowRoofline,
              fmt::format(
                  "{:.4g} ms is less than the {:.4g} ms that moving the task's inputs and outputs "
                  "takes at this device's best rate: work was skipped or the time is false",
                  1e3 * seconds, 1e3 * moving_seconds)));
    }
    if (fewer) trial.report.evaluation.AddLabel(Label::kFewerOperations);
    return true;
  }
  return true;
}

}  // namespace

Result<bool> WeighTask(Trial& trial) {
  LearnTask(trial);
  return CheckRoofline(trial);
}

}  // namespace davinci::judge
