#include "davinci/rl/packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace davinci::rl {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

TrainingSample Sample(std::vector<int32_t> prompt, std::vector<int32_t> output,
                      bool trained = true) {
  TrainingSample sample;
  sample.prompt = std::move(prompt);
  sample.log_probs.assign(output.size(), -0.5f);
  sample.output = std::move(output);
  sample.trained = trained;
  return sample;
}

using Trajectories = std::vector<std::vector<const TrainingSample*>>;

TEST(Packing, TurnsThatContinueShareOneSequence) {
  const TrainingSample one = Sample({1, 2}, {3, 4});
  const TrainingSample two = Sample({1, 2, 3, 4, 5}, {6});
  const Packing packing = PackTrajectories(Trajectories{{&one, &two}});
  ASSERT_THAT(packing.sequences, SizeIs(1));
  EXPECT_THAT(packing.sequences[0].tokens, ElementsAre(1, 2, 3, 4, 5, 6));
  ASSERT_THAT(packing.sequences[0].turns, SizeIs(2));
  EXPECT_EQ(packing.sequences[0].turns[0].begin, 2u);
  EXPECT_EQ(packing.sequences[0].turns[0].end, 4u);
  EXPECT_EQ(packing.sequences[0].turns[1].begin, 5u);
  EXPECT_EQ(packing.num_trained, 3);
  EXPECT_EQ(packing.twice_share(), 0);
}

// Turn 2 was asked without the reply of turn 1: its prompt shares 1, 2 with the history.
TEST(Packing, ShortenedHistoryIsASequenceOfItsOwn) {
  const TrainingSample one = Sample({1, 2}, {3, 4});
  const TrainingSample two = Sample({1, 2, 9}, {6});
  const Packing packing = PackTrajectories(Trajectories{{&one, &two}});
  ASSERT_THAT(packing.sequences, SizeIs(2));
  EXPECT_THAT(packing.sequences[1].tokens, ElementsAre(1, 2, 9, 6));
  EXPECT_EQ(packing.sequences[1].turns[0].sample, 1u);
  EXPECT_EQ(packing.num_twice, 2);
  EXPECT_DOUBLE_EQ(packing.twice_share(), 2 / 8.0);
}

TEST(Packing, ADifferentReplyInThePromptIsNoContinuation) {
  const TrainingSample one = Sample({1, 2}, {3, 4});
  const TrainingSample two = Sample({1, 2, 3, 5, 7}, {6});  // 4 became 5 when encoded again
  EXPECT_THAT(PackTrajectories(Trajectories{{&one, &two}}).sequences, SizeIs(2));
}

TEST(Packing, AMaskedTurnIsContextForTheNext) {
  const TrainingSample one = Sample({1}, {2, 3}, false);
  const TrainingSample two = Sample({1, 2, 3, 4}, {5});
  const Packing packing = PackTrajectories(Trajectories{{&one, &two}});
  ASSERT_THAT(packing.sequences, SizeIs(1));
  EXPECT_EQ(packing.num_trained, 1);
}

TEST(Packing, NothingTrainedIsNothingComputed) {
  const TrainingSample one = Sample({1}, {2}, false);
  const TrainingSample empty = Sample({1}, {});
  const Packing packing = PackTrajectories(Trajectories{{&one}, {&empty}, {}});
  EXPECT_THAT(packing.sequences, SizeIs(0));
  EXPECT_EQ(packing.num_tokens, 0);
}

TEST(Packing, SamplesKeepTheirIndexAcrossTrajectories) {
  const TrainingSample a = Sample({1}, {2}, false);
  const TrainingSample b = Sample({3}, {4});
  const Packing packing = PackTrajectories(Trajectories{{&a}, {&b}});
  ASSERT_THAT(packing.sequences, SizeIs(1));
  EXPECT_EQ(packing.sequences[0].turns[0].sample, 1u);
}

TEST(Bins, FillUpToTheLimitAndKeepWhatIsTooLongAlone) {
  const int64_t lengths[] = {30, 70, 120, 50, 20};
  EXPECT_THAT(PackBins(lengths, 100),
              ElementsAre(ElementsAre(2), ElementsAre(1, 0), ElementsAre(3, 4)));
}

// Each sequence, longest first, goes to the first bin that has room for it.
TEST(Bins, AreThoseOfFirstFitForManyLengths) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < 500; ++i) lengths.push_back(i * i * 7919 % 131);
  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lengths[a] > lengths[b]; });
  for (const int64_t room : {100, 131, 1000}) {
    std::vector<std::vector<size_t>> bins;
    std::vector<int64_t> used;
    for (const size_t i : order) {
      size_t bin = 0;
      while (bin < bins.size() && used[bin] + lengths[i] > room) ++bin;
      bins.resize(std::max(bins.size(), bin + 1));
      used.resize(bins.size());
      bins[bin].push_back(i);
      used[bin] += lengths[i];
    }
    EXPECT_EQ(PackBins(lengths, room), bins) << room;
  }
}

}  // namespace
}  // namespace davinci::rl
