#include "davinci/score/held_out.h"

#include <fmt/format.h>

namespace davinci::score {
namespace {

Attempt HeldOutRule(const Turn& turn, const std::string*) {
  Attempt attempt = JudgedAttempt(turn);
  if (IsDecoy(turn)) attempt.correct = false;
  if (!attempt.correct) attempt.speedup = attempt.speedup_low = 0;
  return attempt;
}

// The best turn of the greedy rollout, or of one that was sampled.
Answer BestOf(bool greedy, Order order) {
  return [greedy, order](const Sample& sample) {
    return (sample.id.rollout == 0) == greedy ? BestAttempt(sample, 0, order)
                                              : std::optional<Attempt>();
  };
}

void AddReadings(const std::string& name, bool greedy, std::vector<Metric>* metrics) {
  const Reading fastest{name, BestOf(greedy, Order::kMedian), Pool::kBestSample, Order::kMedian};
  const Reading sure{name, BestOf(greedy, Order::kSure), Pool::kBestSample, Order::kSure};
  metrics->push_back(Correctness(fastest));
  metrics->push_back(FasterP(sure, 1));
  metrics->push_back(FasterP(sure, 1.2));
  metrics->push_back(GeomeanSpeedup(fastest));
}

std::vector<Metric> HeldOutMetrics(const RunShape& shape) {
  std::vector<Metric> metrics;
  AddReadings("greedy", true, &metrics);
  if (shape.most_samples > 1)
    AddReadings(fmt::format("best of {}", shape.most_samples - 1), false, &metrics);
  return metrics;
}

ScoreSection SectionOf(std::string title, const CollectedRun& run,
                       const std::vector<Metric>& metrics, const BootstrapOptions& options) {
  ScoreSection section{std::move(title), {}, 0, 0, {}};
  for (const TaskSamples& task : run.tasks) {
    if (task.samples.empty()) continue;
    ++section.num_tasks;
    section.num_samples += static_cast<int>(task.samples.size());
  }
  for (const Metric& metric : metrics) {
    std::vector<Contribution> contributions;
    for (const TaskSamples& task : run.tasks)
      if (!task.samples.empty()) contributions.push_back(metric.of(task));
    if (const auto estimate = EstimateOver(contributions, metric.scale, options))
      section.metrics.push_back({metric.key, metric.title, metric.scale, *estimate});
  }
  return section;
}

}  // namespace

Protocol HeldOutProtocol() {
  return {
      "held-out",
      "held-out tasks",
      "Greedy rollouts, and the best of a task's samples; a rollout answers with its best turn. "
      "fast_p counts what is significantly faster than the baseline, with a median above p.",
      HeldOutRule,
      HeldOutMetrics,
      {}};
}

ScoreInput AllOf(const std::map<std::string, ScoreInput>& splits) {
  ScoreInput all;
  for (const auto& [name, split] : splits) {
    all.trajectories.insert(all.trajectories.end(), split.trajectories.begin(),
                            split.trajectories.end());
    all.levels.insert(split.levels.begin(), split.levels.end());
  }
  return all;
}

ScoreReport ScoreHeldOut(const std::map<std::string, ScoreInput>& splits,
                         const BootstrapOptions& options) {
  const Protocol protocol = HeldOutProtocol();
  ScoreReport report{protocol.name, protocol.title, protocol.definition, {}, {}};
  const ScoreInput all = AllOf(splits);
  const auto collect = [&](const ScoreInput& input) {
    return Collect(input.trajectories, input.levels, protocol.rule, input.sources);
  };
  const CollectedRun every = collect(all);
  const std::vector<Metric> metrics =
      protocol.metrics({every.max_turns, static_cast<int>(every.most_samples)});
  if (splits.size() > 1) report.sections.push_back(SectionOf(kAllSplits, every, metrics, options));
  for (const auto& [name, split] : splits)
    report.sections.push_back(SectionOf(name, collect(split), metrics, options));
  report.num_unfinished = every.num_unfinished;
  if (every.num_unjudged > 0)
    report.notes.push_back(fmt::format(
        "{} rollouts are left out because no turn of them could be judged", every.num_unjudged));
  return report;
}

}  // namespace davinci::score
