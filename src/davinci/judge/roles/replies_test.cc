// Replies of an oracle as they are read. tests/worker/messages_test.py writes the golden files.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/judge/roles/oracle_replies.h"

namespace davinci::judge::from_oracle {
namespace {

using nlohmann::json;

// Each line of the golden file of the replies to `op`.
template <typename Reply>
std::vector<Reply> GoldenReplies(const std::string& op) {
  const std::string path = DAVINCI_SOURCE_DIR "/tests/golden/replies/oracle/" + op + ".jsonl";
  std::istringstream lines(ReadFile(path).value());
  std::vector<Reply> replies;
  for (std::string line; std::getline(lines, line);)
    replies.push_back(json::parse(line).get<Reply>());
  return replies;
}

TEST(Replies, OfInputsHoldWhatACallNeeds) {
  const auto prepared = GoldenReplies<Prepared>("prepare");
  ASSERT_EQ(prepared.size(), 2);
  EXPECT_EQ(prepared[0].distribution, "heavy_tailed");
  EXPECT_EQ(prepared[0].args, "gASVBQ==");
  EXPECT_EQ(prepared[0].call_seed, 13);
  EXPECT_EQ(prepared[0].peak_bytes, 4096);
  EXPECT_FALSE(prepared[1].peak_bytes);

  const auto nonfinite = GoldenReplies<PreparedNonfinite>("nonfinite");
  ASSERT_EQ(nonfinite.size(), 2);
  EXPECT_EQ(nonfinite[0].args, "gASVBQ==");
  EXPECT_EQ(nonfinite[0].call_seed, 13);
  EXPECT_FALSE(nonfinite[1].args);

  const auto drawn = GoldenReplies<Drawn>("draw");
  ASSERT_EQ(drawn.size(), 1);
  EXPECT_EQ(drawn[0].args, (std::vector<std::string>{"gASVBQ==", "gASVCQ=="}));
  EXPECT_EQ(drawn[0].call_seed, 13);
}

TEST(Replies, OfAComparisonSayWhatElseBroke) {
  const auto verified = GoldenReplies<Verified>("verify");
  ASSERT_EQ(verified.size(), 2);
  EXPECT_EQ(verified[0].comparison.at("passed"), true);
  EXPECT_FALSE(verified[0].late);
  EXPECT_EQ(verified[0].changed, 1);
  EXPECT_TRUE(verified[1].comparison.is_null());
  EXPECT_TRUE(verified[1].late);
  EXPECT_FALSE(verified[1].changed);

  const auto several = GoldenReplies<VerifiedSeveral>("verify_several");
  ASSERT_EQ(several.size(), 1);
  ASSERT_EQ(several[0].calls.size(), 2);
  EXPECT_EQ(several[0].calls[0].changed, 1);
  EXPECT_TRUE(several[0].calls[1].late);
  EXPECT_THROW((void)json::object().get<Verified>(), json::exception);
}

TEST(Replies, OfTheReferenceAndItsMemory) {
  EXPECT_TRUE(GoldenReplies<Mutates>("mutates").at(0).mutates);
  EXPECT_FALSE(GoldenReplies<Mutates>("mutates").at(0).hides);
  EXPECT_TRUE(GoldenReplies<Mutates>("mutates").at(1).hides);
  EXPECT_EQ(GoldenReplies<Unread>("unread").at(0).names, std::vector<std::string>{"bias"});
  const auto arenas = GoldenReplies<Arena>("arena");
  ASSERT_EQ(arenas.size(), 2);
  EXPECT_EQ(arenas[0].bytes, 4096);
  EXPECT_EQ(arenas[0].handle, json("00ff"));
  EXPECT_FALSE(arenas[1].handle);
}

TEST(Replies, OfTheDeviceAndTheProcess) {
  EXPECT_TRUE(GoldenReplies<IsFilled>("filled").at(0).filled);
  EXPECT_EQ(GoldenReplies<Released>("release").at(0).at_ns, 123456789);
  EXPECT_EQ(GoldenReplies<Turn>("turn").at(0).turn_seconds, 0.25);
  EXPECT_EQ(GoldenReplies<Calibrated>("calibrate").at(0).between_events_seconds, 0.25);
  EXPECT_TRUE(GoldenReplies<Forgot>("forget").at(0).clean);
}

}  // namespace
}  // namespace davinci::judge::from_oracle
