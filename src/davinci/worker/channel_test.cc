#include "davinci/worker/channel.h"

#include <gtest/gtest.h>

#include <cstring>

#include "davinci/worker/protocol.h"

namespace davinci::worker {
namespace {

std::string Done(size_t pointers) {
  std::string payload(kDoneHeadBytes + 8 * pointers, '\0');
  payload[0] = kDoneMark;
  return payload;
}

std::string Framed(const std::string& payload) {
  const auto length = static_cast<uint32_t>(payload.size());
  std::string frame(sizeof length, '\0');
  std::memcpy(frame.data(), &length, sizeof length);
  return frame + payload;
}

TEST(NumDonePointers, AreOneToTheMost) {
  EXPECT_EQ(NumDonePointers(Done(0)), 0);
  EXPECT_EQ(NumDonePointers(Done(1)), 1);
  EXPECT_EQ(NumDonePointers(Done(kMaxDonePointers)), kMaxDonePointers);
  EXPECT_EQ(NumDonePointers(Done(kMaxDonePointers + 1)), 0);
  EXPECT_EQ(NumDonePointers(Done(2) + "x"), 0);
  EXPECT_EQ(NumDonePointers(Done(2).replace(0, 1, "{")), 0);
  EXPECT_EQ(NumDonePointers(""), 0);
}

TEST(Channel, TellsAShortReplyFromAMessage) {
  auto pair = Channel::CreatePair();
  ASSERT_TRUE(pair.ok());
  Channel peer(std::move(pair->second));
  ASSERT_TRUE(peer.SendFrame(Framed(Done(3))).ok());
  ASSERT_TRUE(peer.Send({{"ok", 1}}).ok());
  auto done = pair->first.Receive(1);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->done, Done(3));
  auto message = pair->first.Receive(1);
  ASSERT_TRUE(message.ok());
  EXPECT_TRUE(message->done.empty());
  EXPECT_EQ(message->body, nlohmann::json({{"ok", 1}}));
}

TEST(Channel, TellsHowLongTheNextFrameIsAndLeavesItThere) {
  auto pair = Channel::CreatePair();
  ASSERT_TRUE(pair.ok());
  Channel peer(std::move(pair->second));
  EXPECT_EQ(pair->first.WaitingBytes(), 0);
  ASSERT_TRUE(peer.SendFrame(Framed(Done(300))).ok());
  EXPECT_EQ(pair->first.WaitingBytes(), Done(300).size());
  auto done = pair->first.Receive(1);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->done, Done(300));
  EXPECT_EQ(pair->first.WaitingBytes(), 0);
}

TEST(Channel, AMarkOfTheWrongLengthIsNoMessage) {
  auto pair = Channel::CreatePair();
  ASSERT_TRUE(pair.ok());
  Channel peer(std::move(pair->second));
  ASSERT_TRUE(peer.SendFrame(Framed(Done(kMaxDonePointers + 1))).ok());
  EXPECT_EQ(pair->first.Receive(1).status().code(), StatusCode::kInvalidArgument);
}

TEST(Channel, DoesNotWaitForeverForAPeerThatReadsNothing) {
  auto pair = Channel::CreatePair(0.05);
  ASSERT_TRUE(pair.ok());
  Status sent = Status::Ok();
  for (int i = 0; sent.ok() && i < 1000; ++i)
    sent = pair->first.SendFrame(std::string(1 << 16, 'x'));
  EXPECT_EQ(sent.code(), StatusCode::kDeadlineExceeded) << sent.ToString();
}

TEST(Channel, SeesThatItsPeerIsGone) {
  auto pair = Channel::CreatePair();
  ASSERT_TRUE(pair.ok());
  pair->second.Reset();
  EXPECT_EQ(pair->first.Receive(1).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace davinci::worker
