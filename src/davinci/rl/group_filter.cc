#include "davinci/rl/group_filter.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "davinci/rl/rejection.h"

namespace davinci::rl {
namespace {

double Deviation(std::span<const double> values) {
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

// `count` of `from` without replacement, likelier with a greater log weight: the largest of
// log weight + Gumbel noise (Efraimidis & Spirakis in logarithms), noise seeded by the sample's id.
std::vector<size_t> Draw(const Group& group, std::vector<size_t> from, size_t count,
                         const std::function<double(const GroupMember&)>& log_weight,
                         uint64_t seed) {
  std::vector<double> keys(group.members.size());
  for (const size_t i : from) {
    const double u = std::max(SeededDraw(seed, group.members[i].id), 0x1.0p-53);
    keys[i] = log_weight(group.members[i]) - std::log(-std::log(u));
  }
  std::stable_sort(from.begin(), from.end(), [&](size_t a, size_t b) { return keys[a] > keys[b]; });
  from.resize(std::min(count, from.size()));
  return from;
}

std::vector<size_t> ChooseMembers(const Group& group, const std::vector<size_t>& judged,
                                  const GroupFilterOptions& options) {
  const auto most = static_cast<size_t>(options.max_members);
  if (options.max_members <= 0 || judged.size() <= most) return judged;
  std::vector<size_t> positive;
  std::vector<size_t> others;
  for (const size_t i : judged)
    (group.members[i].reward.value() > 0 ? positive : others).push_back(i);
  size_t num_positive = static_cast<size_t>(std::llround(
      static_cast<double>(most * positive.size()) / static_cast<double>(judged.size())));
  if (!positive.empty()) num_positive = std::max<size_t>(num_positive, 1);
  if (!others.empty()) num_positive = std::min(num_positive, most - 1);
  num_positive = std::min(num_positive, positive.size());
  num_positive = std::max(num_positive, most - std::min(most, others.size()));
  const auto length = [](const GroupMember& m) {
    return static_cast<double>(std::max<int64_t>(m.num_tokens, 1));
  };
  std::vector<size_t> chosen = Draw(
      group, positive, num_positive, [&](const GroupMember& m) { return *m.reward / length(m); },
      options.seed);
  const std::vector<size_t> rest = Draw(
      group, others, most - num_positive,
      [&](const GroupMember& m) { return -std::log(length(m)); }, options.seed);
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<FilteredGroup> FilterGroups(std::span<const Group> groups,
                                        const GroupFilterOptions& options) {
  std::vector<FilteredGroup> filtered(groups.size());
  std::vector<size_t> eligible;
  for (size_t g = 0; g < groups.size(); ++g) {
    std::vector<size_t> judged;
    std::vector<double> rewards;
    double noise = 0;
    for (size_t i = 0; i < groups[g].members.size(); ++i) {
      const GroupMember& member = groups[g].members[i];
      if (!member.reward) continue;
      judged.push_back(i);
      rewards.push_back(*member.reward);
      noise += member.noise * member.noise;
    }
    const double least =
        std::max(options.min_deviation,
                 options.timing_noise *
                     std::sqrt(noise / std::max(1.0, static_cast<double>(rewards.size()))));
    if (static_cast<int>(judged.size()) < std::max(options.min_members, 1)) {
      filtered[g].fate = GroupFate::kTooSmall;
    } else if (judged.size() > 1 && Deviation(rewards) < least) {
      filtered[g].fate = GroupFate::kZeroVariance;
    } else {
      filtered[g].members = std::move(judged);
      eligible.push_back(g);
    }
  }
  if (options.max_groups > 0 && eligible.size() > static_cast<size_t>(options.max_groups)) {
    std::stable_sort(eligible.begin(), eligible.end(), [&](size_t a, size_t b) {
      const size_t left = filtered[a].members.size();
      const size_t right = filtered[b].members.size();
      if (left != right) return left > right;
      return SeededDraw(options.seed, groups[a].key) < SeededDraw(options.seed, groups[b].key);
    });
    for (size_t i = static_cast<size_t>(options.max_groups); i < eligible.size(); ++i) {
      filtered[eligible[i]].fate = GroupFate::kNotChosen;
      filtered[eligible[i]].members.clear();
    }
    eligible.resize(static_cast<size_t>(options.max_groups));
  }
  for (const size_t g : eligible)
    filtered[g].members = ChooseMembers(groups[g], filtered[g].members, options);
  return filtered;
}

bool NeedsMoreGroups(int num_trained, int wanted, int rounds_done, int max_rounds) {
  return num_trained < wanted && rounds_done < max_rounds;
}

Overlong AssessOverlong(OverlongRule rule, int64_t num_tokens, int64_t limit, int64_t buffer,
                        bool truncated) {
  switch (rule) {
    case OverlongRule::kKeep:
      return {};
    case OverlongRule::kMask:
      return {!truncated, 0};
    case OverlongRule::kSoftPenalty: {
      if (buffer <= 0) return {true, truncated ? -1.0 : 0.0};
      const double over = static_cast<double>(num_tokens - (limit - buffer));
      return {true, -std::clamp(over / static_cast<double>(buffer), 0.0, 1.0)};
    }
  }
  return {};
}

}  // namespace davinci::rl
