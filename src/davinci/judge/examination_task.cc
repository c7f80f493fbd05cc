// What the task itself says about a number: admission (guarantee 9), the published rule as a second
// opinion, the roofline, and whether NaN gets through. All of it happens after the verdict on
// correctness and outside the timed calls; only the roofline can turn a verdict, from ok to
// invalid_timing.

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "davinci/gpu/device.h"
#include "davinci/judge/examination.h"
#include "davinci/judge/peaks.h"
#include "davinci/stats/roofline.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Raise it when python/davinci_worker/admission.py asks other questions: older answers are then
// asked again.
constexpr int kAdmissionVersion = 4;
// Time that the first evaluation on a task may spend on its tags. Costlier tasks wait for `davinci
// judge --admit`, which also asks about the stress distributions.
constexpr double kAdmissionBudgetSeconds = 0.5;
// Threads times the best core is an upper bound already; this is for a clock that was boosted when
// the call ran and not when the peak was measured. A device's bandwidth is measured as it is used,
// so less is enough.
constexpr double kCpuMargin = 0.33;
constexpr double kCudaMargin = 0.1;
// The share of the reference's arithmetic floor below which some of its operations were not done,
// or not in its precision.
constexpr double kFewerOperations = 0.5;

bool Contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

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

}  // namespace

std::string Examination::AdmissionKey() const {
  return fmt::format("{}/{}/{}/{}", trial_.task.hash, TargetName(trial_.job.target),
                     trial_.context.hello.value("torch", ""), kAdmissionVersion);
}

Result<json> Examination::Admit() {
  DAVINCI_RETURN_IF_ERROR(StartSession());
  DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->AwaitReady(60));
  DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->Ask(ReferenceSpec()).status());
  DAVINCI_RETURN_IF_ERROR(Facts(0).status());
  return AskAdmission(std::nullopt);
}

Result<json> Examination::Trace() {
  // Of a session, the oracle alone: nothing is timed.
  trial_.session = std::make_unique<Session>();
  trial_.session->facts.resize(1 + trial_.task.config.variants.size());
  trial_.session->init_seed = trial_.session->secret.Next() >> 1;
  DAVINCI_ASSIGN_OR_RETURN(trial_.session->work, MakeTempDir("davinci-session"));
  DAVINCI_RETURN_IF_ERROR(StartOracle());
  DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->AwaitReady(60));
  DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->Ask(ReferenceSpec()).status());
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  const auto ask = [&](size_t variant) {
    return trial_.session->oracle->Ask(
        {{"op", "graph"}, {"variant", variant}, {"seed", trial_.secret.Next() >> 1}});
  };
  DAVINCI_ASSIGN_OR_RETURN(auto answer, ask(0));
  json& shapes = answer.ok["shapes"] = json::array();
  if (answer.ok.contains("untraceable")) return answer.ok;
  for (size_t variant = 1; variant <= trial_.task.config.variants.size(); ++variant) {
    const auto further = ask(variant);
    const StatusCode code = further.status().code();
    // The oracle is gone: what is missing was not traced.
    if (!further.ok() && code != StatusCode::kInvalidArgument &&
        code != StatusCode::kResourceExhausted)
      break;
    shapes.push_back(further.ok() ? further->ok
                                  : json{{"untraceable", further.status().message()}});
  }
  return answer.ok;
}

Result<json> Examination::AskAdmission(std::optional<double> budget_seconds) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  json request = {{"op", "admit"}, {"seed", trial_.secret.Next() >> 1}};
  if (budget_seconds) request["budget_seconds"] = *budget_seconds;
  DAVINCI_ASSIGN_OR_RETURN(auto answer, trial_.session->oracle->Ask(request));
  if (trial_.context.facts != nullptr && answer.ok.contains("tags"))
    (void)trial_.context.facts->Put("admission", AdmissionKey(), answer.ok);
  return answer.ok;
}

void Examination::LearnTask() {
  if (!trial_.admission.is_null()) return;
  if (trial_.context.facts != nullptr)
    if (auto known = trial_.context.facts->Get("admission", AdmissionKey()); known.ok() && *known)
      trial_.admission = **known;
  // Only the oracle of the full question can answer: with weights as initialised, other tags may
  // hold.
  const bool able = trial_.session && trial_.session->oracle && trial_.session->facts[0] &&
                    trial_.report.failure == std::nullopt && !trial_.protocol.published &&
                    !trial_.report.evaluation.HasLabel(Label::kWeightsReseeded);
  if (trial_.admission.is_null() && able) {
    auto asked = AskAdmission(kAdmissionBudgetSeconds);
    trial_.admission = asked.ok() ? *asked : json{{"failed", asked.status().message()}};
  }
}

std::vector<std::string> Examination::TaskTags() const {
  std::vector<std::string> tags = trial_.task.config.tags;
  if (const auto found = trial_.admission.find("tags");
      trial_.admission.is_object() && found != trial_.admission.end())
    for (const json& tag : *found)
      if (tag.is_string() && !Contains(tags, tag.get<std::string>())) tags.push_back(tag);
  return tags;
}

Result<bool> Examination::Weigh() {
  LearnTask();
  return CheckRoofline();
}

Status Examination::AskPublishedRule(const std::string& distribution, int variant,
                                     const json& layout, const json& compared) {
  std::optional<PublishedRuleEvidence>& opinion = trial_.report.evidence.kernelbench;
  const std::optional<double> tolerance = PublishedTolerance(trial_.task.config.precision);
  if (!tolerance) {
    opinion.emplace().why = "the published rule knows fp32, fp16 and bf16 only";
    return Status::Ok();
  }
  json found = compared;
  if (!trial_.protocol.published) {
    if (!trial_.protocol.second_opinion || distribution != "task" || variant != 0)
      return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(auto asked, trial_.session->oracle->Ask({{"op", "published_compare"},
                                                                      {"outputs", layout},
                                                                      {"tolerance", *tolerance}}));
    found = asked.ok;
  }
  if (!opinion) {
    opinion.emplace().tolerance = *tolerance;
    opinion->compared = trial_.protocol.published
                            ? "candidate with the reference's own output, inputs and "
                              "weights from the published seeds"
                            : "candidate with the reference's own output on the "
                              "task's distribution; seeds are secret "
                              "and weights randomised, unlike the published harness";
  }
  opinion->correct = opinion->correct && found.at("passed").get<bool>();
  ++opinion->trials;
  for (const json& output : found.at("outputs")) {
    opinion->wrong_elements += output.value("wrong", int64_t{0});
    const json difference = output.value("max_abs_diff", json(0.0));
    json& most = opinion->max_abs_diff;
    if (!difference.is_number())
      most = difference;
    else if (most.is_number())
      most = std::max(most.get<double>(), difference.get<double>());
  }
  return Status::Ok();
}

Result<gpu::DeviceLease> Examination::MeasureAlone() {
  trial_.device.share.Release();
  gpu::LeaseRequest request;
  request.mode = gpu::LeaseMode::kExclusive;
  request.purpose = "measuring peaks";
  return trial_.context.leases->Acquire(DeviceKey(), request);
}

Result<stats::AttainableRates> Examination::CpuRates(double bytes) {
  if (const auto known = trial_.context.machine->RatesIfKnown(trial_.context.threads, bytes))
    return *known;
  DAVINCI_ASSIGN_OR_RETURN(const gpu::DeviceLease lease, MeasureAlone());
  // Another examination may have measured them meanwhile.
  if (const auto known = trial_.context.machine->RatesIfKnown(trial_.context.threads, bytes))
    return *known;
  return trial_.context.machine->Rates(trial_.context.threads, bytes);
}

Result<json> Examination::CudaPeaks(bool remeasure) {
  const std::string key = "cuda/2/" + trial_.context.device;
  json known;
  if (trial_.context.facts != nullptr)
    if (auto found = trial_.context.facts->Get("peaks", key); found.ok() && *found) known = **found;
  if (!known.is_null() && !remeasure) return known;
  DAVINCI_ASSIGN_OR_RETURN(gpu::DeviceLease lease, MeasureAlone());
  DAVINCI_ASSIGN_OR_RETURN(auto measured, trial_.session->oracle->Ask({{"op", "peaks"}}));
  lease.Release();
  json peaks = measured.ok;
  peaks.erase("seconds");
  for (const char* rate : {"copy_gb_per_s", "read_gb_per_s", "write_gb_per_s", "fp32_tflops"})
    if (known.is_object() && known.contains(rate))
      peaks[rate] = std::max(peaks.value(rate, 0.0), known[rate].get<double>());
  if (trial_.context.facts != nullptr) (void)trial_.context.facts->Put("peaks", key, peaks);
  return peaks;
}

Result<bool> Examination::CheckRoofline() {
  if (!trial_.report.evaluation.candidate_time || trial_.pairs.record.empty()) return true;
  const json work = trial_.session->facts[0].value().raw.value("work", json());
  if (!work.is_object()) return true;
  const double seconds = 1e-3 * trial_.report.evaluation.candidate_time->median_ms;

  for (const bool again : {false, true}) {
    // An output that need not depend on the inputs need not read them, nor be written anew. One
    // that is an input need not be written. Both are the task's doing, and its tags say so.
    const std::vector<std::string> tags = TaskTags();
    const bool constant = Contains(tags, "constant-output") || Contains(tags, "cached-output") ||
                          Contains(tags, "accepts-zeros");
    const bool in_place = trial_.task.config.inplace || trial_.session->reference_mutates ||
                          Contains(tags, "identity");
    stats::TaskWork reads;
    stats::TaskWork writes;
    stats::TaskWork perfect;  // what a perfect kernel does, as far as it is known
    if (!constant && work.value("reads_everything", false))
      reads.read_bytes = work.value("input_bytes", 0.0);
    if (!constant && work.value("reads_whole_operands", false))
      perfect.read_bytes = work.value("input_bytes", 0.0) + work.value("weight_bytes", 0.0);
    if (!constant && !in_place)
      writes.written_bytes = std::min(work.value("output_bytes", 0.0),
                                      WrittenBytes(trial_.pairs.record.back().candidate.outputs));
    perfect.written_bytes = writes.written_bytes;
    // Of the reference: the arithmetic no kernel needs to do, but one without a better algorithm.
    stats::TaskWork arithmetic;
    if (trial_.task.config.precision == config::Precision::kFp32)
      arithmetic.flops = work.value("flops", 0.0);

    stats::DevicePeaks read_peaks;
    stats::DevicePeaks write_peaks;
    stats::AttainableRates rates;
    json measured;
    double margin = kCudaMargin;
    if (trial_.job.target == Target::kCpu) {
      auto core = trial_.context.machine->PeaksOfCore(again);
      auto together = CpuRates(perfect.read_bytes + perfect.written_bytes);
      if (!core.ok() || !together.ok()) return true;  // nothing to hold the time against
      rates = *together;
      const double threads = trial_.context.threads;
      read_peaks.bytes_per_second = threads * core->read_bytes_per_second;
      write_peaks.bytes_per_second = threads * core->write_bytes_per_second;
      read_peaks.flops_per_second = write_peaks.flops_per_second =
          threads * core->fp32_flops_per_second;
      measured = {{"threads", trial_.context.threads}, {"one_core", ToJson(*core)}};
      measured.update(ToJson(rates));
      margin = kCpuMargin;
    } else {
      auto peaks = CudaPeaks(again);
      if (!peaks.ok()) return true;
      measured = *peaks;
      rates = RatesFromJson(measured);
      read_peaks.bytes_per_second =
          std::max({rates.read_bytes, rates.copy_bytes, rates.write_bytes});
      read_peaks.flops_per_second = rates.flops;
      write_peaks = read_peaks;
      write_peaks.cache_bytes = measured.value("l2_bytes", 0.0);
    }
    const auto read_bound = stats::ComputeImpossible(reads, read_peaks);
    const auto write_bound = stats::ComputeImpossible(writes, write_peaks);
    const auto compute = stats::ComputeImpossible(arithmetic, read_peaks);
    if (!read_bound.ok() || !write_bound.ok() || !compute.ok()) return true;
    const double moving_seconds = std::max(read_bound->seconds, write_bound->seconds);
    const double least_seconds = (1 - margin) * moving_seconds;
    // What PyTorch itself does in less time is possible: a view moves nothing.
    const bool bounds =
        1e-3 * trial_.report.evaluation.baseline_time.value().median_ms >= least_seconds;
    const bool below = bounds && !(seconds >= least_seconds);
    const bool fewer = compute->seconds > 0 && seconds < kFewerOperations * compute->seconds;
    if (!fewer) perfect.flops = arithmetic.flops;
    const auto attainable = stats::ComputeAttainable(perfect, rates);
    if (!attainable.ok()) return true;
    trial_.report.evidence.roofline = {1e3 * attainable->seconds,
                                       attainable->memory_bound,
                                       perfect.read_bytes + perfect.written_bytes,
                                       perfect.flops,
                                       bounds ? 1e3 * least_seconds : 0.0,
                                       measured};
    if ((below || !bounds) && !again) {
      // Before anyone is accused or let go: peaks once more, which may have been measured beside
      // other work, and the task's tags whatever they cost.
      if (!trial_.admission.contains("tags") && !trial_.protocol.published)
        if (auto asked = AskAdmission(std::nullopt); asked.ok()) trial_.admission = *asked;
      continue;
    }
    if (below) {
      return Verdict(Broken(
          Rule::kBelowRoofline,
          fmt::format(
              "{:.4g} ms is less than the {:.4g} ms that moving the task's inputs and outputs "
              "takes at this device's best rate: work was skipped or the time is false",
              1e3 * seconds, 1e3 * moving_seconds)));
    }
    if (fewer) trial_.report.evaluation.AddLabel(Label::kFewerOperations);
    return true;
  }
  return true;
}

void Examination::ProbeNonfinite() {
  if (trial_.report.failure || trial_.report.evaluation.correct != true ||
      !trial_.protocol.second_opinion || trial_.candidate.timed.built_variant != 0)
    return;
  const auto give_up = [&](std::string why) {
    trial_.report.evidence.nonfinite = {{"not_asked", std::move(why)}};
  };
  auto prepared =
      trial_.session->oracle->Ask({{"op", "nonfinite"}, {"seed", trial_.secret.Next() >> 1}});
  if (!prepared.ok()) return give_up(prepared.status().message());
  if (prepared->ok.at("args").is_null()) return give_up("no floating input");
  trial_.inputs.call_seed = prepared->ok.at("call_seed");
  auto call = Call(&trial_.candidate.timed, 0, prepared->ok.at("args"));
  if (!call.ok()) return give_up(call.status().message());
  json layout;
  auto uncollected = Collect(&trial_.candidate.timed, &*call, 0, &layout);
  if (!uncollected.ok()) return give_up(uncollected.status().message());
  if (*uncollected) return give_up((*uncollected)->message);
  auto compared = trial_.session->oracle->Ask({{"op", "nonfinite_compare"}, {"outputs", layout}});
  if (!compared.ok()) return give_up(compared.status().message());
  json& found = trial_.report.evidence.nonfinite;
  found = compared->ok;
  found.erase("seconds");
  if (found.value("missing", int64_t{0}) > 0)
    trial_.report.evaluation.AddLabel(Label::kNanNotPropagated);
  if (found.value("extra", int64_t{0}) > 0)
    trial_.report.evaluation.AddLabel(Label::kNanAnsweredOtherwise);
}

}  // namespace davinci::judge
