#include "davinci/report/training_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "davinci/report/curve_plot.h"

namespace davinci::report {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(LinearTicks, AreRoundAndWithinTheRange) {
  EXPECT_THAT(LinearTicks(0, 1, 5),
              ElementsAre(DoubleEq(0), DoubleEq(0.2), DoubleEq(0.4), DoubleEq(0.6000000000000001),
                          DoubleEq(0.8), DoubleEq(1)));
  EXPECT_THAT(LinearTicks(-3, 12, 4), ElementsAre(0, 5, 10));
  EXPECT_THAT(LinearTicks(1, 1, 4), ElementsAre());
}

// Reward 1 and 3 on an axis that holds 0: the first point lies a third of the way up.
TEST(CurvePlot, PlacesPointsOnTheAxis) {
  const std::string plot = CurvePlot("reward", {{"policy", {{1, 1}, {2, 3}}}}, true);
  EXPECT_THAT(plot, HasSubstr("points=\"58.0,124.7 402.0,10.0\""));
  EXPECT_THAT(plot, HasSubstr("policy: 1 at step 1, 3 at step 2"));
}

TEST(CurvePlot, ShowsOnePointAndFlatCurvesAndNothingOfNothing) {
  EXPECT_EQ(CurvePlot("x", {}, false), "");
  EXPECT_EQ(CurvePlot("x", {{"a", {}}}, false), "");
  const std::string one = CurvePlot("x", {{"a", {{7, 0.5}}}}, false);
  EXPECT_THAT(one, HasSubstr("<circle"));
  EXPECT_THAT(one, Not(HasSubstr("polyline")));
  EXPECT_THAT(one, Not(HasSubstr("nan")));
  EXPECT_THAT(CurvePlot("x", {{"a", {{1, 0}, {2, 0}}}}, true), Not(HasSubstr("nan")));
}

TrainingView MakeView(int steps) {
  TrainingView view;
  view.title = "run <1>";
  view.folder = "runs/\"1\"";
  view.reinforcement = true;
  for (int step = 1; step <= steps; ++step)
    view.points.push_back({step,
                           {{"reward/policy", 0.1 * step},
                            {"kl/policy", 1e-3},
                            {"kl/selection", 2e-3},
                            {"clipped/policy/low", 0.25},
                            {"seconds/rollout", 5},
                            {"new <number>", 1}}});
  view.settings = {{"train.steps", "<2>"}};
  return view;
}

TEST(TrainingHtml, DrawsACurveForEachKnownNumberAndListsAll) {
  const std::string html = RenderTrainingHtml(MakeView(3));
  EXPECT_EQ(Count(html, "<polyline"), 5);
  for (const char* text : {"KL to the sampling policy", "phase times", "0.1 → 0.3", "clipped",
                           "new &lt;number&gt;", "has not reached its last step"})
    EXPECT_THAT(html, HasSubstr(text));
}

TEST(TrainingHtml, EscapesTextsAndHasNoScripts) {
  const std::string html = RenderTrainingHtml(MakeView(2));
  EXPECT_THAT(html, HasSubstr("run &lt;1&gt;"));
  EXPECT_THAT(html, HasSubstr("Content-Security-Policy"));
  for (const char* forbidden : {"<script", "http://", "https://", "run <1>", "<number>", "<2>"})
    EXPECT_THAT(html, Not(HasSubstr(forbidden))) << forbidden;
}

TEST(TrainingHtml, StaysSmallForALongRun) {
  const std::string html = RenderTrainingHtml(MakeView(100000));
  EXPECT_LT(html.size(), 200000u);
  EXPECT_THAT(html, HasSubstr("1e+04"));  // the last reward, 10000
}

TEST(TrainingHtml, AnEmptyLogSaysSo) {
  EXPECT_THAT(RenderTrainingHtml(TrainingView{}), HasSubstr("no line yet"));
}

}  // namespace
}  // namespace davinci::report
