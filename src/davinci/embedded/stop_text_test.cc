#include "davinci/embedded/stop_text.h"

#include <gtest/gtest.h>

#include <random>

namespace davinci::embedded {
namespace {

TEST(StopText, AnyCutGivesTheTextBeforeTheFirstStopString) {
  const std::string text = "one two</s>three ENDfour";
  std::mt19937 random(1);
  for (const auto& [stops, expected] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{{{"</s>"}, "one two"},
                                                                     {{"END", "two<"}, "one "},
                                                                     {{}, text},
                                                                     {{"absent", ""}, text},
                                                                     {{"four!"}, text},
                                                                     {{"e", "o"}, ""}}) {
    for (int run = 0; run < 200; ++run) {
      StopText stop(stops);
      std::string out;
      for (size_t at = 0; at < text.size();) {
        const size_t length = 1 + random() % 5;
        out += stop.Push(std::string_view(text).substr(at, length));
        at += length;
      }
      out += stop.Finish();
      ASSERT_EQ(out, expected);
      ASSERT_EQ(stop.stopped(), expected != text);
    }
  }
}

TEST(StopText, GivesOutWhatCannotBecomeAStopString) {
  StopText stop({"abc"});
  EXPECT_EQ(stop.Push("xab"), "x");
  EXPECT_EQ(stop.Push("d"), "abd");
}

}  // namespace
}  // namespace davinci::embedded
