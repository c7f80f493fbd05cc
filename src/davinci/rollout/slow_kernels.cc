#include "davinci/rollout/slow_kernels.h"

#include <algorithm>
#include <map>

#include "davinci/data/shown_interval.h"
#include "davinci/data/turn_facts.h"

namespace davinci::rollout {
namespace {

// Device time of a call in milliseconds, by the kernels' names.
std::map<std::string, double> TimesOf(const Evaluation& evaluation) {
  std::map<std::string, double> times;
  const nlohmann::json::json_pointer list("/profile/device/list");
  if (!evaluation.evidence.contains(list) || !evaluation.evidence.at(list).is_array()) return times;
  for (const nlohmann::json& kernel : evaluation.evidence.at(list)) {
    if (!kernel.is_object() || !kernel.contains("name") || !kernel.contains("ms")) continue;
    if (!kernel["name"].is_string() || !kernel["ms"].is_number()) continue;
    times[kernel["name"].get<std::string>()] += kernel["ms"].get<double>();
  }
  return times;
}

}  // namespace

bool IsSlow(const Evaluation& evaluation) {
  return IsAccepted(evaluation) && evaluation.speedup && !IsFaster(*evaluation.speedup);
}

SlowKernels::SlowKernels(const std::vector<std::string>& kernels, const Evaluation& whole)
    : kernels_(kernels), kept_(kernels.begin(), kernels.end()), order_(kernels) {
  if (whole.speedup) best_ = SureSpeedup(*whole.speedup);
  std::map<std::string, double> times = TimesOf(whole);
  std::ranges::stable_sort(order_, {}, [&](const std::string& kernel) { return times[kernel]; });
}

std::optional<std::set<std::string>> SlowKernels::Next() const {
  if (order_.empty() || kept_.size() < 2) return std::nullopt;
  std::set<std::string> asked = kept_;
  asked.erase(order_.back());
  return asked;
}

bool SlowKernels::Learn(const Evaluation& verdict) {
  const std::string tried = order_.back();
  order_.pop_back();
  if (!IsAccepted(verdict) || !verdict.speedup || SureSpeedup(*verdict.speedup) <= best_)
    return false;
  best_ = SureSpeedup(*verdict.speedup);
  kept_.erase(tried);
  return true;
}

std::vector<agent::LeftOut> SlowKernels::Others(const std::set<std::string>& kept) const {
  std::vector<agent::LeftOut> others;
  for (const std::string& kernel : kernels_)
    if (!kept.contains(kernel)) others.push_back({kernel, "the reply is faster without it"});
  return others;
}

}  // namespace davinci::rollout
