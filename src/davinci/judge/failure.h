// Failure: why an evaluation ended before its time. The candidate's fault for most outcomes; ours
// for kJudgeError.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "davinci/data/evaluation.h"

namespace davinci::judge {

struct Failure {
  Outcome outcome = Outcome::kJudgeError;
  std::string message;                                 // bounded, fit for a model
  nlohmann::json evidence = nlohmann::json::object();  // merged into Evaluation::evidence
};

}  // namespace davinci::judge
