// Selection: which skill sets are rolled out, and how often.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "davinci/agent/scheme.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/base/plural.h"
#include "davinci/base/rng.h"
#include "davinci/rollout/parallel.h"
#include "davinci/rollout/step_run.h"
#include "davinci/skill/reference_query.h"

namespace davinci::rollout {

std::string_view SelectionMethodName(SelectionMethod method) {
  switch (method) {
    case SelectionMethod::kAgent:
      return "agent";
    case SelectionMethod::kBm25:
      return "bm25";
    case SelectionMethod::kRandom:
      return "random";
  }
  return "unknown";
}

std::optional<SelectionMethod> ParseSelectionMethod(std::string_view name) {
  for (const SelectionMethod method :
       {SelectionMethod::kAgent, SelectionMethod::kBm25, SelectionMethod::kRandom})
    if (SelectionMethodName(method) == name) return method;
  return std::nullopt;
}

std::string_view TaskTextName(TaskText text) {
  switch (text) {
    case TaskText::kFile:
      return "file";
    case TaskText::kSteps:
      return "steps";
    case TaskText::kPlan:
      return "plan";
  }
  return "unknown";
}

std::optional<TaskText> ParseTaskText(std::string_view name) {
  for (const TaskText text : {TaskText::kFile, TaskText::kSteps, TaskText::kPlan})
    if (TaskTextName(text) == name) return text;
  return std::nullopt;
}

namespace {

// More than a library holds for one audience.
constexpr size_t kAllSkills = 100'000;

using nlohmann::json;

std::vector<skill::Skill> NamesOnly(const std::vector<std::string>& names) {
  std::vector<skill::Skill> skills(names.size());
  for (size_t i = 0; i < names.size(); ++i) skills[i].name = names[i];
  return skills;
}

Result<Selection> Select(StepRun& run, TaskRun& task, int scheme,
                         const std::vector<skill::Skill>& candidates) {
  const StepSettings& settings = run.settings;
  Selection selection;
  selection.task = task.input.id;
  selection.scheme = scheme;
  selection.step = run.step;
  for (const skill::Skill& candidate : candidates) selection.shown.push_back(candidate.name);
  if (candidates.empty()) {
    selection.problem = "the library has no skill for this task";
    return selection;
  }
  if (settings.selection != SelectionMethod::kAgent) {
    std::vector<std::string> names = selection.shown;
    if (settings.selection == SelectionMethod::kRandom) {
      SplitMix64 rng(static_cast<uint64_t>(run.Seed(task.input.id, "random selection", scheme, 0)));
      for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[rng.Below(i)]);
    }
    names.resize(std::min(names.size(), static_cast<size_t>(settings.select)));
    // The others were not shown.
    selection.shown = names;
    selection.chosen = std::move(names);
    return selection;
  }
  UnitId id = UnitOf(UnitKind::kSelection, run.step, std::string_view(task.input.id));
  id.scheme = scheme;
  DAVINCI_ASSIGN_OR_RETURN(
      const ModelCall call,
      run.context.calls->Call(
          id,
          [&]() -> Result<Prepared> {
            DAVINCI_ASSIGN_OR_RETURN(
                llm::Request request,
                agent::BuildSelectionRequest(*run.context.prompts, task.input.brief, task.device,
                                             candidates, settings.select));
            SetSampling(settings.selection_sampling, &request);
            request.logprobs = settings.logprobs;
            request.bound_calls = settings.bound_calls;
            request.seed = run.Seed(task.input.id, "selection", scheme, 0);
            request.label = CallLabel(task.input.id, run.step, fmt::format("selection/{}", scheme));
            return Prepared{std::move(request), {{"shown", selection.shown}}};
          },
          Urgency::kNewWork, task.Order(0, 0), run.cancel()));
  // What was shown is what the journal says: the library may have grown since.
  selection.shown = call.note.value("shown", selection.shown);
  agent::SelectionReading reading =
      agent::ReadSelection(call.reply, NamesOnly(selection.shown), settings.select);
  selection.chosen = std::move(reading.scheme.skills);
  selection.problem = std::move(reading.problem);
  selection.prompt_hash = call.prompt_hash;
  selection.reply = call.reply.text;
  selection.cost = call.cost;
  selection.finished_unix_s = call.finished_unix_s;
  return selection;
}

// n rollouts for each distinct scheme; what the merged ones saved goes round the others, those with
// skills first.
std::vector<PlannedRollout> Spend(const StepSettings& settings, const TaskInput& task, int step,
                                  const std::vector<Selection>& selections) {
  const int per_scheme = task.rollouts > 0 ? task.rollouts : settings.rollouts;
  std::vector<int> counts(selections.size(), 0);
  std::vector<size_t> receivers;
  std::optional<size_t> control;
  int saved = 0;
  for (size_t i = 0; i < selections.size(); ++i) {
    if (selections[i].merged_into) {
      saved += per_scheme;
      continue;
    }
    counts[i] = per_scheme;
    if (selections[i].chosen.empty())
      control = i;
    else
      receivers.push_back(i);
  }
  if (receivers.empty() && control) receivers.push_back(*control);
  if (settings.respend_saved_rollouts && !receivers.empty())
    for (int i = 0; i < saved; ++i) ++counts[receivers[static_cast<size_t>(i) % receivers.size()]];
  std::vector<PlannedRollout> rollouts;
  for (size_t i = 0; i < selections.size(); ++i)
    for (int r = 0; r < counts[i]; ++r)
      rollouts.push_back({{task.id, selections[i].scheme, r, step}, selections[i].chosen});
  return rollouts;
}

void MergeIdentical(std::vector<Selection>* selections) {
  std::vector<agent::Scheme> schemes;
  for (const Selection& selection : *selections) schemes.push_back({selection.chosen});
  const agent::DedupedSchemes deduped = agent::DedupeSchemes(schemes);
  std::vector<int> first(deduped.schemes.size(), -1);
  for (size_t i = 0; i < selections->size(); ++i) {
    int& owner = first[deduped.index_of[i]];
    if (owner < 0)
      owner = static_cast<int>(i);
    else
      (*selections)[i].merged_into = (*selections)[static_cast<size_t>(owner)].scheme;
  }
}

json BodyOf(const Plan& plan) {
  json body = {{"selections", json::array()}, {"rollouts", json::array()}};
  for (const Selection& selection : plan.selections)
    body["selections"].push_back(ToJson(selection));
  for (const PlannedRollout& rollout : plan.rollouts)
    body["rollouts"].push_back({{"id", ToString(rollout.id)}, {"skills", rollout.skills}});
  return body;
}

Result<Plan> PlanFrom(const json& body) {
  Plan plan;
  try {
    for (const json& selection : body.at("selections")) {
      DAVINCI_ASSIGN_OR_RETURN(auto parsed, SelectionFromJson(selection));
      plan.selections.push_back(std::move(parsed));
    }
    for (const json& rollout : body.at("rollouts")) {
      DAVINCI_ASSIGN_OR_RETURN(auto id, ParseRolloutId(rollout.at("id").get<std::string>()));
      plan.rollouts.push_back(
          {std::move(id), rollout.at("skills").get<std::vector<std::string>>()});
    }
  } catch (const json::exception& error) {
    return Internal(std::string("corrupt journal record (plan): ") + error.what());
  }
  return plan;
}

}  // namespace

Result<std::vector<skill::Skill>> FindSkills(StepRun& run, const TaskInput& task, size_t count) {
  std::vector<skill::Skill> skills;
  if (run.context.library == nullptr) return skills;
  DAVINCI_ASSIGN_OR_RETURN(
      auto ranked,
      run.context.library->SearchFor({task.brief.target, task.brief.language},
                                     skill::QueryFromReference(task.brief.reference), count));
  for (skill::Ranked& hit : ranked) skills.push_back(std::move(hit.record.skill));
  return skills;
}

Result<Plan> PlanSchemes(StepRun& run, TaskRun& task) {
  const UnitId id = UnitOf(UnitKind::kSchemes, run.step, std::string_view(task.input.id));
  DAVINCI_ASSIGN_OR_RETURN(const json body, run.context.log->Do(id, [&]() -> Result<json> {
    Plan plan;
    const search::Needs needs = run.strategy->needs();
    if (run.settings.null_scheme || run.settings.schemes == 0 || !needs.selection) {
      Selection control;
      control.task = task.input.id;
      control.step = run.step;
      control.null_scheme = !needs.knowledge;
      if (needs.knowledge) {
        // Skills without a choice: the best that retrieval finds.
        DAVINCI_ASSIGN_OR_RETURN(
            const auto candidates,
            FindSkills(run, task.input, static_cast<size_t>(run.settings.retrieve)));
        for (const skill::Skill& candidate : candidates) {
          control.shown.push_back(candidate.name);
          if (control.chosen.size() < static_cast<size_t>(run.settings.select))
            control.chosen.push_back(candidate.name);
        }
      }
      plan.selections.push_back(std::move(control));
    }
    const auto num_calls = needs.selection ? static_cast<size_t>(run.settings.schemes) : 0;
    if (num_calls > 0) {
      // Looked up once per task, so that all its selections choose from one list.
      const bool random = run.settings.selection == SelectionMethod::kRandom;
      DAVINCI_ASSIGN_OR_RETURN(
          const auto candidates,
          FindSkills(run, task.input,
                     random ? kAllSkills : static_cast<size_t>(run.settings.retrieve)));
      std::vector<Result<Selection>> chosen(num_calls, Internal("not asked"));
      ForEachInParallel(num_calls, [&](size_t i) {
        const Status done = Guarded([&] {
          chosen[i] = Select(run, task, static_cast<int>(i) + 1, candidates);
          return chosen[i].status();
        });
        if (!done.ok()) chosen[i] = done;
      });
      for (auto& selection : chosen) {
        if (!selection.ok()) return selection.status();
        plan.selections.push_back(std::move(selection).value());
      }
    }
    MergeIdentical(&plan.selections);
    if (needs.selection) plan.rollouts = Spend(run.settings, task.input, run.step, plan.selections);
    return BodyOf(plan);
  }));
  DAVINCI_ASSIGN_OR_RETURN(Plan plan, PlanFrom(body));
  int distinct = 0;
  for (const Selection& selection : plan.selections) distinct += !selection.merged_into;
  run.Tell({StepEvent::Kind::kSelected, task.input.id, std::nullopt, nullptr,
            Counted(distinct, "skill set") + ", " +
                Counted(static_cast<int64_t>(plan.rollouts.size()), "rollout"),
            false});
  return plan;
}

}  // namespace davinci::rollout
