// ModelCalls: calls of the language model as units of a run. A reply is on the disk before anybody
// sees it, so that no reply is ever paid for twice.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "davinci/base/cancel.h"
#include "davinci/base/status.h"
#include "davinci/data/rollout.h"
#include "davinci/llm/backbone.h"
#include "davinci/rollout/lane.h"
#include "davinci/rollout/unit_log.h"

namespace davinci::rollout {

// What is asked, and what the asker wants to find beside the reply later.
struct Prepared {
  llm::Request request;
  nlohmann::json note;
};

struct ModelCall {
  llm::Reply reply;
  nlohmann::json note;
  std::string prompt_hash;  // of the request's JSON in the run's content store
  LlmCost cost;
  double queue_seconds = 0;
  double finished_unix_s = 0;
  bool from_journal = false;
};

class ModelCalls {
 public:
  // `backbone` is null in a replay; nothing is owned.
  ModelCalls(UnitLog* log, llm::Backbone* backbone, Lane* lane);

  // The reply to what `make` builds; `make` is not called when the journal has the reply already.
  Result<ModelCall> Call(const UnitId& id, const std::function<Result<Prepared>()>& make,
                         Urgency urgency, int64_t order, const CancelToken& cancel);

  // Of the backbone that is asked; the estimate in a replay.
  int64_t CountTokens(std::string_view text) const;

 private:
  UnitLog* const log_;
  llm::Backbone* const backbone_;
  Lane* const lane_;
};

// What a journalled reply cost. Sums of these restore the ledger of a run that goes on.
LlmCost CostOf(const llm::Reply& reply);

}  // namespace davinci::rollout
