#include "davinci/rl/collapse_monitor.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace davinci::rl {

double RepetitionShare(std::span<const int32_t> tokens, int n) {
  if (n < 1 || tokens.size() <= static_cast<size_t>(n)) return 0;
  const size_t num_grams = tokens.size() - static_cast<size_t>(n) + 1;
  // Polynomial hash of a window: a collision of 64 bits would only raise the share by one gram.
  constexpr uint64_t kBase = 0x9e3779b97f4a7c15ull;
  uint64_t power = 1;
  for (int i = 1; i < n; ++i) power *= kBase;
  const auto digit = [](int32_t token) {
    return static_cast<uint64_t>(static_cast<uint32_t>(token)) + 1;
  };
  uint64_t hash = 0;
  std::unordered_set<uint64_t> seen;
  seen.reserve(num_grams);
  size_t repeated = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (i >= static_cast<size_t>(n)) hash -= digit(tokens[i - static_cast<size_t>(n)]) * power;
    hash = hash * kBase + digit(tokens[i]);
    if (i + 1 >= static_cast<size_t>(n) && !seen.insert(hash).second) ++repeated;
  }
  return static_cast<double>(repeated) / static_cast<double>(num_grams);
}

CollapseReading CollapseMonitor::Observe(std::span<const ReplyView> replies) {
  CollapseReading reading;
  if (replies.empty()) return reading;
  const bool in_baseline = steps_ < options_.baseline_steps;
  const auto count = static_cast<double>(replies.size());
  double entropy = 0;
  double known_entropy = 0;
  for (const ReplyView& reply : replies) {
    reading.repetition += RepetitionShare(reply.tokens, options_.repetition_gram) / count;
    reading.mean_length += static_cast<double>(reply.tokens.size()) / count;
    if (reply.mean_entropy >= 0) {
      entropy += reply.mean_entropy;
      ++known_entropy;
    }
    if (in_baseline && !reply.tokens.empty()) ++first_tokens_[reply.tokens.front()];
  }
  if (known_entropy > 0) reading.entropy = entropy / known_entropy;

  if (in_baseline) {
    baseline_length_ += reading.mean_length / options_.baseline_steps;
    if (reading.entropy >= 0) {
      baseline_entropy_ += reading.entropy;
      ++entropy_steps_;
    }
  }
  if (!first_tokens_.empty()) {
    const auto habitual =
        std::max_element(first_tokens_.begin(), first_tokens_.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    for (const ReplyView& reply : replies)
      if (reply.tokens.empty() || reply.tokens.front() != habitual)
        reading.first_token_drift += 1 / count;
  }
  ++steps_;
  if (reading.repetition > options_.repetition_alert)
    reading.alerts.push_back(fmt::format("{:.0f} % of {}-grams repeat within a reply",
                                         100 * reading.repetition, options_.repetition_gram));
  if (in_baseline) return reading;
  if (reading.first_token_drift > options_.first_token_alert)
    reading.alerts.push_back(
        fmt::format("{:.0f} % of replies no longer open with the habitual token",
                    100 * reading.first_token_drift));
  if (reading.entropy >= 0 && entropy_steps_ > 0) {
    const double usual = baseline_entropy_ / entropy_steps_;
    if (reading.entropy < options_.entropy_alert * usual)
      reading.alerts.push_back(
          fmt::format("entropy {:.3f} nats, {:.3f} at the start", reading.entropy, usual));
  }
  if (baseline_length_ > 0 && (reading.mean_length > options_.length_alert * baseline_length_ ||
                               reading.mean_length * options_.length_alert < baseline_length_))
    reading.alerts.push_back(fmt::format("replies of {:.0f} tokens, {:.0f} at the start",
                                         reading.mean_length, baseline_length_));
  return reading;
}

}  // namespace davinci::rl
