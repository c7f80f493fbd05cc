#include "davinci/llm/python_literal.h"

#include <gtest/gtest.h>

namespace davinci::llm {
namespace {

using Json = nlohmann::json;

Json Read(std::string_view text) {
  const Literal literal = ReadLiteral(text);
  EXPECT_TRUE(literal.ok()) << text;
  return literal.value;
}

TEST(ReadLiteral, ReadsJson) {
  const Json value = {{"a", {1, -2.5, true, nullptr, "x\n\"y\"", "ü€😀"}}, {"b", Json::object()}};
  EXPECT_EQ(Read(value.dump()), value);
  EXPECT_EQ(Read(value.dump(2, ' ', /*ensure_ascii=*/true)), value);
}

TEST(ReadLiteral, ReadsPython) {
  EXPECT_EQ(Read("{'a': [True, False, None, (1, 2), (3,), ('x'), ]}"),
            Json::parse(R"({"a": [true, false, null, [1, 2], [3], "x"]})"));
  EXPECT_EQ(Read("'it''s'"), "its");
  EXPECT_EQ(Read("\"it's\""), "it's");
  EXPECT_EQ(Read(R"('it\'s')"), "it's");
  EXPECT_EQ(Read("'''a\n'b' \"c\"\n'''"), "a\n'b' \"c\"\n");
  EXPECT_EQ(Read("r'\\d+'"), "\\d+");
  EXPECT_EQ(Read("'\\d\\x41\\u00e4\\U0001f600'"), "\\dAä😀");
  EXPECT_EQ(Read("(\n  'a ' # first\n  \"b\"\n)"), "a b");
  EXPECT_EQ(Read("{name: 'x'}"), Json({{"name", "x"}}));
  EXPECT_EQ(Read("+3"), 3);
}

TEST(ReadLiteral, LineBreaksInsideStringsAreKept) {
  EXPECT_EQ(Read("{\"content\": \"line 1\nline 2\"}"), Json({{"content", "line 1\nline 2"}}));
}

TEST(ReadLiteral, StopsAtTheEndOfTheValue) {
  const std::string text = "  [1, 2] and more";
  const Literal literal = ReadLiteral(text);
  ASSERT_TRUE(literal.ok());
  EXPECT_EQ(text.substr(literal.end), " and more");
}

TEST(ReadLiteral, TellsTruncatedFromMalformed) {
  for (const char* text : {"", "{", "{'a'", "{'a':", "{'a': 1", "[1,", "'abc", "'''a'", "{'a': Tr"})
    EXPECT_EQ(ReadLiteral(text).error, LiteralError::kTruncated) << text;
  for (const char* text : {"}", "{1: 2 3}", "[1 2]", "{'a' 1}", "1.2.3", "hello world", "nan", "@"})
    EXPECT_EQ(ReadLiteral(text).error, LiteralError::kMalformed) << text;
}

TEST(ReadLiteral, DeepNestingIsRefused) {
  EXPECT_EQ(ReadLiteral(std::string(100'000, '[')).error, LiteralError::kMalformed);
}

TEST(ReadLiteral, LoneSurrogatesBecomeReplacementCharacters) {
  EXPECT_EQ(Read(R"("\ud83d\ude00")"), "😀");
  EXPECT_EQ(Read(R"("\ud83d!")"), "\xef\xbf\xbd!");
  EXPECT_EQ(Read(R"("\ud83dA")"),
            "\xef\xbf\xbd"
            "A");
  EXPECT_EQ(Read(R"("\ude00")"), "\xef\xbf\xbd");
}

}  // namespace
}  // namespace davinci::llm
