#include "davinci/training/train_monitor.h"

#include <fmt/format.h>

#include <utility>

namespace davinci::training {

using nlohmann::json;
using nlohmann::ordered_json;

std::vector<std::string> TrainMonitor::Observe(const TrainingBatch& batch,
                                               std::span<const double> entropies,
                                               ordered_json* line) {
  std::vector<rl::ReplyView> replies;
  double tokens = 0;
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    const rl::TrainingSample& sample = batch.samples[i];
    replies.push_back(
        {sample.output, i < entropies.size() ? entropies[i] : -1, sample.agent, sample.turn});
    tokens += static_cast<double>(sample.output.size());
  }
  const auto count = static_cast<double>(replies.size());
  (*line)["replies"] = {{"number", replies.size()}, {"length", count > 0 ? tokens / count : 0}};
  std::vector<std::string> alerts;
  for (const auto& [name, reading] : monitor_.Observe(replies)) {
    (*line)["reply_length"][name] = reading.mean_length;
    (*line)["repetition"][name] = reading.repetition;
    (*line)["first_token_drift"][name] = reading.first_token_drift;
    if (reading.entropy >= 0) (*line)["reply_entropy"][name] = reading.entropy;
    for (const std::string& alert : reading.alerts)
      alerts.push_back(fmt::format("replies of {}: {}", name, alert));
  }
  return alerts;
}

json TrainMonitor::State() const {
  json state = json::object();
  for (const auto& [name, memory] : monitor_.memories()) {
    json first_tokens = json::array();
    for (const auto& [token, times] : memory.first_tokens) first_tokens.push_back({token, times});
    state[name] = {{"steps", memory.steps},
                   {"first_tokens", std::move(first_tokens)},
                   {"length", memory.length},
                   {"entropy", memory.entropy},
                   {"entropy_steps", memory.entropy_steps}};
  }
  return state;
}

Status TrainMonitor::Restore(const json& state) {
  rl::CollapseMonitor::Memories memories;
  if (!state.is_null()) {
    try {
      for (const auto& [name, one] : state.items()) {
        rl::CollapseMemory& memory = memories[name];
        memory.steps = one.at("steps").get<int>();
        for (const json& pair : one.at("first_tokens"))
          memory.first_tokens[pair.at(0).get<int32_t>()] = pair.at(1).get<int64_t>();
        memory.length = one.at("length").get<double>();
        memory.entropy = one.at("entropy").get<double>();
        memory.entropy_steps = one.at("entropy_steps").get<int>();
      }
    } catch (const json::exception& error) {
      return InvalidArgument(std::string("the checkpoint's state.json has damaged monitors: ") +
                             error.what());
    }
  }
  monitor_.Restore(std::move(memories));
  return Status::Ok();
}

}  // namespace davinci::training
