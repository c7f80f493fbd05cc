#include "davinci/judge/trial/contained.h"

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "davinci/judge/trial/candidate_process.h"
#include "davinci/judge/trial/trial_session.h"

namespace davinci::judge {

// One candidate never ends the process that judges others: what it sends is read by type
// (untrusted_json.h), and what was overlooked there ends its own trial only.
Result<Evaluation> Contained(Trial& trial, Result<Evaluation> (*steps)(Trial&)) {
  const auto guarded = [&]() -> Result<Evaluation> {
    try {
      return steps(trial);
    } catch (const nlohmann::json::exception& error) {
      return Internal(fmt::format("{}: a message of its process could not be understood: {}",
                                  trial.job.candidate_path, error.what()));
    } catch (const std::exception& error) {
      return Internal(fmt::format("{}: its examination ended unexpectedly: {}",
                                  trial.job.candidate_path, error.what()));
    }
  };
  auto evaluation = guarded();
  if (evaluation.ok() && SharesProcess(trial)) LetGoOfCandidate(trial, &*evaluation);
  ReturnSession(trial, evaluation.ok());
  return evaluation;
}

}  // namespace davinci::judge
