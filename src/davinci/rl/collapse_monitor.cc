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

CollapseReading ObserveReplies(std::span<const ReplyView> replies, const CollapseOptions& options,
                               CollapseMemory* memory) {
  CollapseReading reading;
  if (replies.empty()) return reading;
  const bool in_baseline = memory->steps < options.baseline_steps;
  const auto count = static_cast<double>(replies.size());
  double entropy = 0;
  double known_entropy = 0;
  for (const ReplyView& reply : replies) {
    reading.repetition += RepetitionShare(reply.tokens, options.repetition_gram) / count;
    reading.mean_length += static_cast<double>(reply.tokens.size()) / count;
    if (reply.mean_entropy >= 0) {
      entropy += reply.mean_entropy;
      ++known_entropy;
    }
    if (in_baseline && !reply.tokens.empty()) ++memory->first_tokens[reply.tokens.front()];
  }
  if (known_entropy > 0) reading.entropy = entropy / known_entropy;

  if (in_baseline) {
    memory->length += reading.mean_length / options.baseline_steps;
    if (reading.entropy >= 0) {
      memory->entropy += reading.entropy;
      ++memory->entropy_steps;
    }
  }
  if (!memory->first_tokens.empty()) {
    const auto habitual =
        std::max_element(memory->first_tokens.begin(), memory->first_tokens.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; })
            ->first;
    for (const ReplyView& reply : replies)
      if (reply.tokens.empty() || reply.tokens.front() != habitual)
        reading.first_token_drift += 1 / count;
  }
  ++memory->steps;
  if (reading.repetition > options.repetition_alert)
    reading.alerts.push_back(fmt::format("{:.0f} % of {}-grams repeat within a reply",
                                         100 * reading.repetition, options.repetition_gram));
  if (in_baseline) return reading;
  if (reading.first_token_drift > options.first_token_alert)
    reading.alerts.push_back(
        fmt::format("{:.0f} % of replies no longer open with the habitual token",
                    100 * reading.first_token_drift));
  if (reading.entropy >= 0 && memory->entropy_steps > 0) {
    const double usual = memory->entropy / memory->entropy_steps;
    if (reading.entropy < options.entropy_alert * usual)
      reading.alerts.push_back(
          fmt::format("entropy {:.3f} nats, {:.3f} at the start", reading.entropy, usual));
  }
  if (memory->length > 0 && (reading.mean_length > options.length_alert * memory->length ||
                             reading.mean_length * options.length_alert < memory->length))
    reading.alerts.push_back(fmt::format("replies of {:.0f} tokens, {:.0f} at the start",
                                         reading.mean_length, memory->length));
  return reading;
}

std::map<std::string, CollapseReading> CollapseMonitor::Observe(
    std::span<const ReplyView> replies) {
  std::map<std::string, std::vector<ReplyView>> apart;
  for (const ReplyView& reply : replies)
    apart[fmt::format("{} {}", AgentKindName(reply.agent), reply.turn)].push_back(reply);
  std::map<std::string, CollapseReading> readings;
  for (const auto& [name, own] : apart)
    readings[name] = ObserveReplies(own, options_, &memories_[name]);
  return readings;
}

}  // namespace davinci::rl
