#include "davinci/teacher/candidate/shared_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace davinci::teacher {
namespace {

using testing::ElementsAre;
using Lines = std::vector<std::string>;

bool NoName(const std::string&) { return false; }

TEST(SharedAttributes, AreReadOnce) {
  EXPECT_THAT(
      WithSharedAttributes({"f(self.scale, x)", "g(self.scale.reshape(3), x)"}, NoName),
      ElementsAre("own_scale = self.scale", "f(own_scale, x)", "g(own_scale.reshape(3), x)"));
}

TEST(SharedAttributes, ShareThePathToThem) {
  EXPECT_THAT(WithSharedAttributes({"f(self.layers[0].norm.weight, self.layers[0].norm.bias)",
                                    "g(self.layers[1].weight)"},
                                   NoName),
              ElementsAre("own_layers = self.layers", "own_layers_0_norm = own_layers[0].norm",
                          "f(own_layers_0_norm.weight, own_layers_0_norm.bias)",
                          "g(own_layers[1].weight)"));
}

TEST(SharedAttributes, StayWhereOnePlaceReadsThem) {
  const Lines lines = {"f(self.a)", "g(self.b)", "h(myself.a, it.self.a)"};
  EXPECT_EQ(WithSharedAttributes(lines, NoName), lines);
}

TEST(SharedAttributes, StayWhereALineAssignsOne) {
  const Lines lines = {"f(self.a)", "self.a = x", "g(self.a)"};
  EXPECT_EQ(WithSharedAttributes(lines, NoName), lines);
}

TEST(SharedAttributes, TakeNoNameThatMeansSomethingElse) {
  const Lines lines = {"f(self.a, own_a)", "g(self.a)"};
  EXPECT_EQ(WithSharedAttributes(lines, NoName), lines);
  const Lines others = {"f(self.a)", "g(self.a)"};
  EXPECT_EQ(WithSharedAttributes(others, [](const std::string&) { return true; }), others);
}

}  // namespace
}  // namespace davinci::teacher
