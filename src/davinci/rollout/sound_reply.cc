#include "davinci/rollout/sound_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "davinci/agent/delta_reply.h"

namespace davinci::rollout {
namespace {

constexpr double kTemperatureAgain = 0.6;
constexpr int64_t kSeedStep = 7919;  // a prime: seeds of other calls are neighbours

// Kernels and lines of a delta reply that cannot work; more than any reply has where there is no
// code.
size_t NumUnsound(const StepRun& run, const TaskInput& task, const std::string& code) {
  if (code.empty()) return std::numeric_limits<size_t>::max();
  agent::SoundKernels sound;
  agent::AssembleCandidate(*run.context.prompts->prelude(), task.brief, code, &sound);
  return sound.unsound;
}

}  // namespace

void SampleAgain(int again, llm::Request* request) {
  if (again == 0) return;
  request->temperature = std::max(request->temperature.value_or(1.0), kTemperatureAgain);
  if (request->seed) *request->seed = (*request->seed + again * kSeedStep) & 0x7fffffff;
  request->label += fmt::format(" again {}", again);
}

Result<ModelCall> CallUntilSound(const StepRun& run, const TaskInput& task, const UnitId& id,
                                 const std::function<Result<ModelCall>(const UnitId&, int)>& call,
                                 const std::function<std::string(const llm::Reply&)>& code) {
  if (run.settings.retries == 0) return call(id, 0);
  std::optional<ModelCall> best;
  size_t least = 0;
  llm::Usage usage;
  std::optional<double> cost = 0;
  int calls = 0;
  for (int again = 0; again <= run.settings.retries; ++again) {
    UnitId unit = id;
    if (again > 0) unit.variant = fmt::format("again {}", again);
    DAVINCI_ASSIGN_OR_RETURN(ModelCall asked, call(unit, again));
    calls += asked.cost.calls;
    usage.prompt_tokens += asked.reply.usage.prompt_tokens;
    usage.cached_prompt_tokens += asked.reply.usage.cached_prompt_tokens;
    usage.completion_tokens += asked.reply.usage.completion_tokens;
    if (asked.reply.cost_usd && cost)
      *cost += *asked.reply.cost_usd;
    else
      cost.reset();
    const size_t unsound = NumUnsound(run, task, code(asked.reply));
    if (!best || unsound < least) {
      best = std::move(asked);
      least = unsound;
    }
    if (least == 0) break;
  }
  best->reply.usage = usage;
  best->reply.cost_usd = cost;
  best->cost.calls = calls;
  return *std::move(best);
}

}  // namespace davinci::rollout
