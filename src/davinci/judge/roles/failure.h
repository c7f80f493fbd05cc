// Failure: why an evaluation ended before its time. The candidate's fault for most outcomes; ours
// for kJudgeError.
#pragma once

#include <string>
#include <utility>

#include "davinci/data/evidence.h"
#include "davinci/data/outcome.h"

namespace davinci::judge {

struct Failure {
  Outcome outcome = Outcome::kJudgeError;
  std::string message;  // bounded, fit for a model
  FailureEvidence evidence;
};

// A candidate that broke `rule`, with the outcome of that rule.
inline Failure Broken(Rule rule, std::string message) {
  Failure failure{RowOf(rule).outcome, std::move(message), {}};
  failure.evidence.rule = rule;
  return failure;
}

}  // namespace davinci::judge
