#include "davinci/expert/expert_backbone.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "davinci/data/rollout.h"

namespace davinci::expert {

ExpertBackbone::Known ExpertBackbone::Look(const std::shared_ptr<const task::Task>& task,
                                           size_t most) const {
  Known known;
  const auto traced = tracer_(task);
  if (!traced.ok()) {
    known.status = traced.status();
    return known;
  }
  const auto imported = expert_.Import(*traced, *task);
  if (!imported.ok()) {
    known.status = imported.status().Annotate("the expert cannot import this module");
    return known;
  }
  std::string why;
  for (const Language language : languages_) {
    // A further language gets its best answer alone.
    const size_t room = language == languages_.front() ? most : std::min<size_t>(most, 1);
    std::string reason;
    for (Variant& variant : expert_.Variants(*imported, language, room, &reason))
      known.variants.push_back(std::move(variant));
    if (why.empty()) why = reason;
  }
  // What is expected to be no faster than PyTorch comes last.
  std::stable_sort(known.variants.begin(), known.variants.end(),
                   [](const Variant& a, const Variant& b) {
                     return !a.candidate.prefers_vendor && b.candidate.prefers_vendor;
                   });
  if (known.variants.size() > most) known.variants.resize(most);
  if (known.variants.empty())
    known.status = InvalidArgument(
        fmt::format("the expert has no kernel for this module: {}; a language model may "
                    "(--llm URL --model NAME)",
                    why));
  return known;
}

void ExpertBackbone::Prepare(
    const std::vector<std::pair<std::string, std::shared_ptr<const task::Task>>>& tasks,
    size_t most) {
  for (const auto& [id, task] : tasks) tasks_[id];
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < tasks.size(); i = next++)
      tasks_.at(tasks[i].first) = Look(tasks[i].second, most);
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < std::min(cores, tasks.size()); ++i) threads.emplace_back(work);
}

size_t ExpertBackbone::NumVariants(const std::string& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? 0 : found->second.variants.size();
}

Status ExpertBackbone::WhyNone(const std::string& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? NotFound("the expert was not given this task")
                               : found->second.status;
}

const Variant* ExpertBackbone::Best(const std::string& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() || found->second.variants.empty() ? nullptr
                                                                 : &found->second.variants.front();
}

std::string ExpertBackbone::KeptCalls(const std::string& task) const {
  const Variant* best = Best(task);
  if (best == nullptr) return "";
  std::vector<std::string> kept;
  for (const auto& left : best->candidate.left) {
    std::string line = left.place.empty() ? left.op : fmt::format("{} ({})", left.op, left.place);
    if (std::find(kept.begin(), kept.end(), line) == kept.end()) kept.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(kept, ", "));
}

Result<llm::Reply> ExpertBackbone::Generate(const llm::Request& request, const CancelToken&) {
  DAVINCI_ASSIGN_OR_RETURN(const TurnId turn, ParseTurnId(request.label));
  const auto found = tasks_.find(turn.rollout.task);
  if (found == tasks_.end())
    return NotFound(fmt::format("{}: the expert was not given this task", turn.rollout.task));
  llm::Reply reply;
  reply.finish_reason = llm::FinishReason::kStop;
  reply.cost_usd = 0;
  reply.model = "expert";
  reply.endpoint = "expert";
  const std::vector<Variant>& variants = found->second.variants;
  if (variants.empty()) {
    reply.text = found->second.status.message();
    return reply;
  }
  const auto index = static_cast<size_t>(turn.rollout.rollout) % variants.size();
  const size_t step = static_cast<size_t>(turn.turn) - 1;
  const Variant& variant = variants[(index + step) % variants.size()];
  reply.text = fmt::format(
      "{} ({}; rules: {}).\n\n```python\n{}```\n", variant.name, LanguageName(variant.language),
      fmt::join(variant.candidate.rules.Names(), ", "), variant.candidate.source);
  if (request.on_token) request.on_token({.text = reply.text});
  return reply;
}

}  // namespace davinci::expert
