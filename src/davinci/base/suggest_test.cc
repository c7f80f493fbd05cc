#include "davinci/base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace davinci {
namespace {

const std::vector<std::string> kKeys = {"precision", "tolerance", "tolerance_multiple", "mode"};

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(EditDistance("mdoe", "mode"), 1u) << "neighbours swapped is one edit";
  EXPECT_EQ(EditDistance("Mode", "mode"), 0u);
}

TEST(NearestName, FindsTypos) {
  EXPECT_EQ(NearestName("presicion", kKeys), "precision");
  EXPECT_EQ(NearestName("tolerance_multipel", kKeys), "tolerance_multiple");
  EXPECT_EQ(NearestName("MODE", kKeys), "mode");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(NearestName("gpu", kKeys), std::nullopt);
  EXPECT_EQ(NearestName("", kKeys), std::nullopt);
  EXPECT_EQ(NearestName(std::string(1 << 20, 'x'), kKeys), std::nullopt);
}

TEST(DidYouMean, IsReadyToAppend) {
  EXPECT_EQ(DidYouMean("moed", kKeys), " (did you mean \"mode\"?)");
  EXPECT_EQ(DidYouMean("zzz", kKeys), "");
}

}  // namespace
}  // namespace davinci
