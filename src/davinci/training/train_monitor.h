// The collapse monitors (rl/collapse_monitor.h) in the loop of `davinci train`: replies of a step
// by agent and turn, the figures of the log, and what a checkpoint holds of them.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/rl/collapse_monitor.h"
#include "davinci/training/training_batch.h"

namespace davinci::training {

class TrainMonitor {
 public:
  explicit TrainMonitor(const rl::CollapseOptions& options) : monitor_(options) {}

  // `entropies`: of each sample, nats a token; < 0: unknown. Writes "replies" and, by agent and
  // turn, "reply_length", "repetition", "first_token_drift" and "reply_entropy". Returns the
  // alerts.
  std::vector<std::string> Observe(const TrainingBatch& batch, std::span<const double> entropies,
                                   nlohmann::ordered_json* line);

  nlohmann::json State() const;
  // A state without monitors (null) begins anew.
  Status Restore(const nlohmann::json& state);

 private:
  rl::CollapseMonitor monitor_;
};

}  // namespace davinci::training
