#include "davinci/expert/expert_author.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "davinci/data/rollout.h"
#include "davinci/expert/bisection.h"
#include "davinci/expert/on_all_cores.h"

namespace davinci::expert {

ExpertAuthor::Known ExpertAuthor::Look(const std::shared_ptr<const task::Task>& task,
                                       size_t most) const {
  Known known;
  const auto traced = tracer_(task);
  if (!traced.ok()) {
    known.status = traced.status();
    return known;
  }
  auto imported = expert_.Import(*traced, *task);
  if (!imported.ok()) {
    known.status = imported.status().Annotate("the expert cannot import this module");
    return known;
  }
  known.task = std::make_shared<ExpertTask>(std::move(imported).value());
  std::string why;
  for (const Language language : languages_) {
    // A further language gets its best answer alone, for which the first one leaves room.
    const size_t others = languages_.size() - 1;
    const size_t room = language != languages_.front() ? std::min<size_t>(most, 1)
                        : most > 2 * others            ? most - others
                                                       : most;
    std::string reason;
    for (Variant& variant : expert_.Variants(*known.task, language, room, &reason))
      known.variants.push_back(std::move(variant));
    if (why.empty()) why = reason;
  }
  // Variants that are expected to be no faster than PyTorch come last.
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

void ExpertAuthor::Prepare(
    const std::vector<std::pair<std::string, std::shared_ptr<const task::Task>>>& tasks,
    size_t most) {
  for (const auto& [id, task] : tasks) tasks_[id];
  OnAllCores(tasks.size(),
             [&](size_t i) { tasks_.at(tasks[i].first) = Look(tasks[i].second, most); });
}

size_t ExpertAuthor::NumVariants(const std::string& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? 0 : found->second.variants.size();
}

Status ExpertAuthor::WhyNone(const std::string& task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? NotFound("the expert was not given this task")
                               : found->second.status;
}

namespace {

// "embedding_bag (net.py:12; no rule)", each once.
std::string KeptCalls(const teacher::Candidate& candidate) {
  std::vector<std::string> kept;
  for (const auto& left : candidate.left) {
    std::string line = left.place.empty()
                           ? fmt::format("{} ({})", left.op, left.why)
                           : fmt::format("{} ({}; {})", left.op, left.place, left.why);
    if (std::find(kept.begin(), kept.end(), line) == kept.end()) kept.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(kept, ", "));
}

rollout::RuleKernel KernelOf(const ExpertTask& task, const Variant& variant) {
  const teacher::Candidate& candidate = variant.candidate;
  rollout::RuleKernel kernel;
  kernel.name = fmt::format("{} ({})", variant.name, LanguageName(variant.language));
  kernel.source = candidate.source;
  const std::set<std::string> rules = candidate.rules.Names();
  kernel.rules = {rules.begin(), rules.end()};
  kernel.skills = {candidate.skills.begin(), candidate.skills.end()};
  kernel.kept = KeptCalls(candidate);
  for (const std::string& shape : ShapesWithout(task, candidate))
    kernel.kept += fmt::format("{}all calls at {}", kernel.kept.empty() ? "" : ", ", shape);
  return kernel;
}

// A way to write the kernels, and what became of it after each verdict.
class Attempt {
 public:
  Attempt(const Expert& expert, const ExpertTask& task, const Variant& variant)
      : expert_(expert), task_(task), first_(variant), last_(variant), bisection_(Used(variant)) {}

  const Variant& last() const { return last_; }

  // The next kernel after a verdict about the last one; false: there is none.
  bool Mend(const Evaluation& verdict) {
    for (;;) {
      const auto out = bisection_.Next(verdict);
      if (!out) return false;
      auto mended = expert_.Without(task_, first_, *out);
      if (!mended) return false;
      // Rules that change nothing here have the same verdict.
      if (mended->candidate.source == last_.candidate.source) continue;
      last_ = *std::move(mended);
      return true;
    }
  }

 private:
  static std::vector<std::string> Used(const Variant& variant) {
    const std::set<std::string> rules = variant.candidate.rules.Names();
    std::vector<std::string> used = Expert::CostlyRules();
    std::erase_if(used, [&](const std::string& rule) { return !rules.contains(rule); });
    for (const std::string& rule : rules)
      if (std::find(used.begin(), used.end(), rule) == used.end()) used.push_back(rule);
    return used;
  }

  const Expert& expert_;
  const ExpertTask& task_;
  const Variant& first_;
  Variant last_;
  Bisection bisection_;
};

}  // namespace

std::optional<rollout::RuleKernel> ExpertAuthor::Next(
    const RolloutId& rollout, const std::vector<Evaluation>& earlier) const {
  const auto found = tasks_.find(rollout.task);
  if (found == tasks_.end() || found->second.variants.empty()) {
    if (!earlier.empty()) return std::nullopt;
    rollout::RuleKernel none;
    none.name = WhyNone(rollout.task).message();
    return none;
  }
  const Known& known = found->second;
  size_t way = static_cast<size_t>(rollout.rollout) % known.variants.size();
  // Computed again from the verdicts, so that nothing has to be remembered between two turns.
  std::optional<Attempt> attempt(std::in_place, expert_, *known.task, known.variants[way]);
  for (const Evaluation& verdict : earlier) {
    // Only the first of several slow variants is mended: the others are its neighbours.
    const bool give_up = way > 0 && FeedbackOf(verdict) == Feedback::kSlow;
    if (!give_up && attempt->Mend(verdict)) continue;
    if (dealing_ != Dealing::kInTurn || ++way >= known.variants.size()) return std::nullopt;
    attempt.emplace(expert_, *known.task, known.variants[way]);
  }
  return KernelOf(*known.task, attempt->last());
}

}  // namespace davinci::expert
