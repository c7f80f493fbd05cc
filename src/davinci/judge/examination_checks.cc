// The correctness half of an examination: fresh secret inputs, one call, comparison by the oracle.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "davinci/judge/examination.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// One call with more CPU time than this while frozen means something woke the process. Not less:
// the kernel books the time of a thread that is just stopping up to a scheduler tick late. The
// median over all calls is held to a far tighter bound.
constexpr int64_t kMaxOutsideCpuNs = 20'000'000;
constexpr int kRepeatsToTellNondeterminism = 2;
// A GPU's host has cores to spare; on the cpu target the spinning core would be taken from the
// candidate.
constexpr double kSpinSeconds = 0.05;

}  // namespace

Result<json> Examination::Prepare(const std::string& distribution, int variant, bool truth,
                                  std::optional<uint64_t> seed) {
  DAVINCI_ASSIGN_OR_RETURN(auto prepared,
                           oracle_->Ask({{"op", "prepare"},
                                         {"seed", seed ? *seed : secret_.Next() >> 1},
                                         {"distribution", distribution},
                                         {"variant", variant},
                                         {"truth", truth}}));
  return prepared.ok;
}

Result<CallResult> Examination::Call(Timed* timed, int variant, const std::string& args) {
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, Facts(variant));
  // Pointers rotate unpredictably: a slot says nothing about contents.
  slot_ = static_cast<int>(secret_.Below(static_cast<uint64_t>(facts->num_slots)));
  const int64_t shift = slot_ * facts->slot_bytes;
  current_shift_[static_cast<int>(timed->side)] = shift;
  if (timed->side == Side::kCandidate) last_args_ = args;
  json message = {{"op", "arm"}, {"shift", shift}, {"args", args}};
  if (facts->reseed_calls) message["seed"] = init_seed_ + 1;
  CallResult call;
  call.failure = timed->runner->Arm(message, CallTimeout());
  if (call.failure) return call;
  DAVINCI_RETURN_IF_ERROR(oracle_
                              ->Ask({{"op", "publish"},
                                     {"name", timed->name},
                                     {"shift", shift},
                                     {"slot_bytes", facts->slot_bytes}})
                              .status());
  call = timed->runner->Call(CallTimeout(), job_.target == Target::kCuda ? kSpinSeconds : 0.0);
  timed->outside_cpu_ns.push_back(call.outside_cpu_ns);
  return call;
}

Result<std::optional<Failure>> Examination::Collect(Timed* timed, CallResult* call, int variant,
                                                    json* layout) {
  using Maybe = std::optional<Failure>;
  if (call->failure) return Maybe(call->failure);
  const VariantFacts& facts = *facts_[static_cast<size_t>(variant)];
  if (auto failure = CheckSignature(call->structure, call->outputs, facts.structure, facts.outputs,
                                    TargetName(job_.target)))
    return Maybe(failure);
  if (job_.target == Target::kCpu)
    return Maybe(arena_.Collect(timed->runner->process(), timed->side, call->outputs, layout));
  *layout = json::array();
  for (const OutputTensor& t : call->outputs) {
    json item = {{"dtype", t.dtype}, {"shape", t.shape}, {"stride", t.stride}, {"ipc", t.ipc}};
    if (t.value) item["value"] = *t.value;
    layout->push_back(std::move(item));
  }
  Stopwatch settling;
  auto settled = oracle_->Ask({{"op", "settle"}, {"outputs", *layout}});
  call->settle_ns = static_cast<int64_t>(1e9 * settling.Seconds());
  if (settled.ok()) return Maybe();
  Failure failure{Outcome::kPolicyViolation,
                  "an output has no readable device memory behind it; return an ordinary tensor (" +
                      settled.status().message() + ")",
                  {}};
  failure.evidence["rule"] = "unreadable_output";
  if (oracle_->process().WaitForDeath()) return settled.status();
  return Maybe(failure);
}

Result<std::optional<Failure>> Examination::CheckSettled() {
  using Maybe = std::optional<Failure>;
  if (job_.target == Target::kCpu) return Maybe();
  DAVINCI_ASSIGN_OR_RETURN(auto settled, oracle_->Ask({{"op", "settled"}}));
  if (!settled.ok.value("late", false)) return Maybe();
  Failure failure{
      Outcome::kInvalidTiming,
      "the outputs went on changing after forward returned: work was left running on the device",
      {}};
  failure.evidence["rule"] = "late_writes";
  return Maybe(failure);
}

Result<std::optional<Failure>> Examination::CheckInputsIntact(Timed* timed, int variant) {
  using Maybe = std::optional<Failure>;
  if (reference_mutates_ || task_.config.inplace) return Maybe();
  DAVINCI_ASSIGN_OR_RETURN(
      auto intact, oracle_->Ask({{"op", "intact"},
                                 {"name", timed->name},
                                 {"shift", current_shift_[static_cast<int>(timed->side)]}}));
  if (intact.ok.at("changed").is_null()) return Maybe();
  Failure failure{
      Outcome::kPolicyViolation,
      fmt::format("forward changed its input {}; the reference leaves inputs as they are",
                  intact.ok["changed"].get<int>()),
      {}};
  failure.evidence["rule"] = "input_mutation";
  return Maybe(failure);
}

std::optional<Failure> Examination::CheckOutside(const Timed& timed) const {
  if (timed.outside_cpu_ns.empty()) return std::nullopt;
  const int64_t worst = timed.outside_cpu_ns.back();
  if (worst <= kMaxOutsideCpuNs) return std::nullopt;
  return WorkedWhileStopped(1e-9 * static_cast<double>(worst));
}

Failure Examination::WorkedWhileStopped(double cpu_seconds) {
  Failure failure{
      Outcome::kInvalidTiming,
      fmt::format("the candidate used {:.3f} ms of CPU time while it was stopped between calls",
                  1e3 * cpu_seconds),
      {}};
  failure.evidence["rule"] = "work_outside_window";
  return failure;
}

Failure Examination::MismatchFailure(const json& comparison, const std::string& distribution,
                                     int variant) const {
  Failure failure;
  failure.outcome = Outcome::kMismatch;
  failure.evidence["comparison"] = comparison;
  failure.evidence["distribution"] = distribution;
  failure.evidence["variant"] = variant;
  const json& outputs = comparison.at("outputs");
  for (size_t i = 0; i < outputs.size(); ++i) {
    const json& o = outputs[i];
    if (o.value("passed", false)) continue;
    std::string where = outputs.size() > 1 ? fmt::format("output {}: ", i) : std::string();
    std::string shapes;
    if (variant > 0)
      shapes =
          fmt::format(" with {}", task_.config.variants[static_cast<size_t>(variant - 1)].dump());
    failure.message =
        fmt::format("{}{} of {} values are outside the tolerance on {} inputs{}", where,
                    o.value("wrong", int64_t{0}), o.value("elements", int64_t{0}),
                    distribution == "own" ? "the task's own" : "\"" + distribution + "\"", shapes);
    if (o.contains("first_wrong") && o["first_wrong"]["index"].is_array())
      failure.message +=
          fmt::format("; first at {}: expected {}, got {}", o["first_wrong"]["index"].dump(),
                      o["first_wrong"]["expected"].dump(), o["first_wrong"]["got"].dump());
    if (o.contains("worst") && o["worst"]["index"].is_array())
      failure.message +=
          fmt::format("; worst at {}: error {}, allowed {}", o["worst"]["index"].dump(),
                      o["worst"]["error"].dump(), o["worst"]["tolerance"].dump());
    break;
  }
  return failure;
}

Result<std::optional<Failure>> Examination::CheckOne(const CheckStep& step, int variant) {
  using Maybe = std::optional<Failure>;
  const uint64_t seed = secret_.Next() >> 1;
  DAVINCI_ASSIGN_OR_RETURN(json prepared, Prepare(step.distribution, variant, true, seed));
  const std::string args = prepared.at("args");
  const std::string distribution = prepared.value("distribution", step.distribution);
  const bool first = !correct_known_;
  DAVINCI_ASSIGN_OR_RETURN(CallResult call, Call(&candidate_, variant, args));
  json layout;
  DAVINCI_ASSIGN_OR_RETURN(auto uncollected, Collect(&candidate_, &call, variant, &layout));
  if (uncollected) return Maybe(uncollected);
  correct_known_ = true;
  if (auto failure = CheckOutside(candidate_)) return Maybe(failure);
  DAVINCI_ASSIGN_OR_RETURN(auto compared, oracle_->Ask({{"op", "compare"}, {"outputs", layout}}));
  DAVINCI_ASSIGN_OR_RETURN(auto late, CheckSettled());
  if (late) return Maybe(late);
  DAVINCI_ASSIGN_OR_RETURN(auto mutated, CheckInputsIntact(&candidate_, variant));
  if (mutated) return Maybe(mutated);
  DAVINCI_RETURN_IF_ERROR(AskPublishedRule(distribution, variant, layout, compared.ok));
  json& checks = evaluation_.evidence["checks"];
  json record = {
      {"distribution", distribution}, {"variant", variant}, {"passed", compared.ok.at("passed")}};
  double worst = 0;
  for (const json& o : compared.ok.at("outputs"))
    if (o.at("max_ratio").is_number()) worst = std::max(worst, o["max_ratio"].get<double>());
  record["error_over_tolerance"] = worst;
  checks.push_back(record);
  if (variant == 0 && first) {
    // The baseline answers the same question: a reference that fails its own tolerance is no
    // oracle.
    DAVINCI_ASSIGN_OR_RETURN(CallResult own, Call(&baseline_, variant, args));
    json own_layout;
    DAVINCI_ASSIGN_OR_RETURN(auto broken, Collect(&baseline_, &own, variant, &own_layout));
    if (broken) return InvalidArgument(fmt::format("{}: {}", task_.path, broken->message));
    DAVINCI_ASSIGN_OR_RETURN(auto own_compared,
                             oracle_->Ask({{"op", "compare"}, {"outputs", own_layout}}));
    if (!own_compared.ok.at("passed").get<bool>())
      evaluation_.AddLabel("task: baseline outside tolerance");
  }
  if (compared.ok.at("passed").get<bool>()) return Maybe();

  Failure failure = MismatchFailure(compared.ok, distribution, variant);
  // A second look at the same inputs tells a race from a wrong formula.
  for (int i = 0; i < kRepeatsToTellNondeterminism; ++i) {
    DAVINCI_ASSIGN_OR_RETURN(CallResult again, Call(&candidate_, variant, args));
    DAVINCI_ASSIGN_OR_RETURN(auto gone, Collect(&candidate_, &again, variant, &layout));
    if (gone) break;
    DAVINCI_ASSIGN_OR_RETURN(auto repeat, oracle_->Ask({{"op", "compare"}, {"outputs", layout}}));
    const auto wrong = [](const json& c) {
      return c.at("outputs").at(0).value("wrong", int64_t{0});
    };
    if (repeat.ok.at("passed").get<bool>() || wrong(repeat.ok) != wrong(compared.ok)) {
      failure.outcome = Outcome::kNondeterministic;
      failure.message +=
          "; the same inputs gave another answer the next time (a race, or memory nobody wrote)";
      break;
    }
  }
  return Maybe(failure);
}

Result<bool> Examination::CheckVariant(int variant, bool own_size) {
  for (const CheckStep& step : protocol_.steps) {
    if (step.every_variant == own_size) continue;
    DAVINCI_ASSIGN_OR_RETURN(auto failure, CheckOne(step, variant));
    if (!failure) continue;
    return Verdict(*failure);
  }
  return true;
}

Result<bool> Examination::CheckCorrectness() {
  evaluation_.evidence["checks"] = json::array();
  DAVINCI_ASSIGN_OR_RETURN(bool go_on, CheckVariant(0, true));
  const int num_variants = static_cast<int>(task_.config.variants.size());
  for (int variant = 1; go_on && variant <= num_variants; ++variant) {
    DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&candidate_, variant));
    if (failure) return Verdict(*failure);
    DAVINCI_ASSIGN_OR_RETURN(go_on, CheckVariant(variant, false));
  }
  if (!go_on) return false;
  if (candidate_.built_variant != 0) {
    DAVINCI_ASSIGN_OR_RETURN(auto failure, BindVariant(&candidate_, 0));
    if (failure) return Verdict(*failure);
  }
  evaluation_.correct = true;
  return true;
}

}  // namespace davinci::judge
