#include "davinci/judge/trial/bind_variant.h"

#include <algorithm>
#include <string>
#include <vector>

#include "davinci/judge/request/baselines.h"
#include "davinci/judge/roles/output_arena.h"
#include "davinci/judge/roles/runner_replies.h"
#include "davinci/judge/trial/device_share.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

constexpr char kReseeded[] = "reseeded";    // weights, as a runner says it took them over
constexpr uint64_t kMostPadding = 1 << 21;  // bytes: a huge page

bool IsOrder(const json& order) {
  return order.is_array() && std::ranges::all_of(order, &json::is_number_unsigned);
}

// Is it one pair of Runner._op_state: name, index of a tensor that was wanted, order of dimensions?
bool IsPair(const json& pair, size_t num_wanted) {
  return pair.is_array() && pair.size() == 3 && pair[0].is_string() &&
         pair[1].is_number_unsigned() && pair[1].get<size_t>() < num_wanted && IsOrder(pair[2]);
}

// The outputs of a variant may be larger than those of the one before.
Status FitOutputs(Target target, Session* session, const VariantFacts& facts) {
  if (target == Target::kCuda || session->arena.Fits(facts.outputs)) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(session->arena, OutputArena::Create(facts.outputs));
  const int fds[] = {session->arena.fd()};
  return session->oracle->Ask(to_oracle::MapOutputs{session->arena.num_bytes()}, fds).status();
}

// Which of the reference's tensors each of the candidate's took over in a variant, as the runner
// says: [[name, index, order of dimensions]], null where its weights were reseeded.
void KeepHandover(Candidate* candidate, int variant, const from_runner::TookState& took,
                  size_t num_wanted) {
  const bool readable =
      took.pairs.is_array() && took.matched != kReseeded &&
      std::ranges::all_of(took.pairs, [&](const json& pair) { return IsPair(pair, num_wanted); });
  candidate->handovers[variant] = readable ? took.pairs : json();
}

// Marks those tensors of the weights that the reference does not read; false: there are none.
Result<bool> MarkUnread(Trial& trial, int variant, to_runner::TakeState* state) {
  DAVINCI_RETURN_IF_ERROR(ShareDevice(trial));
  DAVINCI_ASSIGN_OR_RETURN(const auto answer, trial.session->oracle->Ask(to_oracle::Unread{
                                                  variant, trial.secret.Next() >> 1}));
  const std::vector<std::string> names = answer.ok.get<from_oracle::Unread>().names;
  bool found = false;
  for (json& tensor : state->exported.at("tensors")) {
    const bool unread =
        std::ranges::find(names, tensor.at("name").get<std::string>()) != names.end();
    if (unread) tensor["optional"] = true;
    found |= unread;
  }
  state->again = found;
  return found;
}

}  // namespace

Result<const VariantFacts*> FactsOf(Trial& trial, int variant) {
  auto& slot = trial.session->facts[static_cast<size_t>(variant)];
  if (!slot) {
    const double patience = DescribeSeconds(trial.protocol.call_timeout_seconds);
    DAVINCI_ASSIGN_OR_RETURN(
        slot, Describe(*trial.session->oracle, variant, trial.secret.Next() >> 1, patience));
  }
  return &*slot;
}

Result<std::optional<Failure>> BindVariant(Trial& trial, Timed* timed, int variant) {
  using Maybe = std::optional<Failure>;
  DAVINCI_ASSIGN_OR_RETURN(const VariantFacts* facts, FactsOf(trial, variant));
  DAVINCI_RETURN_IF_ERROR(FitOutputs(trial.job.target, trial.session.get(), *facts));
  auto ask = [&](const to_runner::Request& request, std::span<const int> fds = {}) {
    return AskNow(*timed->runner, request, trial.protocol.load_timeout_seconds, Outcome::kLoadError,
                  fds);
  };
  to_runner::Construct construct = {.variant = variant,
                                    .init = facts->init,
                                    .seed = trial.session->init_seed,
                                    .mode = facts->mode};
  // Where a process's tensors lie decides some per cent of its calls: another place in each.
  if (trial.job.target == Target::kCpu)
    construct.padding = trial.secret.Below(kMostPadding) / 64 * 64;
  if (trial.protocol.published) construct.cast = trial.task.config.precision;
  if (timed == &trial.session->baseline && IsCompiled(trial.job.baseline))
    construct.compile = trial.job.baseline == "compile"
                            ? "default"
                            : trial.job.baseline.substr(sizeof "compile-" - 1);
  if (Answer built = ask(construct); built.failure) return Maybe(built.failure);

  // A module without state (functional tasks) has nothing to copy.
  if (facts->num_weights > 0) {
    DAVINCI_ASSIGN_OR_RETURN(auto exported, trial.session->oracle->Ask(to_oracle::State{variant}));
    to_runner::TakeState take = {.variant = variant, .exported = std::move(exported.ok)};
    std::vector<int> fds;
    for (const UniqueFd& fd : exported.fds) fds.push_back(fd.get());
    Answer copied = ask(take, fds);
    if (timed == &trial.candidate.timed && !copied.failure &&
        copied.ok.get<from_runner::TookState>().matched == kReseeded) {
      DAVINCI_ASSIGN_OR_RETURN(const bool fewer, MarkUnread(trial, variant, &take));
      if (fewer) copied = ask(take, fds);
    }
    if (copied.failure) return Maybe(copied.failure);
    const auto took = copied.ok.get<from_runner::TookState>();
    const std::string& matched = took.matched;
    if (timed == &trial.candidate.timed)
      KeepHandover(&trial.candidate, variant, took, facts->num_weights);
    if (matched != "names" && matched != "values" && matched != "shapes" && matched != kReseeded) {
      return Maybe(
          Broken(Rule::kControlChannel, "the candidate tampered with how weights are handed over"));
    }
    if (timed == &trial.candidate.timed && matched == kReseeded) {
      // Documented fallback: both sides keep the weights drawn from the same seed, which then
      // cannot be randomised.
      if (variant == 0) {
        trial.report.evaluation.AddLabel(Label::kWeightsReseeded);
        trial.session->spoilt = true;
        DAVINCI_RETURN_IF_ERROR(trial.session->oracle->Ask(to_oracle::Unrandomise{}).status());
        DAVINCI_RETURN_IF_ERROR(BindVariant(trial, &trial.session->baseline, 0).status());
      }
    } else if (timed == &trial.candidate.timed) {
      trial.report.evaluation.provenance["weights"] = matched;
    }
  }

  DAVINCI_ASSIGN_OR_RETURN(auto arena, trial.session->oracle->Ask(to_oracle::MakeArena{
                                           timed->name, facts->slot_bytes, facts->num_slots}));
  const auto made = arena.ok.get<from_oracle::Arena>();
  to_runner::Bind bind = {
      .variant = variant, .inputs = facts->inputs, .kept = facts->kept, .bytes = made.bytes};
  for (const OutputTensor& output : facts->outputs)
    bind.contiguous.push_back(IsContiguous(output) ? std::optional(NumElements(output))
                                                   : std::nullopt);
  bind.handle = made.handle;
  std::vector<int> fds;
  for (const UniqueFd& fd : arena.fds) fds.push_back(fd.get());
  if (Answer bound = ask(bind, fds); bound.failure) return Maybe(bound.failure);
  timed->built_variant = variant;
  return Maybe();
}

}  // namespace davinci::judge
