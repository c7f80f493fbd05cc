#include "davinci/base/utf8.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "davinci/base/json_text.h"

namespace davinci {
namespace {

TEST(Utf8, DecodesTheFirstAndTheLastOfEveryLength) {
  const std::pair<std::string_view, uint32_t> known[] = {
      {"\x7f", 0x7f},           {"\xc2\x80", 0x80},
      {"\xdf\xbf", 0x7ff},      {"\xe0\xa0\x80", 0x800},
      {"\xef\xbf\xbf", 0xffff}, {"\xf0\x90\x80\x80", 0x10000},
      {"\xed\x9f\xbf", 0xd7ff}, {"\xf4\x8f\xbf\xbf", 0x10ffff}};
  for (const auto& [text, value] : known) {
    EXPECT_EQ(DecodeUtf8(text).value, value);
    EXPECT_EQ(DecodeUtf8(text).bytes, text.size());
    EXPECT_EQ(ValidUtf8(text), text);
  }
}

TEST(Utf8, ReplacesWhatIsNone) {
  for (const std::string_view wrong :
       {"\xff", "\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xc3"}) {
    EXPECT_EQ(DecodeUtf8(wrong).bytes, 0u);
    const std::string mixed = "ab" + std::string(wrong) + "z";
    EXPECT_EQ(ValidUtf8Prefix(mixed), 2u);
    const std::string valid = ValidUtf8(mixed);
    EXPECT_EQ(ValidUtf8Prefix(valid), valid.size());
    EXPECT_EQ(valid.substr(0, 5), "ab\xEF\xBF\xBD");
    EXPECT_EQ(valid.back(), 'z');
  }
}

TEST(JsonText, TakesAnyBytes) {
  const std::string text = JsonText(nlohmann::json{{"\xed\xa0\x80", "a\xff"}});
  EXPECT_EQ(ValidUtf8Prefix(text), text.size());
  EXPECT_EQ(nlohmann::json::parse(text).size(), 1u);
  EXPECT_EQ(JsonText(nlohmann::ordered_json{{"b", 1}, {"a", 2}}, 1), "{\n \"b\": 1,\n \"a\": 2\n}");
}

TEST(ElideMiddle, KeepsBothEndsWithinTheLimit) {
  const std::string text = "begin" + std::string(10000, '.') + "end";
  const std::string elided = ElideMiddle(text, 200);
  EXPECT_LE(elided.size(), 200u);
  EXPECT_EQ(elided.substr(0, 5), "begin");
  EXPECT_EQ(elided.substr(elided.size() - 3), "end");
  EXPECT_EQ(ElideMiddle("short", 200), "short");
  const std::string slightly = ElideMiddle(std::string(205, '.'), 200);
  const auto kept = std::count(slightly.begin(), slightly.end(), '.');
  EXPECT_NE(slightly.find(std::to_string(205 - kept) + " bytes left out"), std::string::npos);
}

TEST(ElideMiddle, NeverCutsACharacterInHalf) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "ü€";
  for (size_t limit = 0; limit < 110; ++limit)
    EXPECT_NO_THROW((void)nlohmann::json(ElideMiddle(text, limit)).dump()) << limit;
}

}  // namespace
}  // namespace davinci
