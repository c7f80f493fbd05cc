#include "davinci/teacher/cards/rearrangement.h"

#include <gtest/gtest.h>

#include <set>

namespace davinci::teacher {
namespace {

// Halves of the channels as columns of the rows that they make longer.
Rearrangement Halves() {
  Rearrangement drawn;
  drawn.parts = {{'c', "C//2"}, {'p', "H"}, {'q', "W"}, {'i', "2"}};
  drawn.indices = {"{i}*(C//2) + {c}", "{p}", "{q}"};
  drawn.axes = {{0}, {1, 3, 2}};
  return drawn;
}

TEST(Rearrangement, SaysItsPlacesByPositionAndByParts) {
  const Rearrangement drawn = Halves();
  EXPECT_EQ(drawn.Shape(), "N, C//2, H*W*2");
  EXPECT_EQ(drawn.Place(), "o[n, c, p]");
  EXPECT_EQ(drawn.Indices(), "n, (p // W % 2)*(C//2) + c, (p // (W*2)), (p % W)");
  EXPECT_EQ(drawn.PlaceByParts(), "o[n, c, p*(W*2) + i*W + q]");
  EXPECT_EQ(drawn.IndicesByParts(), "n, i*(C//2) + c, p, q");
  EXPECT_FALSE(drawn.IsHeldOut());
}

TEST(Rearrangement, KnowsTheOrdersOfHeldOutOperators) {
  Rearrangement drawn;
  drawn.parts = {{'c', "C"}, {'p', "H//2"}, {'q', "W//2"}, {'i', "2"}, {'j', "2"}};
  for (const auto& axes : {std::vector<std::vector<size_t>>{{0, 3, 4}, {1}, {2}},
                           {{0, 3, 4}, {1, 2}},
                           {{0}, {1, 3}, {2, 4}}}) {
    drawn.axes = axes;
    EXPECT_TRUE(drawn.IsHeldOut()) << drawn.PlaceByParts();
  }
  drawn.axes = {{3, 4, 0}, {1, 2}};
  EXPECT_FALSE(drawn.IsHeldOut());
}

TEST(Rearrangement, AreRarelyTheSame) {
  SplitMix64 rng(7);
  std::set<std::string> formulas;
  for (int i = 0; i < 1000; ++i) {
    const Rearrangement drawn = DrawRearrangement(&rng);
    formulas.insert(drawn.Shape() + " | " + drawn.Indices());
  }
  EXPECT_GT(formulas.size(), 700u);
}

}  // namespace
}  // namespace davinci::teacher
