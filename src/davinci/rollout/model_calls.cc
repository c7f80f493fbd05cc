#include "davinci/rollout/model_calls.h"

#include <chrono>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/json_text.h"
#include "davinci/llm/token_count.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

double NowUnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Result<ModelCall> CallFrom(const json& body) {
  ModelCall call;
  try {
    DAVINCI_ASSIGN_OR_RETURN(call.reply, llm::ReplyFromJson(body.at("reply")));
    call.note = body.at("note");
    call.prompt_hash = body.at("prompt").get<std::string>();
    call.queue_seconds = body.at("queue_seconds").get<double>();
    call.finished_unix_s = body.at("finished_unix_s").get<double>();
  } catch (const json::exception& error) {
    return Internal(std::string("the journal holds a reply that is none: ") + error.what());
  }
  call.cost = CostOf(call.reply);
  return call;
}

}  // namespace

LlmCost CostOf(const llm::Reply& reply) {
  LlmCost cost;
  cost.calls = 1;
  cost.prompt_tokens = reply.usage.prompt_tokens;
  cost.completion_tokens = reply.usage.completion_tokens;
  cost.usd = reply.cost_usd.value_or(0);
  cost.seconds = reply.latency_s;
  return cost;
}

ModelCalls::ModelCalls(UnitLog* log, llm::Backbone* backbone, Lane* lane)
    : log_(log), backbone_(backbone), lane_(lane) {}

int64_t ModelCalls::CountTokens(std::string_view text) const {
  return backbone_ != nullptr ? backbone_->CountTokens(text) : llm::EstimateTokens(text);
}

Result<ModelCall> ModelCalls::Call(const UnitId& id, const std::function<Result<Prepared>()>& make,
                                   Urgency urgency, int64_t order, const CancelToken& cancel) {
  bool from_journal = true;
  DAVINCI_ASSIGN_OR_RETURN(const json body, log_->Do(id, [&]() -> Result<json> {
    from_journal = false;
    DAVINCI_ASSIGN_OR_RETURN(const Prepared prepared, make());
    DAVINCI_ASSIGN_OR_RETURN(const std::string prompt,
                             log_->Keep(JsonText(llm::ToJson(prepared.request))));
    DAVINCI_ASSIGN_OR_RETURN(const Lane::Place place, lane_->Enter(urgency, order, cancel));
    const Stopwatch watch;
    DAVINCI_ASSIGN_OR_RETURN(const llm::Reply reply, backbone_->Generate(prepared.request, cancel));
    return json{{"label", prepared.request.label},
                {"note", prepared.note},
                {"prompt", prompt},
                {"reply", llm::ToJson(reply)},
                {"queue_seconds", place.waited_seconds()},
                {"llm_seconds", watch.Seconds()},
                {"finished_unix_s", NowUnixSeconds()}};
  }));
  DAVINCI_ASSIGN_OR_RETURN(ModelCall call, CallFrom(body));
  call.from_journal = from_journal;
  return call;
}

}  // namespace davinci::rollout
