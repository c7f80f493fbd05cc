// ModelCalls: calls of the language model as units of a run. A reply is on the disk before it
// is used, so that no reply is ever paid for twice.
//
// What the model read and drew (llm::TokenTrace), where the backbone knows it, is a blob of its
// own; the unit names it: {"trace": {"blob", "prompt_tokens", "output_tokens", "weights",
// "tokenizer", "template", "update"}}. A call that continues another one's tokens stores only what
// is new.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "davinci/base/cancel.h"
#include "davinci/base/lane.h"
#include "davinci/base/status.h"
#include "davinci/data/rollout.h"
#include "davinci/llm/backbone.h"
#include "davinci/rollout/unit_log.h"

namespace davinci::rollout {

// The models behind the agents, by role; null: the general one. Nothing is owned.
struct Backbones {
  Backbones() = default;
  Backbones(llm::Backbone* all) : general(all) {}  // NOLINT: one model for everything is the rule

  llm::Backbone* general = nullptr;  // null in a replay
  llm::Backbone* selection = nullptr;
  llm::Backbone* policy = nullptr;  // generations and the samples of an experiment
  llm::Backbone* summary = nullptr;

  llm::Backbone* Of(UnitKind kind) const;
};

// What is asked, and what the asker wants to find with the reply later.
struct Prepared {
  llm::Request request;
  nlohmann::json note;
  std::string continues =
      {};  // blob of the trace whose tokens request.prefix_tokens are; may be empty
};

struct ModelCall {
  llm::Reply reply;
  nlohmann::json note;
  std::string prompt_hash;  // of the request's JSON in the run's content store
  std::string trace_hash;   // of the trace, likewise; "": the backbone has none
  LlmCost cost;
  double queue_seconds = 0;
  double finished_unix_s = 0;
  bool from_journal = false;
};

struct WrittenReply {
  llm::Reply reply;
  nlohmann::json note;
  std::string prompt_hash = {};  // of the call that it is from, where it is from one
  int calls = 0;                 // those that it joins or was chosen from; 0: it is no model's
};

class ModelCalls {
 public:
  // Nothing is owned. `policy_update`: which weights sample, recorded with each trace; nothing: as
  // the backbone says.
  ModelCalls(UnitLog* log, Backbones backbones, Lane* lane,
             std::optional<int64_t> policy_update = std::nullopt);

  // The reply to what `make` builds; `make` is not called when the journal has the reply already.
  // Internal when the backbone did not continue request.prefix_tokens although it has tokens.
  Result<ModelCall> Call(const UnitId& id, const std::function<Result<Prepared>()>& make,
                         Urgency urgency, int64_t order, const CancelToken& cancel);

  // A reply that is no call's own, under its label: rules wrote it, or it joins those of other
  // units. `write` is not called when the journal has the reply already.
  Result<ModelCall> Written(const UnitId& id, const std::string& label,
                            const std::function<Result<WrittenReply>()>& write);

  // Of the Policy agent's backbone; the estimate in a replay.
  int64_t CountTokens(std::string_view text) const;
  int64_t CountPromptTokens(const llm::Request& request) const;
  // The least of `setting` and what that backbone allows.
  int ContextTokens(int setting) const;

 private:
  UnitLog* const log_;
  const Backbones backbones_;
  Lane* const lane_;
  const std::optional<int64_t> policy_update_;
};

// The trace in blob `name` of the run, with the ones it continues.
Result<llm::TokenTrace> LoadTrace(store::RunStore& run, const std::string& name);

// What a journalled reply cost. Sums of these restore the ledger of a run that goes on.
LlmCost CostOf(const llm::Reply& reply);

}  // namespace davinci::rollout
