#include "davinci/base/table.h"

#include <gtest/gtest.h>

namespace davinci {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoTrailingBlanks) {
  Table table({{"task"}, {"speedup", Align::kRight}, {"note"}});
  table.AddRow({"softmax", "1.90", "ok"});
  table.AddRow({"a", "12.00"});
  EXPECT_EQ(table.Render(),
            "task     speedup  note\n"
            "──────────────────────\n"
            "softmax     1.90  ok\n"
            "a          12.00\n");
}

TEST(Table, RuleSeparatesGroupsAndIsNoRow) {
  Table table({{"x"}});
  table.AddRow({"1"});
  table.AddRule();
  table.AddRow({"2"});
  EXPECT_EQ(table.num_rows(), 2u);
  EXPECT_EQ(table.Render(), "x\n─\n1\n─\n2\n");
}

TEST(Table, WidestColumnShrinksToFitTheTerminal) {
  Table table({{"name"}, {"message"}});
  table.AddRow({"gelu", "a message that is much longer than the line"});
  Table::Options options;
  options.max_width = 20;
  EXPECT_EQ(table.Render(options),
            "name  message\n"
            "────────────────────\n"
            "gelu  a message tha…\n");
}

TEST(Table, ColourGoesAroundTextNotAroundPadding) {
  Table table({{"s"}, {"t"}});
  table.AddRow({Table::Cell("ok", TextStyle::kGood), "x"});
  Table::Options options;
  options.color = true;
  EXPECT_NE(table.Render(options).find("\x1b[32mok\x1b[0m  x\n"), std::string::npos);
}

TEST(Table, HostileTextCannotReachTheTerminal) {
  Table table({{"kernel"}});
  table.AddRow(
      {"a\x1b[2Jb\rc\xff"
       "d\u202E"
       "e"});
  EXPECT_EQ(table.Render(), "kernel\n────────────\na?[2Jb?c?d?e\n");
}

TEST(Table, HostileTextIsMeasuredAfterCleaning) {
  EXPECT_EQ(Printable("a\nb\tc"), "a b c");
  EXPECT_EQ(Printable("\xc0\xaf"), "??") << "over-long encodings are not UTF-8";
  EXPECT_EQ(Printable("µs → 2×"), "µs → 2×");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth("µs"), 2u);
  EXPECT_EQ(DisplayWidth("内核"), 4u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
}

TEST(Ellipsize, KeepsWholeCharacters) {
  EXPECT_EQ(Ellipsize("内核测试", 5), "内核…");
  EXPECT_EQ(Ellipsize("abc", 3), "abc");
  EXPECT_EQ(Ellipsize("abcd", 3), "ab…");
  EXPECT_EQ(Ellipsize("abcd", 0), "");
}

}  // namespace
}  // namespace davinci
