#include "davinci/runs/batch_plan.h"

#include <algorithm>
#include <map>

namespace davinci::runs {

BatchPlan PlanBatch(const std::vector<judge::BatchEntry>& entries, const BatchResults& earlier) {
  BatchPlan plan;
  std::map<std::string, size_t> by_hash;
  for (size_t i = 0; i < entries.size(); ++i) {
    const judge::BatchEntry& entry = entries[i];
    if (!entry.bad.ok()) {
      plan.known.push_back({i, KnownAnswer::Kind::kBadLine});
      continue;
    }
    if (earlier.Find(entry.hash) != nullptr) {
      const bool finished = earlier.IsFinished(entry.job.id, entry.hash);
      plan.known.push_back(
          {i, finished ? KnownAnswer::Kind::kFinished : KnownAnswer::Kind::kRepeats});
      continue;
    }
    const auto [slot, fresh] = by_hash.try_emplace(entry.hash, plan.questions.size());
    if (fresh) plan.questions.emplace_back();
    plan.questions[slot->second].push_back(i);
  }
  return plan;
}

std::vector<std::string> TasksOfQuestions(const BatchPlan& plan,
                                          const std::vector<judge::BatchEntry>& entries) {
  std::vector<std::string> tasks;
  for (const std::vector<size_t>& question : plan.questions)
    tasks.push_back(entries[question.front()].job.reference_path);
  return tasks;
}

BatchWorkers WorkersFor(size_t num_questions, int wanted, int num_cores, int num_devices) {
  const int most = wanted > 0 ? wanted : std::max(1, num_cores / 2);
  BatchWorkers workers;
  workers.total = std::min(most, static_cast<int>(num_questions));
  const int devices = std::max(1, num_devices);
  workers.per_device = (workers.total + devices - 1) / devices;
  return workers;
}

}  // namespace davinci::runs
