#include "davinci/rl/packing.h"

#include <algorithm>
#include <numeric>

namespace davinci::rl {
namespace {

bool Continues(const std::vector<int32_t>& prompt, const std::vector<int32_t>& history) {
  return prompt.size() >= history.size() &&
         std::equal(history.begin(), history.end(), prompt.begin());
}

// The room that is left in bins, as a tournament: the first bin with enough is found in the
// logarithm of their number.
class FirstFit {
 public:
  explicit FirstFit(int64_t capacity) : capacity_(capacity) {}

  // The first bin with room for `length`, else a new one. A length above the capacity fills a bin
  // alone.
  size_t Take(int64_t length) {
    if (most_.empty() || most_[1] < length) {
      if (count_ == leaves_) Grow();
      Set(count_, capacity_ - length);
      return count_++;
    }
    size_t at = 1;
    while (at < leaves_) at = 2 * at + (most_[2 * at] >= length ? 0 : 1);
    Set(at - leaves_, most_[at] - length);
    return at - leaves_;
  }

 private:
  static constexpr int64_t kNone = -1;  // below every length: no room for an empty sequence

  void Grow() {
    const std::vector<int64_t> before = std::move(most_);
    const size_t old = leaves_;
    leaves_ = std::max<size_t>(1, 2 * leaves_);
    most_.assign(2 * leaves_, kNone);
    for (size_t i = 0; i < count_; ++i) most_[leaves_ + i] = before[old + i];
    for (size_t at = leaves_ - 1; at > 0; --at)
      most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
  }
  void Set(size_t bin, int64_t room) {
    size_t at = leaves_ + bin;
    most_[at] = std::max(room, kNone);
    while ((at /= 2) > 0) most_[at] = std::max(most_[2 * at], most_[2 * at + 1]);
  }

  const int64_t capacity_;
  size_t leaves_ = 0;  // a power of two
  size_t count_ = 0;   // bins
  std::vector<int64_t> most_;
};

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
  FirstFit room(max_tokens);
  for (const size_t i : order) {
    const size_t bin = room.Take(lengths[i]);
    if (bin == bins.size()) bins.emplace_back();
    bins[bin].push_back(i);
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
