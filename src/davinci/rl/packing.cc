#include "davinci/rl/packing.h"

#include <algorithm>
#include <numeric>

namespace davinci::rl {
namespace {

bool Continues(const std::vector<int32_t>& prompt, const std::vector<int32_t>& history) {
  return prompt.size() >= history.size() &&
         std::equal(history.begin(), history.end(), prompt.begin());
}

int64_t CommonPrefix(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const size_t most = std::min(a.size(), b.size());
  size_t n = 0;
  while (n < most && a[n] == b[n]) ++n;
  return static_cast<int64_t>(n);
}

}  // namespace

double Packing::twice_share() const {
  return num_tokens == 0 ? 0 : static_cast<double>(num_twice) / static_cast<double>(num_tokens);
}

Packing PackTrajectories(std::span<const std::vector<const TrainingSample*>> trajectories,
                         bool TrainingSample::*wanted) {
  Packing packing;
  size_t index = 0;  // of the sample in input order
  const auto add = [&](PackedSequence sequence, const std::vector<bool>& trained, int64_t twice) {
    bool any = false;
    for (size_t i = 0; i < sequence.turns.size(); ++i) {
      if (!trained[i]) continue;
      any = true;
      packing.num_trained += static_cast<int64_t>(sequence.turns[i].end - sequence.turns[i].begin);
    }
    if (!any) return;
    packing.num_tokens += static_cast<int64_t>(sequence.tokens.size());
    packing.num_twice += twice;
    packing.sequences.push_back(std::move(sequence));
  };
  for (const auto& samples : trajectories) {
    PackedSequence sequence;
    std::vector<bool> trained;
    int64_t twice = 0;
    for (const TrainingSample* sample : samples) {
      if (!sequence.turns.empty() && !Continues(sample->prompt, sequence.tokens)) {
        const int64_t shared = CommonPrefix(sample->prompt, sequence.tokens);
        add(std::move(sequence), trained, twice);
        sequence = {};
        trained.clear();
        twice = shared;
      }
      sequence.tokens.insert(
          sequence.tokens.end(),
          sample->prompt.begin() + static_cast<std::ptrdiff_t>(sequence.tokens.size()),
          sample->prompt.end());
      const size_t begin = sequence.tokens.size();
      sequence.tokens.insert(sequence.tokens.end(), sample->output.begin(), sample->output.end());
      sequence.turns.push_back({index++, begin, sequence.tokens.size()});
      trained.push_back(sample->*wanted && !sample->output.empty());
    }
    if (!sequence.turns.empty()) add(std::move(sequence), trained, twice);
  }
  return packing;
}

std::vector<std::vector<size_t>> PackBins(std::span<const int64_t> lengths, int64_t max_tokens) {
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<size_t>> bins;
  std::vector<int64_t> used;
  for (const size_t i : order) {
    size_t bin = 0;
    while (bin < bins.size() && used[bin] + lengths[i] > max_tokens) ++bin;
    if (bin == bins.size()) {
      bins.emplace_back();
      used.push_back(0);
    }
    bins[bin].push_back(i);
    used[bin] += lengths[i];
  }
  return bins;
}

std::string_view AgentKindName(AgentKind agent) {
  switch (agent) {
    case AgentKind::kPolicy:
      return "policy";
    case AgentKind::kSelection:
      return "selection";
    case AgentKind::kSummary:
      return "summary";
  }
  return "";
}

std::optional<AgentKind> ParseAgentKind(std::string_view name) {
  for (const AgentKind agent : {AgentKind::kPolicy, AgentKind::kSelection, AgentKind::kSummary})
    if (AgentKindName(agent) == name) return agent;
  return std::nullopt;
}

}  // namespace davinci::rl
