#include "davinci/text/utf8_repair.h"

#include <gtest/gtest.h>

namespace davinci::text {
namespace {

TEST(RepairUtf8, EachMaximalInvalidPartIsOneReplacement) {
  EXPECT_EQ(RepairUtf8("a\xF0\x9F\x98z"), "a\xEF\xBF\xBDz");      // cut after 3 of 4
  EXPECT_EQ(RepairUtf8("\xFF\xFF"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // begin no character
  EXPECT_EQ(RepairUtf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(RepairUtf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");                  // overlong
  EXPECT_EQ(RepairUtf8("\xE4\xB8\xE4\xB8\xAD"), "\xEF\xBF\xBD\xE4\xB8\xAD");
}

TEST(IncompleteTail, OnlyWhatMoreBytesCanCompleteIsHeldBack) {
  EXPECT_EQ(IncompleteTail("a"), 0U);
  EXPECT_EQ(IncompleteTail("a\xF0"), 1U);
  EXPECT_EQ(IncompleteTail("a\xF0\x9F\x98"), 3U);
  EXPECT_EQ(IncompleteTail("\xF0\x9F\x98\x80"), 0U);
  EXPECT_EQ(IncompleteTail("\xFF"), 0U);
  EXPECT_EQ(IncompleteTail("\xE0\x80"), 0U);  // no character begins like this
  EXPECT_EQ(IncompleteTail("\x80\x80"), 0U);
}

}  // namespace
}  // namespace davinci::text
