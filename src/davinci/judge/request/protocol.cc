#include "davinci/judge/request/protocol.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace davinci::judge {

namespace {

constexpr int kPublishedTrials = 5;
constexpr double kShareOfMachine = 0.6;  // the rest is for the oracle and other processes

}  // namespace

int64_t MemoryWithin(int64_t limit_bytes, int64_t machine_bytes) {
  if (machine_bytes <= 0) return limit_bytes;
  return std::min(limit_bytes,
                  static_cast<int64_t>(kShareOfMachine * static_cast<double>(machine_bytes)));
}

std::optional<double> PublishedTolerance(config::Precision precision) {
  switch (precision) {
    case config::Precision::kFp32:
    case config::Precision::kTf32:
      return 1e-4;
    case config::Precision::kFp16:
    case config::Precision::kBf16:
      return 1e-2;
    case config::Precision::kFp64:
      break;
  }
  return std::nullopt;
}

Result<Protocol> ProtocolByName(std::string_view name) {
  Protocol protocol;
  protocol.name = std::string(name);
  if (name == "davinci") {
    protocol.launches = 3;
    protocol.steps = {{"task"},        {"heavy_tailed"}, {"log_uniform"},
                      {"small_scale"}, {"degenerate"},   {"large_mean"},
                      {"outliers"},    {"task", true},   {"heavy_tailed", true}};
    return protocol;
  }
  if (name == "screening") {
    protocol.steps = {{"task"}, {"heavy_tailed"}, {"log_uniform"}, {"task", true}};
    protocol.second_opinion = false;
    protocol.min_pairs = 8;
    protocol.max_pairs = 14;
    protocol.device_connections = 2;
    protocol.profile_baseline = false;
    protocol.window_calls = 8;
    protocol.alone_every = 3;
    protocol.latency_every = 8;
    protocol.profile_warmup_seconds = 0.005;
    protocol.timing_budget_seconds = 0.25;
    protocol.target_half_width = 0.06;
    protocol.stress_share = 0;  // winners are judged again
    protocol.sampling_share_of_width = 0.5;
    protocol.give_up_below = 0.8;
    protocol.interpreter_budget_seconds = 2.5;
    return protocol;
  }
  if (name == "staged") {
    DAVINCI_ASSIGN_OR_RETURN(protocol, ProtocolByName("screening"));
    protocol.name = name;
    protocol.version = 3;
    protocol.staged = true;
    protocol.min_pairs = 4;
    protocol.max_pairs = 6;
    protocol.window_calls = 6;
    protocol.alone_every = 8;
    protocol.pairs_per_empty = 2;
    protocol.timing_budget_seconds = 0.05;
    protocol.target_half_width = 0.1;
    return protocol;
  }
  if (name == "kernelbench") {
    for (int trial = 0; trial < kPublishedTrials; ++trial)
      protocol.steps.push_back({fmt::format("published-{}", trial)});
    protocol.published = true;
    protocol.latency_is_record = true;
    protocol.stress_share = 0;
    protocol.second_opinion = false;
    return protocol;
  }
  return InvalidArgument(
      fmt::format("unknown protocol \"{}\"; known: {}", name, fmt::join(ProtocolNames(), ", ")));
}

std::vector<std::string> ProtocolNames() {
  return {"davinci", "screening", "staged", "kernelbench"};
}

}  // namespace davinci::judge
