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
  return fmt::format("{}/{}/{}/{}", task_.hash, TargetName(job_.target),
                     context_.hello.value("torch", ""), kAdmissionVersion);
}

Result<json> Examination::Admit() {
  DAVINCI_RETURN_IF_ERROR(StartSession());
  DAVINCI_RETURN_IF_ERROR(session_->oracle->AwaitReady(60));
  DAVINCI_RETURN_IF_ERROR(session_->oracle->Ask(ReferenceSpec()).status());
  DAVINCI_RETURN_IF_ERROR(Facts(0).status());
  return AskAdmission(std::nullopt);
}

Result<json> Examination::Trace() {
  // Of a session, the oracle alone: nothing is timed.
  session_ = std::make_unique<Session>();
  session_->facts.resize(1 + task_.config.variants.size());
  session_->init_seed = session_->secret.Next() >> 1;
  DAVINCI_ASSIGN_OR_RETURN(session_->work, MakeTempDir("davinci-session"));
  DAVINCI_RETURN_IF_ERROR(StartOracle());
  DAVINCI_RETURN_IF_ERROR(session_->oracle->AwaitReady(60));
  DAVINCI_RETURN_IF_ERROR(session_->oracle->Ask(ReferenceSpec()).status());
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  const auto ask = [&](size_t variant) {
    return session_->oracle->Ask(
        {{"op", "graph"}, {"variant", variant}, {"seed", secret_.Next() >> 1}});
  };
  DAVINCI_ASSIGN_OR_RETURN(auto answer, ask(0));
  json& shapes = answer.ok["shapes"] = json::array();
  if (answer.ok.contains("untraceable")) return answer.ok;
  for (size_t variant = 1; variant <= task_.config.variants.size(); ++variant) {
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
  json request = {{"op", "admit"}, {"seed", secret_.Next() >> 1}};
  if (budget_seconds) request["budget_seconds"] = *budget_seconds;
  DAVINCI_ASSIGN_OR_RETURN(auto answer, session_->oracle->Ask(request));
  if (context_.facts != nullptr && answer.ok.contains("tags"))
    (void)context_.facts->Put("admission", AdmissionKey(), answer.ok);
  return answer.ok;
}

void Examination::LearnTask() {
  if (!admission_.is_null()) return;
  if (context_.facts != nullptr)
    if (auto known = context_.facts->Get("admission", AdmissionKey()); known.ok() && *known)
      admission_ = **known;
  // Only the oracle of the full question can answer: with weights as initialised, other tags may
  // hold.
  const bool able = session_ && session_->oracle && session_->facts[0] &&
                    failure_ == std::nullopt && !protocol_.published &&
                    !evaluation_.HasLabel(Label::kWeightsReseeded);
  if (admission_.is_null() && able) {
    auto asked = AskAdmission(kAdmissionBudgetSeconds);
    admission_ = asked.ok() ? *asked : json{{"failed", asked.status().message()}};
  }
}

std::vector<std::string> Examination::TaskTags() const {
  std::vector<std::string> tags = task_.config.tags;
  if (const auto found = admission_.find("tags");
      admission_.is_object() && found != admission_.end())
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
  std::optional<PublishedRuleEvidence>& opinion = evidence_.kernelbench;
  const std::optional<double> tolerance = PublishedTolerance(task_.config.precision);
  if (!tolerance) {
    opinion.emplace().why = "the published rule knows fp32, fp16 and bf16 only";
    return Status::Ok();
  }
  json found = compared;
  if (!protocol_.published) {
    if (!protocol_.second_opinion || distribution != "task" || variant != 0) return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(auto asked, session_->oracle->Ask({{"op", "published_compare"},
                                                                {"outputs", layout},
                                                                {"tolerance", *tolerance}}));
    found = asked.ok;
  }
  if (!opinion) {
    opinion.emplace().tolerance = *tolerance;
    opinion->compared = protocol_.published
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
  share_.Release();
  gpu::LeaseRequest request;
  request.mode = gpu::LeaseMode::kExclusive;
  request.purpose = "measuring peaks";
  return context_.leases->Acquire(DeviceKey(), request);
}

Result<stats::AttainableRates> Examination::CpuRates(double bytes) {
  if (const auto known = context_.machine->RatesIfKnown(context_.threads, bytes)) return *known;
  DAVINCI_ASSIGN_OR_RETURN(const gpu::DeviceLease lease, MeasureAlone());
  // Another examination may have measured them meanwhile.
  if (const auto known = context_.machine->RatesIfKnown(context_.threads, bytes)) return *known;
  return context_.machine->Rates(context_.threads, bytes);
}

Result<json> Examination::CudaPeaks(bool remeasure) {
  const std::string key = "cuda/2/" + context_.device;
  json known;
  if (context_.facts != nullptr)
    if (auto found = context_.facts->Get("peaks", key); found.ok() && *found) known = **found;
  if (!known.is_null() && !remeasure) return known;
  DAVINCI_ASSIGN_OR_RETURN(gpu::DeviceLease lease, MeasureAlone());
  DAVINCI_ASSIGN_OR_RETURN(auto measured, session_->oracle->Ask({{"op", "peaks"}}));
  lease.Release();
  json peaks = measured.ok;
  peaks.erase("seconds");
  for (const char* rate : {"copy_gb_per_s", "read_gb_per_s", "write_gb_per_s", "fp32_tflops"})
    if (known.is_object() && known.contains(rate))
      peaks[rate] = std::max(peaks.value(rate, 0.0), known[rate].get<double>());
  if (context_.facts != nullptr) (void)context_.facts->Put("peaks", key, peaks);
  return peaks;
}

Result<bool> Examination::CheckRoofline() {
  if (!evaluation_.candidate_time || pairs_.empty()) return true;
  const json work = session_->facts[0].value().raw.value("work", json());
  if (!work.is_object()) return true;
  const double seconds = 1e-3 * evaluation_.candidate_time->median_ms;

  for (const bool again : {false, true}) {
    // An output that need not depend on the inputs need not read them, nor be written anew. One
    // that is an input need not be written. Both are the task's doing, and its tags say so.
    const std::vector<std::string> tags = TaskTags();
    const bool constant = Contains(tags, "constant-output") || Contains(tags, "cached-output") ||
                          Contains(tags, "accepts-zeros");
    const bool in_place =
        task_.config.inplace || session_->reference_mutates || Contains(tags, "identity");
    stats::TaskWork reads;
    stats::TaskWork writes;
    stats::TaskWork perfect;  // what a perfect kernel does, as far as it is known
    if (!constant && work.value("reads_everything", false))
      reads.read_bytes = work.value("input_bytes", 0.0);
    if (!constant && work.value("reads_whole_operands", false))
      perfect.read_bytes = work.value("input_bytes", 0.0) + work.value("weight_bytes", 0.0);
    if (!constant && !in_place)
      writes.written_bytes =
          std::min(work.value("output_bytes", 0.0), WrittenBytes(pairs_.back().candidate.outputs));
    perfect.written_bytes = writes.written_bytes;
    // Of the reference: the arithmetic no kernel needs to do, but one without a better algorithm.
    stats::TaskWork arithmetic;
    if (task_.config.precision == config::Precision::kFp32)
      arithmetic.flops = work.value("flops", 0.0);

    stats::DevicePeaks read_peaks;
    stats::DevicePeaks write_peaks;
    stats::AttainableRates rates;
    json measured;
    double margin = kCudaMargin;
    if (job_.target == Target::kCpu) {
      auto core = context_.machine->PeaksOfCore(again);
      auto together = CpuRates(perfect.read_bytes + perfect.written_bytes);
      if (!core.ok() || !together.ok()) return true;  // nothing to hold the time against
      rates = *together;
      const double threads = context_.threads;
      read_peaks.bytes_per_second = threads * core->read_bytes_per_second;
      write_peaks.bytes_per_second = threads * core->write_bytes_per_second;
      read_peaks.flops_per_second = write_peaks.flops_per_second =
          threads * core->fp32_flops_per_second;
      measured = {{"threads", context_.threads}, {"one_core", ToJson(*core)}};
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
    const bool bounds = 1e-3 * evaluation_.baseline_time.value().median_ms >= least_seconds;
    const bool below = bounds && !(seconds >= least_seconds);
    const bool fewer = compute->seconds > 0 && seconds < kFewerOperations * compute->seconds;
    if (!fewer) perfect.flops = arithmetic.flops;
    const auto attainable = stats::ComputeAttainable(perfect, rates);
    if (!attainable.ok()) return true;
    evidence_.roofline = {1e3 * attainable->seconds,
                          attainable->memory_bound,
                          perfect.read_bytes + perfect.written_bytes,
                          perfect.flops,
                          bounds ? 1e3 * least_seconds : 0.0,
                          measured};
    if ((below || !bounds) && !again) {
      // Before anyone is accused or let go: peaks once more, which may have been measured beside
      // other work, and the task's tags whatever they cost.
      if (!admission_.contains("tags") && !protocol_.published)
        if (auto asked = AskAdmission(std::nullopt); asked.ok()) admission_ = *asked;
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
    if (fewer) evaluation_.AddLabel(Label::kFewerOperations);
    return true;
  }
  return true;
}

void Examination::ProbeNonfinite() {
  if (failure_ || evaluation_.correct != true || !protocol_.second_opinion ||
      candidate_.built_variant != 0)
    return;
  const auto give_up = [&](std::string why) {
    evidence_.nonfinite = {{"not_asked", std::move(why)}};
  };
  auto prepared = session_->oracle->Ask({{"op", "nonfinite"}, {"seed", secret_.Next() >> 1}});
  if (!prepared.ok()) return give_up(prepared.status().message());
  if (prepared->ok.at("args").is_null()) return give_up("no floating input");
  call_seed_ = prepared->ok.at("call_seed");
  auto call = Call(&candidate_, 0, prepared->ok.at("args"));
  if (!call.ok()) return give_up(call.status().message());
  json layout;
  auto uncollected = Collect(&candidate_, &*call, 0, &layout);
  if (!uncollected.ok()) return give_up(uncollected.status().message());
  if (*uncollected) return give_up((*uncollected)->message);
  auto compared = session_->oracle->Ask({{"op", "nonfinite_compare"}, {"outputs", layout}});
  if (!compared.ok()) return give_up(compared.status().message());
  json& found = evidence_.nonfinite;
  found = compared->ok;
  found.erase("seconds");
  if (found.value("missing", int64_t{0}) > 0) evaluation_.AddLabel(Label::kNanNotPropagated);
  if (found.value("extra", int64_t{0}) > 0) evaluation_.AddLabel(Label::kNanAnsweredOtherwise);
}

}  // namespace davinci::judge
