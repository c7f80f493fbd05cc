// The correctness half of an examination: fresh secret inputs, one call, comparison by the oracle.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "davinci/base/json_text.h"
#include "davinci/judge/baselines.h"
#include "davinci/judge/examination.h"
#include "davinci/judge/untrusted_json.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// One call with more CPU time than this while frozen means something woke the process. Not less:
// the kernel books the time of a thread that is just stopping up to a scheduler tick late. The
// median over all calls is held to a far tighter bound.
constexpr int64_t kMaxOutsideCpuNs = 20'000'000;
// Distributions that need another copy of the inputs are left out above this size.
constexpr int64_t kCopiedBytes = int64_t{1} << 30;
constexpr std::string_view kCopied[] = {"small_scale", "degenerate", "large_mean"};
constexpr int kRepeatsToTellNondeterminism = 2;
// A library that adds in another order the next time moves a few values over the tolerance's edge:
// this much of the wrong ones says nothing about a race.
constexpr double kAtTheEdge = 0.01;
// Elements that an output's strides are believed to span at most.
constexpr int64_t kMostElements = int64_t{1} << 33;
// Elements of every output that are overwritten once it has been read, and with what: 3.4e38 as
// fp32 and bf16, NaN as fp16, a large integer.
constexpr int kOverwritten = 256;
constexpr char kOverwriteByte = 0x7f;
constexpr double kOverwrittenValue = 3.39e38;

// Two comparisons of what one candidate made of the same inputs.
bool OtherValuesAreWrong(const json& first, const json& second) {
  const auto wrong = [](const json& comparison) {
    int64_t sum = 0;
    for (const json& o : comparison.at("outputs")) sum += o.value("wrong", int64_t{0});
    return sum;
  };
  const auto [fewer, more] = std::minmax({wrong(first), wrong(second)});
  return static_cast<double>(more - fewer) > kAtTheEdge * static_cast<double>(more);
}

// The part of an answer with this number, as the beginning of a sentence: what forward returned
// comes first, then the buffers that it writes to, then the inputs.
std::string WhereInAnswer(const VariantFacts& facts, size_t part, size_t num_parts) {
  const size_t num_outputs = facts.outputs.size();
  const json kept = facts.raw.value("kept", json::array());
  const json left = facts.raw.value("left_in", json::array());
  const size_t first_kept = num_outputs - std::min(num_outputs, kept.size());
  if (part >= num_outputs) {
    const size_t at = part - num_outputs;
    return at < left.size() ? fmt::format("input {} after the call: ", left[at].get<int>())
                            : "an input after the call: ";
  }
  if (part >= first_kept)
    return fmt::format("buffer {} after the call: ",
                       kept[part - first_kept].get_ref<const std::string&>());
  return num_parts > 1 ? fmt::format("output {}: ", part) : std::string();
}

}  // namespace

Result<json> Examination::Prepare(const std::string& distribution, int variant, bool truth,
                                  std::optional<uint64_t> seed) {
  DAVINCI_ASSIGN_OR_RETURN(
      auto prepared, trial_.session->oracle->Ask(PrepareRequest(
                         distribution, variant, truth, seed ? *seed : trial_.secret.Next() >> 1)));
  if (const auto peak = prepared.ok.find("peak_bytes"); peak != prepared.ok.end())
    DeviceMemory().oracle_peak_bytes = *peak;
  trial_.inputs.call_seed = prepared.ok.at("call_seed");
  return prepared.ok;
}

json Examination::PrepareRequest(const std::string& distribution, int variant, bool truth,
                                 uint64_t seed) const {
  return {{"op", "prepare"},
          {"seed", seed},
          {"distribution", distribution},
          {"variant", variant},
          {"truth", truth}};
}

Status Examination::ShareDevice() {
  if (trial_.device.share.held()) {
    if (!trial_.context.leases->ExclusiveIsDue(DeviceKey())) return Status::Ok();
    trial_.device.share.Release();
  }
  DAVINCI_ASSIGN_OR_RETURN(trial_.device.share,
                           trial_.context.leases->Acquire(
                               DeviceKey(), DeviceRequest(gpu::LeaseMode::kShared, "checking")));
  return Status::Ok();
}

gpu::LeaseRequest Examination::DeviceRequest(gpu::LeaseMode mode, std::string_view what) const {
  gpu::LeaseRequest request;
  request.mode = mode;
  request.purpose = fmt::format("{} {}", what, trial_.job.candidate_path);
  if (trial_.job.progress)
    request.on_wait = [this](const std::string& holder) {
      trial_.job.progress(fmt::format("{}: another process has the device{}{}", trial_.clock.stage,
                                      holder.empty() ? "" : "; timed last: ", holder));
    };
  return request;
}

json Examination::ArmMessage(Timed* timed, const VariantFacts& facts, const std::string& args) {
  // Pointers rotate unpredictably: a slot says nothing about contents.
  const auto slot =
      static_cast<int64_t>(trial_.secret.Below(static_cast<uint64_t>(facts.num_slots)));
  trial_.inputs.shift[static_cast<int>(timed->side)] = slot * facts.slot_bytes;
  if (timed->side == Side::kCandidate) trial_.inputs.last_args = args;
  json message = {{"op", "arm"}, {"shift", slot * facts.slot_bytes}, {"args", args}};
  if (facts.reseed_calls) message["seeded"] = true;
  return message;
}

json Examination::PublishRequest(const Timed& timed, const VariantFacts& facts) const {
  return {{"op", "publish"},
          {"name", timed.name},
          {"shift", trial_.inputs.shift[static_cast<int>(timed.side)]},
          {"slot_bytes", facts.slot_bytes}};
}

std::optional<Failure> Examination::KeepsDeviceBusy(const SlowCall& call) const {
  if (!call.must_end()) return std::nullopt;
  return Failure{Outcome::kTimeout,
                 fmt::format("forward was still running on the device after {:.2g} s, while others "
                             "waited to be timed, and was stopped; does a kernel never end?",
                             call.seconds()),
                 {}};
}

Result<CallResult> Examination::CallPublished(Timed* timed, bool gated) {
  CallOptions options;
  options.timeout_seconds = CallTimeout();
  if (timed->side == Side::kBaseline && BaselineCompiles())  // at the first call of a shape
    options.timeout_seconds =
        std::max(options.timeout_seconds, trial_.protocol.baseline_compile_timeout_seconds);
  options.spin_seconds = trial_.job.target == Target::kCuda ? kSpinSeconds : 0.0;
  options.bind_to_last_core = trial_.job.target == Target::kCpu;
  if (trial_.session->facts[0] && trial_.session->facts[0].value().reseed_calls)
    options.seed = trial_.inputs.call_seed;
  Status shared = Status::Ok();
  std::shared_ptr<const SlowCall> slow;
  if (trial_.device.share.held()) {
    // A candidate that compiles for long must not keep the device from those who wait to be timed.
    options.on_slow = [&] {
      trial_.device.share.Release();
      if (trial_.job.target == Target::kCuda) slow = trial_.context.slow_calls->Add(DeviceKey());
    };
    options.while_slow = [&] { return slow ? KeepsDeviceBusy(*slow) : std::nullopt; };
    if (gated) {
      options.on_compile = [&] { trial_.device.share.Release(); };
      options.on_gate = [&] { shared = ShareDevice(); };
      options.spin_seconds = 0;
    }
  }
  // Threads of the oracle's parallel loops look for more work for some milliseconds, on cores that
  // the call needs.
  worker::Process& oracle = trial_.session->oracle->process();
  const bool hush = trial_.job.target == Target::kCpu;
  if (hush) DAVINCI_RETURN_IF_ERROR(oracle.Freeze());
  CallResult call = timed->runner->Call(options);
  if (hush) DAVINCI_RETURN_IF_ERROR(oracle.Thaw());
  DAVINCI_RETURN_IF_ERROR(shared);
  timed->outside_cpu_ns.push_back(call.outside_cpu_ns);
  return call;
}

Result<CallResult> Examination::Call(Timed* timed, int variant, const std::string& args) {
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(variant));
  json message = ArmMessage(timed, *facts, args);
  // Triton compiles at the first call of a shape: while it does, others may be timed.
  const bool gated = timed->side == Side::kCandidate && trial_.candidate.gate_variant != variant &&
                     trial_.candidate.uses_triton && trial_.job.target == Target::kCuda;
  if (gated) {
    message["gate"] = true;
    trial_.candidate.gate_variant = variant;
  }
  CallResult call;
  call.failure = timed->runner->AskFrozen(message, CallTimeout()).failure;
  if (call.failure) return call;
  DAVINCI_RETURN_IF_ERROR(trial_.session->oracle->Ask(PublishRequest(*timed, *facts)).status());
  return CallPublished(timed, gated);
}

std::optional<Failure> Examination::Locate(const Timed& timed, CallResult* call, int variant,
                                           json* layout) {
  if (call->failure) return call->failure;
  const VariantFacts& facts = trial_.session->facts[static_cast<size_t>(variant)].value();
  if (auto failure = CheckSignature(call->structure, call->outputs, facts.structure, facts.outputs,
                                    TargetName(trial_.job.target)))
    return failure;
  const bool on_host = trial_.job.target == Target::kCpu;
  const worker::Process& process = timed.runner->process();
  std::vector<OutputTensor> own;
  for (const size_t i : NotLent(call->outputs, facts)) own.push_back(call->outputs[i]);
  if (on_host && timed.side == Side::kCandidate)  // before they are read
    call->unwritten_pages = process.UnwrittenPages(Ranges(own));
  if (on_host)
    if (auto failure = trial_.session->arena.Collect(process, timed.side, call->outputs, layout))
      return failure;
  if (timed.side == Side::kCandidate) LookAtMemory(call->outputs, facts);
  if (on_host) return std::nullopt;
  *layout = json::array();
  for (const OutputTensor& t : call->outputs) {
    json item = {{"dtype", t.dtype}, {"shape", t.shape}, {"stride", t.stride}, {"ipc", t.ipc}};
    if (t.value)
      item["value"] = std::isfinite(*t.value) ? json(*t.value) : json(fmt::format("{}", *t.value));
    layout->push_back(std::move(item));
  }
  return std::nullopt;
}

std::vector<std::pair<uint64_t, uint64_t>> Examination::Ranges(
    const std::vector<OutputTensor>& outputs) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const OutputTensor& output : outputs) {
    if (NumElements(output) == 0 || output.value) continue;
    int64_t span = 1;
    for (size_t d = 0; d < std::min(output.shape.size(), output.stride.size()); ++d) {
      int64_t step = 0;
      if (__builtin_mul_overflow(output.shape[d] - 1, output.stride[d], &step))
        step = kMostElements;
      span += std::clamp(step, int64_t{0}, kMostElements);
    }
    ranges.emplace_back(output.address, static_cast<uint64_t>(span * ElementBytes(output.dtype)));
  }
  return ranges;
}

// What a call returns is the caller's: it lies in memory of its own, and may be overwritten. So it
// is, at secret places; who goes on from what it returned before, instead of computing it, is
// wrong. On cuda the oracle overwrites it (SettleRequest()), and memory of the inputs cannot be
// exported to it.
void Examination::LookAtMemory(const std::vector<OutputTensor>& outputs,
                               const VariantFacts& facts) {
  const bool on_host = trial_.job.target == Target::kCpu;
  const worker::Process& process = trial_.candidate.timed.runner->process();
  const std::vector<size_t> own = NotLent(outputs, facts);
  std::vector<OutputTensor> kept;
  for (const size_t i : own) {
    kept.push_back(outputs[i]);
    if (OverlapsItself(outputs[i])) trial_.candidate.shares_outputs = true;
    for (size_t j = 0; j < outputs.size(); ++j) {
      if (NumElements(outputs[j]) == 0 || outputs[j].value) continue;
      const bool begin_alike =
          facts.begins[i] != facts.begins[j] && outputs[i].address == outputs[j].address;
      if (begin_alike || (facts.regions[i] != facts.regions[j] && Overlap(outputs[i], outputs[j])))
        trial_.candidate.shares_outputs = true;
    }
  }
  if (!on_host) return;
  if (process.SharesMemory(Ranges(kept))) trial_.candidate.shares_outputs = true;
  if (trial_.candidate.shares_outputs) return;
  for (const OutputTensor& output : kept) {
    const int64_t elements = NumElements(output);
    const auto size = static_cast<uint64_t>(ElementBytes(output.dtype));
    std::vector<uint64_t> places;
    for (int k = 0; k < kOverwritten; ++k) {
      uint64_t at = trial_.secret.Below(static_cast<uint64_t>(elements));
      uint64_t address = output.address;
      for (size_t d = output.shape.size(); d-- > 0;) {
        const auto n = static_cast<uint64_t>(output.shape[d]);
        address += at % n * static_cast<uint64_t>(output.stride[d]) * size;
        at /= n;
      }
      places.push_back(address);
    }
    if (!process.FillPieces(places, size, kOverwriteByte)) trial_.candidate.shares_outputs = true;
  }
}

std::vector<size_t> Examination::NotLent(const std::vector<OutputTensor>& outputs,
                                         const VariantFacts& facts) {
  std::vector<size_t> own;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!facts.lent[i] && !outputs[i].value && NumElements(outputs[i]) > 0) own.push_back(i);
  return own;
}

json Examination::SettleRequest(const Timed& timed, const VariantFacts& facts, const json& layout,
                                const std::vector<OutputTensor>& outputs) {
  json request = {{"op", "settle"}, {"outputs", layout}};
  if (timed.side == Side::kCandidate && !trial_.candidate.shares_outputs)
    request["overwrite"] = {{"seed", trial_.secret.Next() >> 1},
                            {"which", NotLent(outputs, facts)}};
  return request;
}

std::optional<Failure> Examination::SharedOutput() const {
  if (!trial_.candidate.shares_outputs) return std::nullopt;
  return Broken(Rule::kSharedOutput,
                "an output lies in memory that it shares with the inputs, with itself or with "
                "another output, or that cannot be written to; the reference returns memory of "
                "its own, so must the candidate");
}

Result<std::optional<Failure>> Examination::Unreadable(const Status& status) {
  if (trial_.session->oracle->process().WaitForDeath()) return status;
  return std::optional<Failure>(
      Broken(Rule::kUnreadableOutput,
             "an output has no readable device memory behind it; return an ordinary tensor (" +
                 status.message() + ")"));
}

Result<std::optional<Failure>> Examination::Collect(Timed* timed, CallResult* call, int variant,
                                                    json* layout) {
  std::optional<Failure> failure = Locate(*timed, call, variant, layout);
  if (failure || trial_.job.target == Target::kCpu) return failure;
  const VariantFacts& facts = trial_.session->facts[static_cast<size_t>(variant)].value();
  const auto settled =
      trial_.session->oracle->Ask(SettleRequest(*timed, facts, *layout, call->outputs));
  if (!settled.ok()) return Unreadable(settled.status());
  return failure;
}

Failure Examination::LateWrites() {
  return Broken(
      Rule::kLateWrites,
      "the outputs went on changing after forward returned: work was left running on the device");
}

Failure Examination::InputMutation(int input) {
  return Broken(
      Rule::kInputMutation,
      fmt::format("forward changed its input {}; the reference leaves inputs as they are", input));
}

json Examination::VerifyRequest(const json& layout, const json& baseline_layout, bool against_truth,
                                bool samples_are_the_candidates) const {
  json request = {{"op", "verify"},
                  {"outputs", layout},
                  {"truth", against_truth},
                  {"settled", samples_are_the_candidates && trial_.job.target == Target::kCuda}};
  if (!baseline_layout.is_null()) request["baseline"] = baseline_layout;
  request["left"] = {{"outputs", InputsOf(trial_.candidate.timed)},
                     {"baseline", InputsOf(trial_.session->baseline)}};
  if (!trial_.session->reference_mutates && !trial_.task.config.inplace)
    request["intact"] = InputsOf(trial_.candidate.timed);
  return request;
}

json Examination::InputsOf(const Timed& timed) const {
  return {{"name", timed.name}, {"shift", trial_.inputs.shift[static_cast<int>(timed.side)]}};
}

json Examination::CompareRequest(const Timed& timed, const json& layout) const {
  return {{"op", "compare"}, {"outputs", layout}, {"left", {{"outputs", InputsOf(timed)}}}};
}

json Examination::Verified(const json& found, std::optional<Failure>* broken) {
  if (found.value("late", false)) {
    *broken = LateWrites();
  } else if (const auto changed = found.find("changed");
             changed != found.end() && changed->is_number_integer()) {
    *broken = InputMutation(changed->get<int>());
  }
  return found.at("comparison");
}

std::optional<Failure> Examination::CheckOutside(const Timed& timed) const {
  if (SharesProcess() && timed.side == Side::kCandidate && !trial_.job.compile_only)
    if (auto helpers = HelperProcesses()) return helpers;
  if (timed.outside_cpu_ns.empty()) return std::nullopt;
  const int64_t worst = timed.outside_cpu_ns.back();
  if (worst <= kMaxOutsideCpuNs) return std::nullopt;
  return WorkedWhileStopped(1e-9 * static_cast<double>(worst));
}

Failure Examination::WorkedWhileStopped(double cpu_seconds) {
  return Broken(
      Rule::kWorkOutsideWindow,
      fmt::format("the candidate used {:.3f} ms of CPU time while it was stopped between calls",
                  1e3 * cpu_seconds));
}

Failure Examination::MismatchFailure(const json& comparison, const std::string& distribution,
                                     int variant) const {
  Failure failure;
  failure.outcome = Outcome::kMismatch;
  failure.evidence.mismatch = {comparison, distribution, variant, trial_.weights.count};
  const json& outputs = comparison.at("outputs");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const json& o = outputs[i];
    if (o.value("passed", false)) continue;
    const std::string where = WhereInAnswer(
        trial_.session->facts[static_cast<size_t>(variant)].value(), i, outputs.size());
    std::string shapes;
    if (variant > 0)
      shapes = fmt::format(" with {}",
                           JsonText(trial_.task.config.variants[static_cast<size_t>(variant - 1)]));
    else if (Shrunk() != nullptr)
      shapes = fmt::format(" with {}", JsonText(Shrunk()->at("set")));
    const std::string inputs =
        distribution == "task" ? "the task's own" : "\"" + distribution + "\"";
    if (o.value("wrong", int64_t{0}) == 0) {  // all values together, or none could be judged
      failure.message =
          fmt::format("{}on {} inputs{}: {}", where, inputs, shapes, o.value("text", "wrong"));
      break;
    }
    failure.message =
        fmt::format("{}{} of {} values are outside the tolerance on {} inputs{}", where,
                    o.value("wrong", int64_t{0}), o.value("elements", int64_t{0}), inputs, shapes);
    if (o.contains("first_wrong") && o["first_wrong"]["index"].is_array())
      failure.message +=
          fmt::format("; first at {}: expected {}, got {}", JsonText(o["first_wrong"]["index"]),
                      JsonText(o["first_wrong"]["expected"]), JsonText(o["first_wrong"]["got"]));
    if (o.contains("first_wrong") &&
        std::abs(NumberIn(o["first_wrong"], "got", 0) / kOverwrittenValue - 1) < 0.01)
      failure.message +=
          " (a part of what an earlier call returned: that was overwritten since, as a caller may)";
    if (o.contains("worst") && o["worst"]["index"].is_array())
      failure.message +=
          fmt::format("; worst at {}: error {}, allowed {}", JsonText(o["worst"]["index"]),
                      JsonText(o["worst"]["error"]), JsonText(o["worst"]["tolerance"]));
    break;
  }
  if (!trial_.weights.right_since)
    failure.message +=
        "; its weights had been written to since it was last right, so if it keeps something "
        "computed from them: that has to be computed in every call, or kept together with their "
        "_version";
  return failure;
}

Result<std::optional<Failure>> Examination::Reweigh(std::optional<uint64_t> seed) {
  using Maybe = std::optional<Failure>;
  const std::string matched = trial_.report.evaluation.provenance.value("weights", "");
  if (matched.empty() || trial_.protocol.published) return Maybe();
  DAVINCI_ASSIGN_OR_RETURN(
      auto drawn, trial_.session->oracle->Ask({{"op", "reweigh"},
                                               {"seed", seed ? *seed : trial_.secret.Next() >> 1},
                                               {"buffers", matched == "names"}}));
  if (!drawn.ok.at("changed").get<bool>()) return Maybe();
  json message = drawn.ok;
  message["op"] = "state";
  message["variant"] = 0;
  std::vector<int> fds;
  for (const UniqueFd& fd : drawn.fds) fds.push_back(fd.get());
  // The baseline first: the candidate could write into what both read.
  for (const Side side : {Side::kBaseline, Side::kCandidate}) {
    for (const Timed* timed : TimedOf(side)) {
      const Answer copied =
          timed->runner->AskFrozen(message, trial_.protocol.load_timeout_seconds, fds);
      if (!copied.failure) continue;
      if (side == Side::kCandidate) return Maybe(copied.failure);
      return Internal(copied.failure->message);
    }
  }
  ++trial_.weights.count;
  trial_.weights.right_since = false;
  return Maybe();
}

Result<json> Examination::PrepareCheck(const CheckStep& step, int variant) {
  const size_t position = trial_.report.evidence.checks.value().size();
  json request = PrepareRequest(
      step.distribution, variant, true,
      trial_.session->CheckSeed(fmt::format("{} {} {}", trial_.protocol.name, position, variant)));
  request["keep"] = true;
  DAVINCI_ASSIGN_OR_RETURN(auto prepared, trial_.session->oracle->Ask(request));
  if (const auto peak = prepared.ok.find("peak_bytes"); peak != prepared.ok.end())
    DeviceMemory().oracle_peak_bytes = *peak;
  trial_.inputs.call_seed = prepared.ok.at("call_seed");
  return prepared.ok;
}

Result<std::optional<Failure>> Examination::CheckOne(const CheckStep& step, int variant) {
  using Maybe = std::optional<Failure>;
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_ASSIGN_OR_RETURN(json prepared, PrepareCheck(step, variant));
  const std::string args = prepared.at("args");
  const std::string distribution = prepared.value("distribution", step.distribution);
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_ASSIGN_OR_RETURN(CallResult call, Call(&trial_.candidate.timed, variant, args));
  json layout;
  DAVINCI_ASSIGN_OR_RETURN(auto uncollected,
                           Collect(&trial_.candidate.timed, &call, variant, &layout));
  if (uncollected) {
    if (distribution != "task")  // a failure on other inputs needs their name
      uncollected->message += fmt::format(" (on \"{}\" inputs)", distribution);
    return Maybe(uncollected);
  }
  if (auto failure = CheckOutside(trial_.candidate.timed)) return Maybe(failure);
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  std::optional<Failure> broken;
  DAVINCI_ASSIGN_OR_RETURN(const auto verified,
                           trial_.session->oracle->Ask(VerifyRequest(layout, json(), true, true)));
  const json compared = Verified(verified.ok, &broken);
  if (broken) return Maybe(broken);
  DAVINCI_RETURN_IF_ERROR(ShareDevice());
  DAVINCI_RETURN_IF_ERROR(AskPublishedRule(distribution, variant, layout, compared));
  CheckEvidence check = {distribution, variant, compared.at("passed").get<bool>(), 0};
  for (const json& o : compared.at("outputs"))
    if (o.at("max_ratio").is_number())
      check.error_over_tolerance =
          std::max(check.error_over_tolerance, o["max_ratio"].get<double>());
  trial_.report.evidence.checks.value().push_back(std::move(check));
  if (variant == 0 && !trial_.session->baseline_checked) {
    // The baseline answers the same question: a reference that fails its own tolerance is no
    // oracle.
    DAVINCI_ASSIGN_OR_RETURN(CallResult own, Call(&trial_.session->baseline, variant, args));
    json own_layout;
    DAVINCI_ASSIGN_OR_RETURN(auto unreadable,
                             Collect(&trial_.session->baseline, &own, variant, &own_layout));
    if (unreadable) return ReferenceFailure(*unreadable);
    DAVINCI_ASSIGN_OR_RETURN(auto own_compared, trial_.session->oracle->Ask(CompareRequest(
                                                    trial_.session->baseline, own_layout)));
    trial_.session->baseline_outside_tolerance = !own_compared.ok.at("passed").get<bool>();
    trial_.session->baseline_checked = true;
  }
  if (trial_.session->baseline_outside_tolerance)
    trial_.report.evaluation.AddLabel(Label::kBaselineOutsideTolerance);
  if (compared.at("passed").get<bool>()) {
    trial_.weights.right_since = true;
    // Those in which what hardly ever varies does.
    if (variant == 0 && distribution != "task" && distribution != "large_mean" &&
        !distribution.starts_with("log_uniform"))
      trial_.candidate.correct_on.push_back(distribution);
    return SharedOutput();
  }

  Failure failure = MismatchFailure(compared, distribution, variant);
  // A second look at the same inputs tells a race from a wrong formula.
  for (int i = 0; i < kRepeatsToTellNondeterminism; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(CallResult again, Call(&trial_.candidate.timed, variant, args));
    DAVINCI_ASSIGN_OR_RETURN(auto gone, Collect(&trial_.candidate.timed, &again, variant, &layout));
    if (gone) break;
    json compare = CompareRequest(trial_.candidate.timed, layout);
    compare["at_a_glance"] = true;
    DAVINCI_ASSIGN_OR_RETURN(auto repeat, trial_.session->oracle->Ask(compare));
    if (repeat.ok.at("passed").get<bool>() || OtherValuesAreWrong(compared, repeat.ok)) {
      failure.outcome = Outcome::kNondeterministic;
      failure.message +=
          "; the same inputs gave another answer the next time (a race, or memory read before it "
          "is written)";
      break;
    }
  }
  return Maybe(failure);
}

Result<bool> Examination::CheckVariant(int variant, bool own_size) {
  // Weights change before the last look at the task's own size.
  const CheckStep* last = nullptr;
  for (const CheckStep& step : trial_.protocol.steps)
    if (own_size && !step.every_variant) last = &step;
  for (const CheckStep& step : trial_.protocol.steps) {
    if (step.every_variant == own_size) continue;
    if (trial_.session->facts[0].value().slot_bytes > kCopiedBytes &&
        std::ranges::find(kCopied, step.distribution) != std::end(kCopied))
      continue;
    if (&step == last) {
      DAVINCI_ASSIGN_OR_RETURN(auto failure,
                               Reweigh(trial_.session->CheckSeed("weights, last check")));
      if (failure) return Verdict(*failure);
    }
    DAVINCI_ASSIGN_OR_RETURN(auto failure, CheckOne(step, variant));
    if (!failure) continue;
    return Verdict(*failure);
  }
  return true;
}

Result<bool> Examination::CheckCorrectness() {
  trial_.report.evidence.checks.emplace();
  // Each candidate of the session begins with the same weights; it has not been called yet.
  DAVINCI_ASSIGN_OR_RETURN(const auto unweighed, Reweigh(trial_.session->CheckSeed("weights")));
  if (unweighed) return Verdict(*unweighed);
  trial_.weights.count = 0;
  trial_.weights.right_since = true;
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, CheckVariant(0, true));
  const int num_variants = static_cast<int>(trial_.task.config.variants.size());
  for (int variant = 1; go_on && variant <= num_variants; ++variant) {
    DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&trial_.candidate.timed, variant));
    if (failure) return Verdict(*failure);
    DAVINCI_ASSIGN_OR_RETURN(go_on, CheckVariant(variant, false));
  }
  if (!go_on) return false;
  if (trial_.candidate.timed.built_variant != 0) {
    DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&trial_.candidate.timed, 0));
    if (failure) return Verdict(*failure);
  }
  trial_.report.evaluation.correct = true;
  trial_.device.share.Release();
  return true;
}

}  // namespace davinci::judge
