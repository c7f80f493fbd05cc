#include "davinci/judge/check/returned_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "davinci/judge/roles/output_arena.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

// Elements that an output's strides are believed to span at most.
constexpr int64_t kMostElements = int64_t{1} << 33;
// Elements of every output that are overwritten once it has been read, and with what: 3.4e38 as
// fp32 and bf16, NaN as fp16, a large integer.
constexpr int kOverwritten = 256;
constexpr char kOverwriteByte = 0x7f;

// Where outputs lie: address and bytes of each that has any.
std::vector<std::pair<uint64_t, uint64_t>> MemoryRanges(const std::vector<OutputTensor>& outputs) {
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
void LookAtMemory(Target target, Candidate* candidate, SecretStream* secret,
                  const std::vector<OutputTensor>& outputs, const VariantFacts& facts) {
  const bool on_host = target == Target::kCpu;
  const worker::Process& process = candidate->timed.runner->process();
  const std::vector<size_t> own = NotLent(outputs, facts);
  std::vector<OutputTensor> kept;
  for (const size_t i : own) {
    kept.push_back(outputs[i]);
    if (OverlapsItself(outputs[i])) candidate->shares_outputs = true;
    for (size_t j = 0; j < outputs.size(); ++j) {
      if (NumElements(outputs[j]) == 0 || outputs[j].value) continue;
      const bool begin_alike =
          facts.begins[i] != facts.begins[j] && outputs[i].address == outputs[j].address;
      if (begin_alike || (facts.regions[i] != facts.regions[j] && Overlap(outputs[i], outputs[j])))
        candidate->shares_outputs = true;
    }
  }
  if (!on_host) return;
  if (process.SharesMemory(MemoryRanges(kept))) candidate->shares_outputs = true;
  if (candidate->shares_outputs) return;
  for (const OutputTensor& output : kept) {
    const int64_t elements = NumElements(output);
    const auto size = static_cast<uint64_t>(ElementBytes(output.dtype));
    std::vector<uint64_t> places;
    for (int k = 0; k < kOverwritten; ++k) {
      uint64_t at = secret->Below(static_cast<uint64_t>(elements));
      uint64_t address = output.address;
      for (size_t d = output.shape.size(); d-- > 0;) {
        const auto n = static_cast<uint64_t>(output.shape[d]);
        address += at % n * static_cast<uint64_t>(output.stride[d]) * size;
        at /= n;
      }
      places.push_back(address);
    }
    if (!process.FillPieces(places, size, kOverwriteByte)) candidate->shares_outputs = true;
  }
}

}  // namespace

std::optional<Failure> LocateOutputs(Trial& trial, const Timed& timed, CallResult* call,
                                     int variant, json* layout) {
  if (call->failure) return call->failure;
  const VariantFacts& facts = trial.session->facts[static_cast<size_t>(variant)].value();
  if (auto failure = CheckSignature(call->structure, call->outputs, facts.structure, facts.outputs,
                                    TargetName(trial.job.target)))
    return failure;
  const bool on_host = trial.job.target == Target::kCpu;
  const worker::Process& process = timed.runner->process();
  std::vector<OutputTensor> own;
  for (const size_t i : NotLent(call->outputs, facts)) own.push_back(call->outputs[i]);
  if (on_host && timed.side == Side::kCandidate)  // before they are read
    call->unwritten_pages = process.UnwrittenPages(MemoryRanges(own));
  if (on_host)
    if (auto failure = trial.session->arena.Collect(process, timed.side, call->outputs, layout))
      return failure;
  if (timed.side == Side::kCandidate)
    LookAtMemory(trial.job.target, &trial.candidate, &trial.secret, call->outputs, facts);
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

std::vector<size_t> NotLent(const std::vector<OutputTensor>& outputs, const VariantFacts& facts) {
  std::vector<size_t> own;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!facts.lent[i] && !outputs[i].value && NumElements(outputs[i]) > 0) own.push_back(i);
  return own;
}

to_oracle::Settle SettleRequest(const Candidate& candidate, SecretStream* secret,
                                const Timed& timed, const json& layout,
                                const std::vector<size_t>& own) {
  to_oracle::Settle request = {.outputs = layout};
  if (timed.side == Side::kCandidate && !candidate.shares_outputs)
    request.overwrite = {.which = own, .seed = secret->Next() >> 1};
  return request;
}

std::optional<Failure> SharedOutput(const Candidate& candidate) {
  if (!candidate.shares_outputs) return std::nullopt;
  return Broken(Rule::kSharedOutput,
                "an output lies in memory that it shares with the inputs, with itself or with "
                "another output, or that cannot be written to; the reference returns memory of "
                "its own, so must the candidate");
}

Result<std::optional<Failure>> UnreadableOutput(const Session& session, const Status& status) {
  if (session.oracle->process().WaitForDeath()) return status;
  return std::optional<Failure>(
      Broken(Rule::kUnreadableOutput,
             "an output has no readable device memory behind it; return an ordinary tensor (" +
                 status.message() + ")"));
}

Result<std::optional<Failure>> CollectOutputs(Trial& trial, Timed* timed, CallResult* call,
                                              int variant, json* layout) {
  std::optional<Failure> failure = LocateOutputs(trial, *timed, call, variant, layout);
  if (failure || trial.job.target == Target::kCpu) return failure;
  const VariantFacts& facts = trial.session->facts[static_cast<size_t>(variant)].value();
  const auto settled = trial.session->oracle->Ask(SettleRequest(
      trial.candidate, &trial.secret, *timed, *layout, NotLent(call->outputs, facts)));
  if (!settled.ok()) return UnreadableOutput(*trial.session, settled.status());
  return failure;
}

}  // namespace davinci::judge
