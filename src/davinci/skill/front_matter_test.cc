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

TEST(FrontMatter, WindowsLineEndsAndByteOrderMarkAreFine) {
  const auto parsed = ParseFrontMatter("\xef\xbb\xbf---\r\na: b\r\n---\r\nbody", "f");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->values.dump(), R"({"a":"b"})");
}

TEST(FrontMatter, ErrorsNameTheLine) {
  EXPECT_EQ(Values("a: b\nno colon here\n"), "f:3: expected \"key: value\"");
  EXPECT_EQ(Values("a: b\n\na: c\n"), "f:4: \"a\" is there twice");
  EXPECT_EQ(Values("a: when: then\n"), "f:2: a value with \": \" inside needs quotes");
  EXPECT_EQ(Values("a: \"open\n"), "f:2: the quoted value does not end on its line");
  EXPECT_EQ(Values("a: \"\\q\"\n"), "f:2: unknown escape \\q in the quoted value");
  EXPECT_EQ(Values("a: [x\n"), "f:2: the list is not closed with ] on its line");
  EXPECT_EQ(Values("a: {x: y}\n"), "f:2: a value with \": \" inside needs quotes");
  EXPECT_EQ(Values("a: &anchor\n"), "f:2: a value that begins with & needs quotes");
  EXPECT_EQ(Values("a:\n\tb: c\n"), "f:3: indentation is made of spaces, not tabs");
  EXPECT_EQ(Values("a: b\n   c: d\n"), "f:3: a value with \": \" inside needs quotes");
  EXPECT_EQ(Values("  a: b\n"), "f:2: indented more than the line before it");
  EXPECT_EQ(Values("a: 'x' y\n"), "f:2: unexpected text behind the closing quote: y");
  EXPECT_EQ(Values("a: |2\n  x\n"), "f:2: only |, |-, |+, >, >- and >+ begin a block");
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
  for (const std::string text :
       {"plain",  "with: colon", " leading",  "trailing ",   "# hash",   "a #b",
        "- dash", "true",        "NULL",      "12",          "1.5e3",    "\"quoted\"",
        "it's",   "[list]",      "tab\there", "line\nbreak", "\\back",   "µs",
        "",       "~",           "@at",       "ends:",       "a: b # c", "\x01"}) {
    EXPECT_EQ(Values("k: " + YamlScalar(text) + "\n"), OrderedJson({{"k", text}}).dump()) << text;
  }
}

}  // namespace
}  // namespace davinci::skill
