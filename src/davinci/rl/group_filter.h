// Which groups a step trains on, and which samples of a group (daVinci-kernel's unified_filter.py;
// DAPO's dynamic sampling). Pure and seeded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace davinci::rl {

struct GroupMember {
  std::string id;                // names the sample: what draws are seeded with
  std::optional<double> reward;  // of its last turn; nothing: the judge failed
  int64_t num_tokens = 1;        // trained tokens, for the length-aware choice
  double noise = 0;              // standard deviation of `reward` by how it was timed alone
};

struct Group {
  std::string key;
  std::vector<GroupMember> members;
};

struct GroupFilterOptions {
  double min_deviation = 1e-3;  // of the rewards (N - 1): below it the group says nothing
  double timing_noise = 0;  // … or below so many times the root mean square of its members' noise
  int min_members = 2;      // judged ones
  int max_members = 0;      // more are sub-sampled; 0: all stay
  int max_groups = 0;       // more are left for later; 0: all stay
  uint64_t seed = 1;
};

enum class GroupFate { kTrained, kZeroVariance, kTooSmall, kNotChosen };

struct FilteredGroup {
  GroupFate fate = GroupFate::kTrained;
  std::vector<size_t> members;  // indices that are trained, ascending; empty unless kTrained
};

// One entry for each group, in order. Of more groups than `max_groups`, complete ones (most judged
// members) come first, then the seeded draw decides. Of more members than `max_members`, positive
// rewards and the others are drawn in proportion, one of each at least; within the positive by
// softmax of reward per token (short and good first), within the others by inverse length.
std::vector<FilteredGroup> FilterGroups(std::span<const Group> groups,
                                        const GroupFilterOptions& options);

// Dynamic sampling: whether to roll out more tasks for this step. Stops at `max_rounds` batches, so
// that a model that fails (or solves) everything still ends.
bool NeedsMoreGroups(int num_trained, int wanted, int rounds_done, int max_rounds);

// Overlong replies: cut off at the token limit, they say nothing about the kernel.
enum class OverlongRule {
  kKeep,
  kMask,         // no gradient
  kSoftPenalty,  // DAPO: from limit - buffer on, linearly down to -1 at the limit, added to the
                 // reward
};
struct Overlong {
  bool trained = true;
  double penalty = 0;  // <= 0
};
Overlong AssessOverlong(OverlongRule rule, int64_t num_tokens, int64_t limit, int64_t buffer,
                        bool truncated);

}  // namespace davinci::rl
