#include "davinci/rollout/part_replies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "davinci/agent/delta_reply.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/agent/python_statements.h"
#include "davinci/base/clock.h"
#include "davinci/rollout/parallel.h"

namespace davinci::rollout {
namespace {

using nlohmann::json;

Result<Prepared> PreparePart(StepRun& run, const TaskRun& task, const PlannedRollout& planned,
                             const agent::TaskBrief& brief, const UnitId& id) {
  const StepSettings& settings = run.settings;
  const ModelCalls& calls = *run.context.calls;
  DAVINCI_ASSIGN_OR_RETURN(const auto skills, run.Skills(planned.skills));
  DAVINCI_ASSIGN_OR_RETURN(
      const agent::Conversation conversation,
      agent::StartConversation(*run.context.prompts, brief, task.device, skills));
  const int room =
      calls.ContextTokens(settings.context_tokens) - settings.policy_sampling.max_tokens;
  Prepared prepared;
  DAVINCI_ASSIGN_OR_RETURN(
      prepared.request,
      agent::BuildPolicyRequest(conversation, static_cast<size_t>(std::max(room, 1)), -1,
                                [&](std::string_view text) { return calls.CountTokens(text); }));
  SetSampling(settings.policy_sampling, &prepared.request);
  prepared.request.logprobs = settings.logprobs;
  prepared.request.seed = run.Seed(task.input.id, fmt::format("policy part {}", id.sample),
                                   planned.id.rollout, id.turn);
  prepared.request.label =
      fmt::format("{} part {}", ToString(TurnId{planned.id, id.turn}), id.sample + 1);
  return prepared;
}

// The code of the reply whose forward adds nothing to its kernels' launches.
std::optional<std::string> CodeOf(const llm::Reply& reply, const agent::TaskBrief& brief) {
  const auto found = agent::ExtractReply(reply.text, reply.finish_reason, brief);
  if (!found.ok()) return std::nullopt;
  const auto forward = agent::ForwardOf(found.source);
  if (!forward || std::ranges::any_of(forward->body, [](const agent::Statement& statement) {
        return statement.text != "..." && statement.text != "pass";
      }))
    return std::nullopt;
  return found.source;
}

}  // namespace

std::vector<agent::StepPart> PartsOfTurn(const StepRun& run, const TaskRun& task,
                                         const search::TurnPlan& plan) {
  const StepSettings& settings = run.settings;
  if (settings.part_steps == 0 || settings.conversation == ConversationMode::kAppendOnly ||
      plan.form != search::PromptForm::kDialogue || !plan.shown.empty())
    return {};
  const agent::TaskBrief& brief = task.input.brief;
  return agent::PartsOf(brief.steps, brief.plan, static_cast<size_t>(settings.part_steps));
}

Result<ModelCall> CallForParts(StepRun& run, const TaskRun& task, const PlannedRollout& planned,
                               const TurnId& turn, const std::vector<agent::StepPart>& parts) {
  UnitId id = UnitOf(UnitKind::kGeneration, run.step, turn);
  const auto join = [&]() -> Result<std::pair<llm::Reply, json>> {
    const Stopwatch watch;
    std::vector<agent::TaskBrief> briefs(parts.size(), task.input.brief);
    std::vector<Result<ModelCall>> calls(parts.size(), Internal("not called"));
    ForEachInParallel(parts.size(), [&](size_t i) {
      UnitId own = id;
      own.sample = static_cast<int>(i);
      briefs[i].steps = parts[i].steps;
      briefs[i].plan = parts[i].plan;
      calls[i] = run.context.calls->Call(
          own, [&] { return PreparePart(run, task, planned, briefs[i], own); }, Urgency::kNewWork,
          task.Order(planned.id.scheme, planned.id.rollout), run.cancel());
    });
    llm::Reply reply;
    reply.cost_usd = 0;
    reply.finish_reason = llm::FinishReason::kStop;
    std::vector<std::string> codes;
    json unreadable = json::array();
    for (size_t i = 0; i < parts.size(); ++i) {
      if (!calls[i].ok()) return calls[i].status();
      const llm::Reply& own = calls[i]->reply;
      if (i == 0) reply.text = own.text;
      reply.model = own.model;
      reply.endpoint = own.endpoint;
      reply.usage.prompt_tokens += own.usage.prompt_tokens;
      reply.usage.cached_prompt_tokens += own.usage.cached_prompt_tokens;
      reply.usage.completion_tokens += own.usage.completion_tokens;
      if (own.cost_usd && reply.cost_usd)
        *reply.cost_usd += *own.cost_usd;
      else
        reply.cost_usd.reset();
      if (auto code = CodeOf(own, briefs[i]))
        codes.push_back(*std::move(code));
      else
        unreadable.push_back(i + 1);
    }
    if (!codes.empty()) reply.text = fmt::format("```python\n{}```", agent::JoinedCode(codes));
    reply.latency_s = watch.Seconds();
    json note = {{"parts", parts.size()}};
    if (!unreadable.empty()) note["unreadable"] = std::move(unreadable);
    return std::pair(std::move(reply), std::move(note));
  };
  return run.context.calls->Written(id, ToString(turn), join);
}

}  // namespace davinci::rollout
