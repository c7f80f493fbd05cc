#include "davinci/skill/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace davinci::skill {
namespace {

std::optional<Interval> Observed(const Usage& usage) {
  return usage.observations >= kMinObservations ? usage.UpliftInterval() : std::nullopt;
}

}  // namespace

std::optional<std::string> RetirementReason(const Record& record) {
  const bool refuted =
      !record.evidence.empty() &&
      std::all_of(record.evidence.begin(), record.evidence.end(), [](const Evidence& evidence) {
        const bool raised = evidence.correctness && evidence.correctness->raised;
        return evidence.uplift.high < 1.0 && !raised;
      });
  if (refuted) {
    const Evidence& best = *record.BestEvidence();
    return fmt::format("measured uplift on {} at most {:.3g}", best.target, best.uplift.high);
  }
  if (const auto observed = Observed(record.usage); observed && observed->high < 1.0)
    return fmt::format("{} observations in rollouts: mean uplift {:.3g}, at most {:.3g}",
                       record.usage.observations, observed->median, observed->high);
  return std::nullopt;
}

double Worth(const Record& record) {
  if (const auto observed = Observed(record.usage)) return observed->low;
  double worth = 0;
  for (const Evidence& evidence : record.evidence) {
    const bool raised = evidence.correctness && evidence.correctness->raised;
    worth = std::max({worth, evidence.uplift.low, raised ? 1.0 : 0.0});
  }
  return worth;
}

std::vector<std::string> ChooseEvictions(const std::vector<Record>& records, size_t max_active) {
  std::vector<const Record*> active;
  for (const Record& record : records)
    if (record.state == SkillState::kActive) active.push_back(&record);
  std::vector<std::string> evicted;
  if (max_active == 0 || active.size() <= max_active) return evicted;
  const auto rank = [](const Record* r) {
    return std::tuple(Worth(*r), r->usage.selected, r->usage.shown, -r->position);
  };
  std::sort(active.begin(), active.end(),
            [&](const Record* a, const Record* b) { return rank(a) < rank(b); });
  for (size_t i = 0; i + max_active < active.size(); ++i) evicted.push_back(active[i]->skill.name);
  return evicted;
}

}  // namespace davinci::skill
