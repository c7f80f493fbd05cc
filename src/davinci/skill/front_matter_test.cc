#include "davinci/skill/front_matter.h"

#include <gtest/gtest.h>

namespace davinci::skill {
namespace {

std::string Values(std::string_view yaml) {
  const auto parsed = ParseFrontMatter("---\n" + std::string(yaml) + "---\nbody", "f");
  return parsed.ok() ? parsed->values.dump() : parsed.status().message();
}

TEST(FrontMatter, ScalarsAreText) {
  EXPECT_EQ(
      Values("a: plain text # comment\nb: 'it''s'\nc: \"tab\\t\\u00b5 \\\"q\\\"\"\nd: 12\ne:\n"),
      R"({"a":"plain text","b":"it's","c":"tab\tµ \"q\"","d":"12","e":""})");
}

TEST(FrontMatter, ListsInBothForms) {
  EXPECT_EQ(Values("a: [x, 'y, z', \"w\"]\nb:\n  - one\n  - 'two'\nc: []\nd:\n- at the margin\n"),
            R"({"a":["x","y, z","w"],"b":["one","two"],"c":[],"d":["at the margin"]})");
}

TEST(FrontMatter, MappingsNest) {
  EXPECT_EQ(Values("metadata:\n  scope: general\n\n  # a remark\n  tags: [a]\nlast: 1\n"),
            R"({"metadata":{"scope":"general","tags":["a"]},"last":"1"})");
}

TEST(FrontMatter, LongValuesGoOnInDeeperLines) {
  EXPECT_EQ(Values("a: one\n  two\n  three\nb: x\n"), R"({"a":"one two three","b":"x"})");
  EXPECT_EQ(Values("a: |\n  one\n   two\n\n  three\nb: >-\n  folds\n  here\n\n  not here\n"),
            R"({"a":"one\n two\n\nthree\n","b":"folds here\nnot here"})");
}

TEST(FrontMatter, QuotedValuesGoOnInTheNextLine) {
  EXPECT_EQ(Values("a: \"Keep rows:\n  once\n\n  read\"\nb: 'x\n  y'\n"),
            R"({"a":"Keep rows: once\nread","b":"x y"})");
}

TEST(FrontMatter, CollectionsInBracesAndBracketsNest) {
  EXPECT_EQ(
      Values("metadata: {scope: general, tags: \"a, b\",\n  more: [1, {x: [y]}]}\nlast: {}\n"),
      R"({"metadata":{"scope":"general","tags":"a, b","more":["1",{"x":["y"]}]},"last":{}})");
  EXPECT_EQ(Values("hooks:\n  - name: a\n    run: b\n  - [c]\n"),
            R"({"hooks":[{"name":"a","run":"b"},["c"]]})");
}

TEST(FrontMatter, BlocksOfEveryKind) {
  EXPECT_EQ(Values("a: |2\n   x\nb: >\n  y\n  z\n\nc: |-\n  w\n"),
            R"({"a":" x\n","b":"y z\n","c":"w"})");
}

TEST(FrontMatter, AliasesAreCopies) {
  EXPECT_EQ(Values("a: &tools [x, y]\nb: *tools\nc: !!str 7\n"),
            R"({"a":["x","y"],"b":["x","y"],"c":"7"})");
}

TEST(FrontMatter, HasBounds) {
  std::string laughs = "a0: &a0 [" + std::string(60, 'x') + "]\n";
  for (int i = 1; i < 9; ++i) {
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) laughs += (k ? ", *a" : "*a") + std::to_string(i - 1);
    laughs += "]\n";
  }
  EXPECT_EQ(Values(laughs), "f:6: the values are longer than 256 KiB together");
  EXPECT_EQ(Values("a: " + std::string(20, '[') + std::string(20, ']') + "\n"),
            "f:2: nested too deeply");
  EXPECT_EQ(Values("a: " + std::string(70'000, 'x') + "\n"),
            "f:1: the front matter is longer than 64 KiB");
  EXPECT_EQ(Values("a: &x [*x]\n"), "f:2: an alias inside of what it names");
}

TEST(FrontMatter, WindowsLineEndsAndByteOrderMarkAreFine) {
  const auto parsed = ParseFrontMatter("\xef\xbb\xbf---\r\na: b\r\n---\r\nbody", "f");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->values.dump(), R"({"a":"b"})");
}

TEST(FrontMatter, ErrorsNameTheLine) {
  EXPECT_EQ(Values("a: b\nno colon here\n"),
            "f:3: expected \"key: value\" instead of \"no colon here\"");
  EXPECT_EQ(Values("a: b\n\na: c\n"), "f:4: \"a\" is there twice");
  const std::string quotes =
      "a value with \": \" inside, or one that begins with \"- \", needs quotes: a";
  EXPECT_EQ(Values("a: when: then\n"), "f:2: " + quotes);
  EXPECT_EQ(Values("a: b\n   c: d\n"), "f:3: " + quotes);
  EXPECT_EQ(Values("x: 1\na: \"open\nb: c\n"), "f:3: the quoted value of \"a\" is not closed");
  EXPECT_EQ(Values("a: \"\\q\"\n"), "f:2: unknown escape character: q");
  EXPECT_EQ(Values("a: [x\n"), "f:2: the list is not closed with ]");
  EXPECT_EQ(Values("a: {x: y\n"), "f:2: the mapping is not closed with }");
  EXPECT_EQ(Values("a: *.py\n"), "f:2: a value that begins with * needs quotes");
  EXPECT_EQ(Values("a: @x\n"), "f:2: a value that begins with @ needs quotes");
  EXPECT_EQ(Values("a:\n\tb: c\n"), "f:3: indentation is made of spaces, not tabs");
  EXPECT_EQ(Values("  a: b\nc: d\n"),
            "f:3: expected \"key: value\", indented like the lines before it");
  EXPECT_EQ(Values("a: 'x' y\n"),
            "f:2: text stands behind the closing quote; put the whole value of \"a\" in quotes");
  EXPECT_EQ(Values("a: [x] [y]\n"),
            "f:2: text stands behind the closing bracket; put the whole value of \"a\" in quotes");
  EXPECT_EQ(Values("{a: b}\nc: d\n"),
            "f:3: expected \"key: value\", indented like the lines before it");
  EXPECT_EQ(Values("a: b\n--- c\n"), "f:3: a second document: --- c");
  EXPECT_EQ(Values("- a\n"), "f:2: expected \"key: value\"");
  EXPECT_EQ(Values("? [a]\n: b\n"), "f:2: a key must be text");
  EXPECT_EQ(Values("a: \"\x01\"\n"), "f:2: a control character (0x01); in quotes, write \\x01");
  EXPECT_EQ(Values("a: \xff\n"), "f:2: not UTF-8");
}

TEST(FrontMatter, MustBeThereAndEnd) {
  EXPECT_EQ(ParseFrontMatter("# Title\n", "f").status().message(),
            "f:1: the file must begin with a line \"---\" and the skill's front matter");
  EXPECT_EQ(ParseFrontMatter("", "f").status().message(),
            "f:1: the file must begin with a line \"---\" and the skill's front matter");
  EXPECT_EQ(ParseFrontMatter("---\na: b\n", "f").status().message(),
            "f:2: the front matter has no closing line \"---\"");
}

TEST(FrontMatter, WhatIsWrittenIsReadAgain) {
  for (const std::string text : {"plain",
                                 "with: colon",
                                 " leading",
                                 "trailing ",
                                 "# hash",
                                 "a #b",
                                 "- dash",
                                 "true",
                                 "NULL",
                                 "12",
                                 "1.5e3",
                                 "\"quoted\"",
                                 "it's",
                                 "[list]",
                                 "tab\there",
                                 "line\nbreak",
                                 "\\back",
                                 "µs",
                                 "",
                                 "~",
                                 "@at",
                                 "ends:",
                                 "a: b # c",
                                 "\x01",
                                 "{a: b}",
                                 "* star",
                                 "\u0085\u2028\ufeff",
                                 "\U0001F680"}) {
    EXPECT_EQ(Values("k: " + YamlScalar(text) + "\n"), OrderedJson({{"k", text}}).dump()) << text;
  }
}

}  // namespace
}  // namespace davinci::skill
