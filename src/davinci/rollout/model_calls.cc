#include "davinci/rollout/model_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/json_text.h"
#include "davinci/llm/token_count.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

Result<ModelCall> CallFrom(const json& body) {
  ModelCall call;
  try {
    DAVINCI_ASSIGN_OR_RETURN(call.reply, llm::ReplyFromJson(body.at("reply")));
    call.note = body.at("note");
    call.prompt_hash = body.at("prompt").get<std::string>();
    call.queue_seconds = body.at("queue_seconds").get<double>();
    call.finished_unix_s = body.at("finished_unix_s").get<double>();
  } catch (const json::exception& error) {
    return Internal(std::string("corrupt journal record (reply): ") + error.what());
  }
  if (const auto trace = body.find("trace"); trace != body.end() && trace->is_object())
    call.trace_hash = trace->value("blob", "");
  call.cost = CostOf(call.reply);
  if (const int calls = body.value("calls", 0); calls > 0) {
    call.cost.calls = calls;
    if (call.cost.unpriced > 0) call.cost.unpriced = calls;
  }
  return call;
}

// Stores the trace and gives what the unit says about it; null without a trace.
Result<json> KeepTrace(UnitLog& log, const Prepared& prepared, const llm::Reply& reply) {
  if (!reply.trace) return json();
  const llm::TokenTrace& trace = *reply.trace;
  const std::vector<llm::TokenId>& prefix = prepared.request.prefix_tokens;
  if (trace.prompt_tokens.size() < prefix.size() ||
      !std::equal(prefix.begin(), prefix.end(), trace.prompt_tokens.begin()))
    return Internal(fmt::format("{}: the backbone did not continue the {} tokens it was given",
                                prepared.request.label, prefix.size()));
  llm::TracePrefix continues;
  if (!prepared.continues.empty()) continues = {prepared.continues, prefix.size()};
  DAVINCI_ASSIGN_OR_RETURN(const std::string bytes, llm::EncodeTrace(trace, continues));
  DAVINCI_ASSIGN_OR_RETURN(const std::string blob, log.Keep(bytes));
  return json{{"blob", blob},
              {"prompt_tokens", trace.prompt_tokens.size()},
              {"output_tokens", trace.output_tokens.size()},
              {"weights", trace.weights_digest},
              {"tokenizer", trace.tokenizer_digest},
              {"template", trace.template_digest},
              {"update", trace.update}};
}

// Calls that a step can do without: a prompt that fills the whole context gets an empty reply, and
// the tasks whose prompts fit go on.
Result<llm::Reply> GenerateIfItFits(llm::Backbone* backbone, UnitKind kind,
                                    const llm::Request& request, const CancelToken& cancel) {
  Result<llm::Reply> reply = backbone->Generate(request, cancel);
  if (reply.ok() || reply.status().code() != StatusCode::kInvalidArgument) return reply;
  if (kind != UnitKind::kSelection && kind != UnitKind::kSummary && kind != UnitKind::kSample)
    return reply;
  const int64_t context = backbone->ContextTokens();
  if (context <= 0 || backbone->CountPromptTokens(request) < context) return reply;
  llm::Reply none;
  none.finish_reason = llm::FinishReason::kLength;
  return none;
}

}  // namespace

LlmCost CostOf(const llm::Reply& reply) {
  LlmCost cost;
  if (reply.model == kRulesModel) return cost;
  cost.calls = 1;
  cost.prompt_tokens = reply.usage.prompt_tokens;
  cost.completion_tokens = reply.usage.completion_tokens;
  cost.usd = reply.cost_usd.value_or(0);
  cost.unpriced = reply.cost_usd ? 0 : 1;
  cost.seconds = reply.latency_s;
  return cost;
}

llm::Backbone* Backbones::Of(UnitKind kind) const {
  llm::Backbone* own = kind == UnitKind::kSelection ? selection
                       : kind == UnitKind::kSummary ? summary
                                                    : policy;
  return own != nullptr ? own : general;
}

Result<llm::TokenTrace> LoadTrace(store::RunStore& run, const std::string& name) {
  // From the last one back to the first, which continues nothing, and forward again.
  std::vector<std::string> chain;
  for (std::string next = name; !next.empty();) {
    DAVINCI_ASSIGN_OR_RETURN(std::string bytes, run.GetBlob(next));
    DAVINCI_ASSIGN_OR_RETURN(const llm::TracePrefix prefix, llm::PrefixOf(bytes));
    chain.push_back(std::move(bytes));
    next = prefix.name;
  }
  llm::TokenTrace trace;
  for (auto bytes = chain.rbegin(); bytes != chain.rend(); ++bytes) {
    const bool first = bytes == chain.rbegin();
    DAVINCI_ASSIGN_OR_RETURN(trace, llm::DecodeTrace(*bytes, first ? std::vector<llm::TokenId>()
                                                                   : llm::AllTokens(trace)));
  }
  return trace;
}

ModelCalls::ModelCalls(UnitLog* log, Backbones backbones, Lane* lane,
                       std::optional<int64_t> policy_update)
    : log_(log), backbones_(backbones), lane_(lane), policy_update_(policy_update) {}

int64_t ModelCalls::CountTokens(std::string_view text) const {
  const llm::Backbone* backbone = backbones_.Of(UnitKind::kGeneration);
  return backbone != nullptr ? backbone->CountTokens(text) : llm::EstimateTokens(text);
}

int64_t ModelCalls::CountPromptTokens(const llm::Request& request) const {
  const llm::Backbone* backbone = backbones_.Of(UnitKind::kGeneration);
  return backbone != nullptr ? backbone->CountPromptTokens(request)
                             : llm::EstimatePromptTokens(request);
}

int ModelCalls::ContextTokens(int setting) const {
  const llm::Backbone* backbone = backbones_.Of(UnitKind::kGeneration);
  const int64_t most = backbone != nullptr ? backbone->ContextTokens() : 0;
  return most > 0 ? static_cast<int>(std::min<int64_t>(most, setting)) : setting;
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
    llm::Backbone* backbone = backbones_.Of(id.kind);
    DAVINCI_ASSIGN_OR_RETURN(llm::Reply reply,
                             GenerateIfItFits(backbone, id.kind, prepared.request, cancel));
    if (reply.trace && policy_update_) reply.trace->update = *policy_update_;
    const double llm_seconds = watch.Seconds();
    DAVINCI_ASSIGN_OR_RETURN(json trace, KeepTrace(*log_, prepared, reply));
    json body = {{"label", prepared.request.label},
                 {"note", prepared.note},
                 {"prompt", prompt},
                 {"reply", llm::ToJson(reply)},
                 {"queue_seconds", place.waited_seconds()},
                 {"llm_seconds", llm_seconds},
                 {"finished_unix_s", NowUnixSeconds()}};
    if (!trace.is_null()) body["trace"] = std::move(trace);
    return body;
  }));
  DAVINCI_ASSIGN_OR_RETURN(ModelCall call, CallFrom(body));
  call.from_journal = from_journal;
  return call;
}

Result<ModelCall> ModelCalls::Written(const UnitId& id, const std::string& label,
                                      const std::function<Result<WrittenReply>()>& write) {
  bool from_journal = true;
  DAVINCI_ASSIGN_OR_RETURN(const json body, log_->Do(id, [&]() -> Result<json> {
    from_journal = false;
    DAVINCI_ASSIGN_OR_RETURN(const auto written, write());
    json body = {{"label", label},
                 {"note", written.note},
                 {"prompt", written.prompt_hash},
                 {"reply", llm::ToJson(written.reply)},
                 {"queue_seconds", 0.0},
                 {"llm_seconds", 0.0},
                 {"finished_unix_s", NowUnixSeconds()}};
    if (written.calls > 0) body["calls"] = written.calls;
    return body;
  }));
  DAVINCI_ASSIGN_OR_RETURN(ModelCall call, CallFrom(body));
  call.from_journal = from_journal;
  return call;
}

}  // namespace davinci::rollout
