#include "davinci/score/protocol.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "davinci/base/rng.h"
#include "davinci/base/suggest.h"
#include "davinci/data/shown_interval.h"

namespace davinci::score {
namespace {

ScoreSection MakeSection(std::string title, std::optional<int> level,
                         const std::vector<const TaskSamples*>& tasks,
                         const std::vector<Metric>& metrics, const BootstrapOptions& options) {
  ScoreSection section{std::move(title), level, static_cast<int>(tasks.size()), 0, {}};
  for (const TaskSamples* task : tasks)
    section.num_samples += static_cast<int>(task->samples.size());
  std::vector<std::vector<TaskContribution>> contributions(
      metrics.size(), std::vector<TaskContribution>(tasks.size()));
  for (size_t i = 0; i < tasks.size(); ++i) {
    for (size_t m = 0; m < metrics.size(); ++m)
      contributions[m][i].whole = metrics[m].of(*tasks[i]);
    if (tasks[i]->samples.size() < 2) continue;
    SplitMix64 rng(options.seed + i);
    TaskSamples drawn{tasks[i]->task, tasks[i]->level, {}};
    for (int drawing = 0; drawing < kSampleDrawings; ++drawing) {
      drawn.samples.clear();
      for (size_t s = 0; s < tasks[i]->samples.size(); ++s)
        drawn.samples.push_back(tasks[i]->samples[rng.Below(tasks[i]->samples.size())]);
      for (size_t m = 0; m < metrics.size(); ++m)
        contributions[m][i].redrawn.push_back(metrics[m].of(drawn));
    }
  }
  for (size_t m = 0; m < metrics.size(); ++m)
    if (const auto estimate = EstimateOverSamples(contributions[m], metrics[m].scale, options))
      section.metrics.push_back({metrics[m].key, metrics[m].title, metrics[m].scale, *estimate});
  return section;
}

// What a reader of this log's numbers must know.
std::vector<std::string> NotesOf(const CollectedRun& run) {
  std::vector<std::string> notes;
  std::set<std::string> baselines;
  std::map<std::string, int> timed_under;
  size_t fewest = run.most_samples;
  int without = 0;
  int correct = 0;
  int only_pytorch = 0;
  int wide = 0;
  for (const TaskSamples& task : run.tasks) {
    without += task.samples.empty() ? 1 : 0;
    if (!task.samples.empty()) fewest = std::min(fewest, task.samples.size());
    for (const Sample& sample : task.samples)
      for (const Attempt& attempt : sample.attempts) {
        correct += attempt.correct;
        only_pytorch += attempt.correct && attempt.only_pytorch;
        if (attempt.speedup > 0) {
          baselines.insert(attempt.baseline);
          ++timed_under[attempt.protocol.empty() ? "unknown protocol" : attempt.protocol];
          wide += attempt.wide;
        }
      }
  }
  if (!baselines.empty())
    notes.push_back(fmt::format("baseline of this log: {}", fmt::join(baselines, ", ")));
  for (const auto& [name, count] : timed_under) {
    // What the numbers of record are measured under goes without saying.
    if (timed_under.size() > 1 || name != "davinci")
      notes.push_back(fmt::format(
          "{} speedups of this log were measured under {}{}", count, name,
          name == "screening" || name == "staged" ? " (few calls, wide intervals)" : ""));
  }
  if (only_pytorch > 0)
    notes.push_back(fmt::format(
        "{} of {} attempts that count as correct only call PyTorch, without a kernel of their own",
        only_pytorch, correct));
  if (wide > 0)
    notes.push_back(
        fmt::format("{} speedups have intervals wider than a factor of {:g}, and count with their "
                    "medians: measure on a quiet machine",
                    wide, kWidestForANumber));
  if (without > 0)
    notes.push_back(fmt::format("{} tasks have no judged sample and are left out", without));
  if (run.num_unfinished > 0)
    notes.push_back(
        fmt::format("{} samples are not finished (budget, stop or a failure of ours); they count "
                    "with the turns "
                    "they have",
                    run.num_unfinished));
  if (run.num_unjudged > 0)
    notes.push_back(fmt::format(
        "{} samples are left out because no turn of them could be judged (our failure, not theirs)",
        run.num_unjudged));
  if (fewest != run.most_samples)
    notes.push_back(fmt::format("tasks have between {} and {} samples", fewest, run.most_samples));
  return notes;
}

}  // namespace

const std::vector<Protocol>& Protocols() {
  static const std::vector<Protocol> kProtocols = {BenchProtocol(),     KernelBenchProtocol(),
                                                   DrKernelProtocol(),  KevinProtocol(),
                                                   CudaAgentProtocol(), DavinciProtocol()};
  return kProtocols;
}

Result<const Protocol*> ProtocolByName(std::string_view name) {
  std::vector<std::string> known;
  for (const Protocol& protocol : Protocols()) {
    if (protocol.name == name) return &protocol;
    known.push_back(protocol.name);
  }
  return InvalidArgument(fmt::format("no protocol \"{}\"{}; there are {}", name,
                                     DidYouMean(name, known), fmt::join(known, ", ")));
}

ScoreReport Score(const ScoreInput& input, const Protocol& protocol,
                  const BootstrapOptions& options) {
  const CollectedRun run = Collect(input.trajectories, input.levels, protocol.rule, input.sources);
  const std::vector<Metric> metrics =
      protocol.metrics({run.max_turns, static_cast<int>(run.most_samples)});

  ScoreReport report{protocol.name, protocol.title, protocol.definition, {}, protocol.notes};
  report.num_unfinished = run.num_unfinished;
  std::vector<const TaskSamples*> all;
  std::map<std::optional<int>, std::vector<const TaskSamples*>> by_level;
  for (const TaskSamples& task : run.tasks) {
    if (task.samples.empty()) continue;
    all.push_back(&task);
    by_level[task.level].push_back(&task);
  }
  report.sections.push_back(MakeSection("all tasks", {}, all, metrics, options));
  if (by_level.size() > 1) {
    for (const auto& [level, tasks] : by_level) {
      const std::string title = level ? fmt::format("level {}", *level) : "no level";
      report.sections.push_back(MakeSection(title, level, tasks, metrics, options));
    }
  }
  for (std::string& note : NotesOf(run)) report.notes.push_back(std::move(note));
  return report;
}

}  // namespace davinci::score
