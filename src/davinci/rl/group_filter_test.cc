#include "davinci/rl/group_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::rl {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

Group MakeGroup(const std::string& key, const std::vector<std::optional<double>>& rewards) {
  Group group{key, {}};
  for (size_t i = 0; i < rewards.size(); ++i)
    group.members.push_back({key + "#" + std::to_string(i), rewards[i], 100});
  return group;
}

TEST(GroupFilter, AGroupInWhichAllDidTheSameSaysNothing) {
  const Group groups[] = {MakeGroup("alike", {1.5, 1.5, 1.5}),
                          MakeGroup("differ", {1.5, 0.0, 1.5})};
  const auto filtered = FilterGroups(groups, {});
  EXPECT_EQ(filtered[0].fate, GroupFate::kZeroVariance);
  EXPECT_THAT(filtered[0].members, ElementsAre());
  EXPECT_EQ(filtered[1].fate, GroupFate::kTrained);
  EXPECT_THAT(filtered[1].members, ElementsAre(0, 1, 2));
}

// Speedups of 3.0 and 3.1, each known to 0.1, pay 2.0 and 2.05: no reply was better.
TEST(GroupFilter, WhatTimingExplainsSaysNothing) {
  Group noise = MakeGroup("noise", {2.0, 2.05});
  Group faster = MakeGroup("faster", {2.0, 2.5});
  Group wrong = MakeGroup("wrong", {2.0, 0.0});
  for (Group* group : {&noise, &faster, &wrong})
    for (GroupMember& member : group->members) member.noise = *member.reward > 0 ? 0.05 : 0;
  const Group groups[] = {noise, faster, wrong};
  GroupFilterOptions options;
  const auto fates = [&] {
    std::vector<GroupFate> found;
    for (const FilteredGroup& group : FilterGroups(groups, options)) found.push_back(group.fate);
    return found;
  };
  EXPECT_THAT(fates(), Each(GroupFate::kTrained));
  options.timing_noise = 1;
  EXPECT_THAT(fates(),
              ElementsAre(GroupFate::kZeroVariance, GroupFate::kTrained, GroupFate::kTrained));
}

TEST(GroupFilter, MembersTheJudgeFailedOnDoNotCount) {
  const Group groups[] = {MakeGroup("a", {1.0, std::nullopt, 0.0}),
                          MakeGroup("b", {1.0, std::nullopt, std::nullopt})};
  const auto filtered = FilterGroups(groups, {});
  EXPECT_THAT(filtered[0].members, ElementsAre(0, 2));
  EXPECT_EQ(filtered[1].fate, GroupFate::kTooSmall);
}

// Half plus one of 16, as published.
TEST(GroupFilter, SmallGroupsAreDropped) {
  GroupFilterOptions options;
  options.min_members = 9;
  const Group groups[] = {MakeGroup("eight", {1., 0., 1., 0., 1., 0., 1., 0.}),
                          MakeGroup("nine", {1., 0., 1., 0., 1., 0., 1., 0., 1.})};
  const auto filtered = FilterGroups(groups, options);
  EXPECT_EQ(filtered[0].fate, GroupFate::kTooSmall);
  EXPECT_EQ(filtered[1].fate, GroupFate::kTrained);
}

TEST(GroupFilter, CompleteGroupsAreChosenBeforeTheDraw) {
  GroupFilterOptions options;
  options.max_groups = 1;
  const Group groups[] = {MakeGroup("ragged", {1.0, 0.0}), MakeGroup("complete", {1.0, 0.0, 0.5})};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    options.seed = seed;
    const auto filtered = FilterGroups(groups, options);
    EXPECT_EQ(filtered[0].fate, GroupFate::kNotChosen);
    EXPECT_EQ(filtered[1].fate, GroupFate::kTrained);
  }
}

TEST(GroupFilter, AmongEqualsTheSeedDecides) {
  GroupFilterOptions options;
  options.max_groups = 1;
  const Group groups[] = {MakeGroup("a", {1.0, 0.0}), MakeGroup("b", {1.0, 0.0})};
  int first = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    options.seed = seed;
    first += FilterGroups(groups, options)[0].fate == GroupFate::kTrained;
  }
  EXPECT_GT(first, 60);
  EXPECT_LT(first, 140);
}

TEST(GroupFilter, OfTooManyMembersBothKindsStay) {
  GroupFilterOptions options;
  options.max_members = 4;
  const Group groups[] = {MakeGroup("g", {2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0})};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    options.seed = seed;
    const auto filtered = FilterGroups(groups, options);
    EXPECT_THAT(filtered[0].members, SizeIs(4));
    EXPECT_THAT(filtered[0].members, testing::Contains(0));
  }
  const Group mostly[] = {MakeGroup("g", {2.0, 1.0, 1.0, 3.0, 1.0, 0.0})};
  for (uint64_t seed = 0; seed < 20; ++seed) {
    options.seed = seed;
    EXPECT_THAT(FilterGroups(mostly, options)[0].members, testing::Contains(5));
  }
}

TEST(GroupFilter, TheSameSeedKeepsTheSame) {
  GroupFilterOptions options;
  options.max_members = 3;
  const Group groups[] = {MakeGroup("g", {2.0, 0.0, 1.0, 0.0, 0.5, 0.0})};
  EXPECT_EQ(FilterGroups(groups, options)[0].members, FilterGroups(groups, options)[0].members);
}

TEST(GroupFilter, ShortWrongRepliesAreLikelierThanLongOnes) {
  Group group = MakeGroup("g", {1.0, 0.0, 0.0});
  group.members[1].num_tokens = 100;
  group.members[2].num_tokens = 9900;
  GroupFilterOptions options;
  options.max_members = 2;
  int short_one = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    options.seed = seed;
    const auto kept = FilterGroups(std::span(&group, 1), options)[0].members;
    short_one += kept == std::vector<size_t>{0, 1};
  }
  EXPECT_NEAR(short_one / 500.0, 0.99, 0.02);
}

TEST(DynamicSampling, EndsWithEnoughGroupsOrEnoughRounds) {
  EXPECT_TRUE(NeedsMoreGroups(3, 16, 1, 4));
  EXPECT_FALSE(NeedsMoreGroups(16, 16, 1, 4));
  EXPECT_FALSE(NeedsMoreGroups(0, 16, 4, 4));
}

// Limit 1000, buffer 200: penalties begin at 800 and reach -1 at 1000.
TEST(Overlong, SoftPenaltyRisesOverTheBuffer) {
  const auto penalty = [](int64_t tokens) {
    return AssessOverlong(OverlongRule::kSoftPenalty, tokens, 1000, 200, tokens >= 1000).penalty;
  };
  EXPECT_EQ(penalty(800), 0);
  EXPECT_DOUBLE_EQ(penalty(900), -0.5);
  EXPECT_DOUBLE_EQ(penalty(1000), -1);
}

TEST(Overlong, MaskingLeavesOutOnlyWhatWasCut) {
  EXPECT_FALSE(AssessOverlong(OverlongRule::kMask, 1000, 1000, 0, true).trained);
  EXPECT_TRUE(AssessOverlong(OverlongRule::kMask, 1000, 1000, 0, false).trained);
  EXPECT_TRUE(AssessOverlong(OverlongRule::kKeep, 1000, 1000, 0, true).trained);
}

}  // namespace
}  // namespace davinci::rl
