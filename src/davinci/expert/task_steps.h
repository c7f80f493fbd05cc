// Steps of a run's tasks: what prompts show in the place of a task's file (agents.task = "steps",
// "plan").
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/expert/expert.h"
#include "davinci/rollout/settings.h"
#include "davinci/rollout/step_context.h"

namespace davinci::expert {

// Traces the reference of a task (judge::JudgePool::Trace).
using TargetTracer = std::function<Result<nlohmann::json>(
    const std::shared_ptr<const task::Task>& task, Target target)>;

// Fills the briefs' steps, and their plans where `shown` says so, several tasks at a time. A task
// that cannot be read keeps its file; `note` (may be empty) hears of it.
void AddSteps(const Expert& expert, const TargetTracer& tracer, rollout::TaskText shown,
              const std::function<void(const std::string&)>& note,
              std::vector<rollout::TaskInput>* inputs);

}  // namespace davinci::expert
