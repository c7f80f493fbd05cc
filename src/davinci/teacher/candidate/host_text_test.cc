#include "davinci/teacher/candidate/host_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "davinci/agent/delta_reply.h"
#include "davinci/teacher/emit/emitter.h"

namespace davinci::teacher {
namespace {

using ::testing::ElementsAre;

TEST(ShortHostText, SizesGetNamesAndRepeatedProductsToo) {
  EXPECT_THAT(ShortHostText(
                  {"t8 = x.new_empty((x.shape[0], (x.shape[2] - 2 - 1) // 2 + 1))",
                   "f1[((x.shape[0] * ((x.shape[2] - 2 - 1) // 2 + 1) + 1023) // 1024,)](x, t8, "
                   "x.shape[0], (x.shape[2] - 2 - 1) // 2 + 1, 1 << (x.shape[2] - 1).bit_length())",
                   "return t8"},
                  {{"x", 3}}),
              ElementsAre("A, _, B = x.shape", "C = (B - 3) // 2 + 1", "t1 = x.new_empty((A, C))",
                          "f1[cdiv(A * C, 1024)](x, t1, A, C, pow2(B))", "return t1"));
}

TEST(ShortHostText, ASizeThatIsReadOnceStaysWhereItIs) {
  EXPECT_THAT(ShortHostText({"t3 = self.fc(x)", "f1[x.shape[0]](t3)", "return t3"}, {{"x", 2}}),
              ElementsAre("t1 = self.fc(x)", "f1[x.shape[0]](t1)", "return t1"));
}

TEST(ShortHostText, ShapesOfResultsAreReadBehindThem) {
  EXPECT_THAT(ShortHostText({"t4 = x.unfold(1, 2, 2)", "f1[t4.shape[0] * t4.shape[1]](t4)",
                             "f2[t4.shape[0]](t4, t4.shape[1])", "return t4"},
                            {{"x", 2}}),
              ElementsAre("t1 = x.unfold(1, 2, 2)", "A, B = t1.shape[0], t1.shape[1]",
                          "f1[A * B](t1)", "f2[A](t1, B)", "return t1"));
}

TEST(ShortHostText, ResultsOfKnownRankAreTakenApart) {
  EXPECT_THAT(
      ShortHostText(
          {"t4 = self.conv(x)", "f1[t4.shape[1] * t4.shape[2]](t4, t4.shape[2])", "return t4"},
          {{"x", 4}}, {{"t4", 4}}),
      ElementsAre("t1 = self.conv(x)", "_, A, B, _ = t1.shape", "f1[A * B](t1, B)", "return t1"));
}

TEST(ShortHostText, LettersOfTheTaskStayItsOwn) {
  EXPECT_THAT(
      ShortHostText(
          {"t1 = x.view(-1, A)", "f1[x.shape[0] * A](x, x.shape[0], x.shape[1])", "return t1"},
          {{"x", 2}}),
      ElementsAre("B, C = x.shape", "t1 = x.view(-1, A)", "f1[B * A](x, B, C)", "return t1"));
}

TEST(ShortHostText, ModulesWhoseTensorsAreReadGetNames) {
  EXPECT_THAT(ShortHostText({"f1[8](self.block.layers[2].weight, self.block.layers[2].bias, "
                             "self.block.layers[2].running_mean)",
                             "t2 = self.block.layers[2](x)", "return t2"},
                            {{"x", 2}}),
              ElementsAre("m1 = self.block.layers[2]", "f1[8](m1.weight, m1.bias, m1.running_mean)",
                          "return self.block.layers[2](x)"));
}

TEST(ShortHostText, WhatHasANameKeepsIt) {
  const HostNames names = {{{"t7", "t2"}, {"t9", "a3"}},
                           {{"x.shape[0]", "A"}, {"self.block.fc.weight.shape[0]", "D"}},
                           {},
                           {"A", "B", "D"},
                           {{"self.block", "m1"}}};
  EXPECT_THAT(
      ShortHostText({"t7 = x.new_empty((x.shape[0], self.block.fc.weight.shape[0]))",
                     "f1[x.shape[0]](x, self.block.fc.weight, t7, x.shape[1])",
                     "t9 = t7.reshape(x.shape[0] * x.shape[1], -1)",
                     "f1[x.shape[0]](t9, self.block.fc.weight, t9, x.shape[1])", "return t7"},
                    {{"x", 2}}, {}, &names),
      ElementsAre("A, C = x.shape", "m1 = self.block", "D = m1.fc.weight.shape[0]",
                  "t2 = x.new_empty((A, D))", "f1[A](x, m1.fc.weight, t2, C)",
                  "a3 = t2.reshape(A * C, -1)", "f1[A](a3, m1.fc.weight, a3, C)", "return t2"));
}

TEST(ShortHostText, FormulasStandInFrontOfTheirFirstUse) {
  const HostNames names = {{{"t7", "t2"}, {"t9", "t3"}},
                           {{"x.shape[0]", "A"}, {"x.shape[1]", "B"}},
                           {{"C", "(x.shape[1] - 2) // 2 + 1"}, {"D", "x.shape[1] // 7"}},
                           {"A", "B", "C", "D"},
                           {}};
  EXPECT_THAT(
      ShortHostText(
          {"t9 = self.conv(x)", "t7 = x.new_empty((x.shape[0], (x.shape[1] - 2) // 2 + 1))",
           "f1[x.shape[0] * ((x.shape[1] - 2) // 2 + 1)](t9, t7, (x.shape[1] - 2) // 2 + 1)",
           "return t7"},
          {{"x", 2}}, {}, &names),
      ElementsAre("A, B = x.shape", "t3 = self.conv(x)", "C = (B - 2) // 2 + 1",
                  "t2 = x.new_empty((A, C))", "f1[A * C](t3, t2, C)", "return t2"));
}

// Whole files and delta replies compute the same functions.
TEST(TritonPrelude, IsThePreludeOfDeltaReplies) {
  const auto prelude =
      Prelude::Load(std::filesystem::path(DAVINCI_SOURCE_DIR) / "python/davinci_runtime/prelude.py")
          .value();
  for (const char* helper : {"tanh", "log1p", "expm1", "round_even", "atan", "atan2", "log_add",
                             "larger", "smaller", "times"}) {
    std::string text;
    for (const auto& piece : prelude.definitions())
      if (piece.name == helper) text = piece.text;
    EXPECT_EQ(TritonPrelude({helper}), text + "\n\n") << helper;
  }
}

}  // namespace
}  // namespace davinci::teacher
