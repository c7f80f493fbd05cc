#include "davinci/expert/task_steps.h"

#include <fmt/format.h>

#include "davinci/expert/on_all_cores.h"

namespace davinci::expert {

void AddSteps(const Expert& expert, const TargetTracer& tracer, rollout::TaskText shown,
              const std::function<void(const std::string&)>& note,
              std::vector<rollout::TaskInput>* inputs) {
  std::vector<Status> why(inputs->size());
  const auto read = [&](size_t i) {
    rollout::TaskInput& input = (*inputs)[i];
    const auto steps = [&]() -> Result<teacher::Steps> {
      DAVINCI_ASSIGN_OR_RETURN(const auto traced, tracer(input.task, input.brief.target));
      DAVINCI_ASSIGN_OR_RETURN(teacher::Steps made, expert.StepsOf(traced, *input.task));
      if (shown == rollout::TaskText::kPlan)
        input.brief.plan = expert.PlanOf(traced, *input.task, made);
      return made;
    }();
    if (steps.ok()) {
      input.brief.steps = steps->text;
      input.brief.plain = steps->plain;
    }
    why[i] = steps.ok() ? Status::Ok() : steps.status();
  };
  OnAllCores(inputs->size(), read);
  // Side by side some need more memory than the device has.
  for (size_t i = 0; i < why.size(); ++i)
    if (why[i].message().find("out of memory") != std::string::npos) read(i);
  for (size_t i = 0; note && i < why.size(); ++i)
    if (!why[i].ok())
      note(fmt::format("{}: the model is shown the file, not its steps: {}", (*inputs)[i].id,
                       why[i].message()));
}

}  // namespace davinci::expert
