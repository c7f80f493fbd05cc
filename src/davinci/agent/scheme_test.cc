#include "davinci/agent/scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::agent {
namespace {

using ::testing::ElementsAre;

TEST(DedupeSchemes, MergesEqualSetsAndKeepsTheFirstOrder) {
  const auto result = DedupeSchemes({{{"a", "b"}}, {{"c"}}, {{"b", "a"}}, {}, {{"c"}}});
  EXPECT_THAT(result.schemes, ElementsAre(Scheme{{"a", "b"}}, Scheme{{"c"}}, Scheme{}));
  EXPECT_THAT(result.index_of, ElementsAre(0, 1, 0, 2, 1));
  EXPECT_TRUE(result.schemes[2].IsNull());
}

TEST(DedupeSchemes, ASubsetIsAnotherScheme) {
  EXPECT_EQ(DedupeSchemes({{{"a"}}, {{"a", "b"}}}).schemes.size(), 2u);
}

TEST(DedupeSchemes, NothingGivesNothing) { EXPECT_TRUE(DedupeSchemes({}).schemes.empty()); }

}  // namespace
}  // namespace davinci::agent
