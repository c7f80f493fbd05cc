#include "davinci/rollout/part_replies.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "davinci/agent/delta_reply.h"
#include "davinci/agent/part_code.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/agent/python_statements.h"
#include "davinci/base/clock.h"
#include "davinci/rollout/parallel.h"
#include "davinci/rollout/sound_reply.h"

namespace davinci::rollout {
namespace {

Result<Prepared> PreparePart(StepRun& run, const TaskRun& task, const PlannedRollout& planned,
                             const std::vector<skill::Skill>& skills, const agent::TaskBrief& brief,
                             const UnitId& id, int again) {
  const StepSettings& settings = run.settings;
  const ModelCalls& calls = *run.context.calls;
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
  SampleAgain(again, &prepared.request);
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

// The turn in which each part's reply is asked for: this one where there is none, or where the last
// one's kernels did not stay. All are asked again where all stayed: another reply may be faster.
std::vector<int> TurnsOfParts(int turn, size_t parts, const TurnBefore& before) {
  std::vector<int> turns(parts, turn);
  if (before.turn == 0) return turns;
  bool again = false;
  for (size_t i = 0; i < parts; ++i) {
    const std::vector<std::string>& kernels = before.joined->parts[i].kernels;
    const bool stayed = !kernels.empty() && std::ranges::none_of(kernels, [&](const auto& kernel) {
      return std::ranges::find(before.left_out, kernel, &agent::LeftOut::kernel) !=
             before.left_out.end();
    });
    if (stayed)
      turns[i] = before.joined->parts[i].turn;
    else
      again = true;
  }
  return again ? turns : std::vector<int>(parts, turn);
}

// Joins the replies to all parts, in the names of the whole.
WrittenReply JoinedReply(const std::vector<ModelCall>& calls,
                         const std::vector<agent::StepPart>& parts, const std::vector<int>& turns,
                         int turn, const agent::TaskBrief& brief) {
  llm::Reply reply;
  reply.text = calls.front().reply.text;
  reply.cost_usd = 0;
  reply.finish_reason = llm::FinishReason::kStop;
  std::vector<std::string> codes;
  std::vector<size_t> readable;
  int num_calls = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    const llm::Reply& own = calls[i].reply;
    if (auto code = CodeOf(own, brief)) {
      codes.push_back(agent::NamedAsWhole(*code, parts[i]));
      readable.push_back(i);
    }
    if (turns[i] != turn) continue;
    num_calls += calls[i].cost.calls;
    reply.model = own.model;
    reply.endpoint = own.endpoint;
    reply.usage.prompt_tokens += own.usage.prompt_tokens;
    reply.usage.cached_prompt_tokens += own.usage.cached_prompt_tokens;
    reply.usage.completion_tokens += own.usage.completion_tokens;
    if (own.cost_usd && reply.cost_usd)
      *reply.cost_usd += *own.cost_usd;
    else
      reply.cost_usd.reset();
  }
  JoinedNote note;
  for (const int asked : turns) note.parts.push_back({asked, {}});
  agent::JoinedCode joined = agent::JoinParts(codes);
  for (size_t i = 0; i < readable.size(); ++i)
    note.parts[readable[i]].kernels = std::move(joined.kernels[i]);
  if (!codes.empty()) reply.text = fmt::format("```python\n{}```", joined.code);
  return {std::move(reply), ToJson(note), "", num_calls};
}

}  // namespace

std::vector<agent::StepPart> PartsOfTurn(const StepRun& run, const TaskRun& task,
                                         const search::TurnPlan& plan, const TurnBefore& before) {
  const StepSettings& settings = run.settings;
  if (settings.part_steps == 0 || plan.form != search::PromptForm::kDialogue) return {};
  const agent::TaskBrief& brief = task.input.brief;
  auto parts = agent::PartsOf(brief.steps, brief.plan, static_cast<size_t>(settings.part_steps));
  // A run that goes on with other settings.
  const size_t asked = before.joined ? before.joined->parts.size() : 0;
  if (before.turn > 0 && asked != parts.size()) return {};
  return parts;
}

Result<ModelCall> CallForParts(StepRun& run, const TaskRun& task, const PlannedRollout& planned,
                               const TurnId& turn, const std::vector<agent::StepPart>& parts,
                               const TurnBefore& before) {
  const std::vector<int> turns = TurnsOfParts(turn.turn, parts.size(), before);
  const auto join = [&]() -> Result<WrittenReply> {
    const Stopwatch watch;
    DAVINCI_ASSIGN_OR_RETURN(const auto skills, run.Skills(planned.skills));
    std::vector<Result<ModelCall>> asked(parts.size(), Internal("not asked"));
    ForEachInParallel(parts.size(), [&](size_t i) {
      UnitId id = UnitOf(UnitKind::kGeneration, run.step, TurnId{planned.id, turns[i]});
      id.sample = static_cast<int>(i);
      agent::TaskBrief brief = task.input.brief;
      brief.steps = parts[i].steps;
      brief.plan = parts[i].plan;
      asked[i] = CallUntilSound(
          run, task.input, id,
          [&](const UnitId& unit, int again) {
            return run.context.calls->Call(
                unit, [&] { return PreparePart(run, task, planned, skills, brief, unit, again); },
                turn.turn > 1 ? Urgency::kLaterTurn : Urgency::kNewWork,
                task.Order(planned.id.scheme, planned.id.rollout), run.cancel());
          },
          [&](const llm::Reply& reply) {
            const auto code = CodeOf(reply, brief);
            return code ? agent::NamedAsWhole(*code, parts[i]) : std::string();
          });
    });
    std::vector<ModelCall> calls;
    for (Result<ModelCall>& call : asked) {
      if (!call.ok()) return call.status();
      calls.push_back(std::move(call).value());
    }
    auto joined = JoinedReply(calls, parts, turns, turn.turn, task.input.brief);
    joined.reply.latency_s = watch.Seconds();
    return joined;
  };
  return run.context.calls->Written(UnitOf(UnitKind::kGeneration, run.step, turn), ToString(turn),
                                    join);
}

}  // namespace davinci::rollout
