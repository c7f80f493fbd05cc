#include "davinci/rollout/stop_rules.h"

#include <fmt/format.h>

#include <cmath>

namespace davinci::rollout {

std::optional<double> RooflineShareLow(const Evaluation& evaluation) {
  const auto attainable_ms = AttainableMs(evaluation);
  if (!attainable_ms || !evaluation.speedup || !evaluation.baseline_time ||
      evaluation.speedup->low <= 0)
    return std::nullopt;
  const double slowest_ms = evaluation.baseline_time->median_ms / evaluation.speedup->low;
  if (!(slowest_ms > 0)) return std::nullopt;
  return *attainable_ms / slowest_ms;
}

bool IsBetterThanNoise(const Evaluation& earlier, const Evaluation& later, double min_gain) {
  if (!later.speedup || !(later.speedup->low > 0)) return false;
  if (!earlier.speedup) return true;
  if (!(earlier.speedup->median > 0) || !std::isfinite(earlier.speedup->high)) return false;
  const double gain = std::log(later.speedup->median / earlier.speedup->median);
  const double half_later = std::log(later.speedup->median / later.speedup->low);
  const double half_earlier = std::log(earlier.speedup->high / earlier.speedup->median);
  return gain - std::hypot(half_later, half_earlier) > std::log(min_gain);
}

std::optional<std::string> ReasonToStop(std::span<const Evaluation> turns,
                                        const StopSettings& settings) {
  const Evaluation* best = nullptr;
  int without_gain = 0;
  for (const Evaluation& turn : turns) {
    if (turn.outcome == Outcome::kJudgeError) continue;  // says nothing about the candidate
    if (settings.roofline_share > 0) {
      const auto share = RooflineShareLow(turn);
      if (share && *share >= settings.roofline_share)
        return fmt::format("a kernel runs at {:.0f} % of the roofline", 100 * *share);
    }
    const bool better =
        turn.speedup && (best == nullptr || IsBetterThanNoise(*best, turn, settings.min_gain));
    if (better) best = &turn;
    without_gain = better ? 0 : without_gain + 1;
  }
  if (best != nullptr && settings.stagnant_turns > 0 && without_gain >= settings.stagnant_turns)
    return fmt::format("{} turns in a row brought nothing beyond noise", without_gain);
  return std::nullopt;
}

}  // namespace davinci::rollout
