// Evaluations for tests, with what the judge would have measured.
#pragma once

#include <limits>

#include "davinci/data/evaluation.h"

namespace davinci::agent::testing {

inline Evaluation Timed(double median, double low, double high) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::kOk;
  evaluation.correct = true;
  evaluation.message = "correct on every check";
  evaluation.speedup = Speedup{median, low, high, low > 1.02 || high < 0.98, "eager"};
  evaluation.candidate_time = TimeSummary{2.0 / median, 1.9 / median, 2.2 / median, 24};
  evaluation.baseline_time = TimeSummary{2.0, 1.9, 2.2, 24};
  return evaluation;
}
// An interval of +-`relative`.
inline Evaluation Timed(double median, double relative = 0.01) {
  return Timed(median, median * (1 - relative), median * (1 + relative));
}
inline Evaluation Failed(Outcome outcome, std::string message = "") {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.message = std::move(message);
  if (outcome == Outcome::kMismatch) evaluation.correct = false;
  return evaluation;
}
inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

}  // namespace davinci::agent::testing
