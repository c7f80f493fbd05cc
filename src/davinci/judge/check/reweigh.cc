#include "davinci/judge/check/reweigh.h"

#include <string>
#include <vector>

namespace davinci::judge {

Result<std::optional<Failure>> Reweigh(Trial& trial, std::optional<uint64_t> seed) {
  using Maybe = std::optional<Failure>;
  const std::string matched = trial.report.evaluation.provenance.value("weights", "");
  if (matched.empty() || trial.protocol.published) return Maybe();
  DAVINCI_ASSIGN_OR_RETURN(auto drawn,
                           trial.session->oracle->Ask(to_oracle::Reweigh{
                               seed ? *seed : trial.secret.Next() >> 1, matched == "names"}));
  if (!drawn.ok.at("changed").get<bool>()) return Maybe();
  const to_runner::Request take =
      to_runner::TakeState{.variant = 0, .exported = std::move(drawn.ok)};
  std::vector<int> fds;
  for (const UniqueFd& fd : drawn.fds) fds.push_back(fd.get());
  // The baseline first: the candidate could write into what both read.
  for (const Side side : {Side::kBaseline, Side::kCandidate}) {
    for (const Timed* timed : TimedOf(trial, side)) {
      const Answer copied =
          timed->runner->AskFrozen(take, trial.protocol.load_timeout_seconds, fds);
      if (!copied.failure) continue;
      if (side == Side::kCandidate) return Maybe(copied.failure);
      return Internal(copied.failure->message);
    }
  }
  ++trial.weights.count;
  trial.weights.right_since = false;
  return Maybe();
}

}  // namespace davinci::judge
