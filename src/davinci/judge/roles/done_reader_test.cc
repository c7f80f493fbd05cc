#include "davinci/judge/roles/done_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

using nlohmann::json;

json Output(uint64_t address, const char* handle) {
  return {{"ptr", address}, {"dtype", "f32"}, {"shape", {4}}, {"stride", {1}}, {"ipc", handle}};
}

json Long(const std::vector<json>& outputs) {
  return {{"structure", "T"}, {"outputs", outputs}, {"inner_ns", 70}};
}

std::string Short(int64_t inner_ns, std::initializer_list<uint64_t> addresses) {
  std::string done(1, worker::kDoneMark);
  done.append(reinterpret_cast<const char*>(&inner_ns), sizeof inner_ns);
  for (const uint64_t address : addresses)
    done.append(reinterpret_cast<const char*>(&address), sizeof address);
  return done;
}

TEST(DoneReader, AShortReplyIsLikeTheLongOneBeforeIt) {
  DoneReader reader;
  CallResult first;
  ASSERT_TRUE(reader.ReadLong(Long({Output(16, "a")}), 1, false, &first).ok());
  CallResult second;
  ASSERT_TRUE(reader.ReadShort(Short(80, {16}), 1, false, &second).ok());
  EXPECT_EQ(second.inner_ns, 80);
  EXPECT_EQ(second.structure, "T");
  EXPECT_EQ(second.outputs.at(0).dtype, "f32");
  EXPECT_EQ(second.outputs.at(0).ipc, "a");
}

TEST(DoneReader, AnAddressIsOpenedAsItWasDescribedAndOneNeverDescribedNotAtAll) {
  DoneReader reader;
  CallResult result;
  ASSERT_TRUE(reader.ReadLong(Long({Output(16, "a")}), 1, false, &result).ok());
  ASSERT_TRUE(reader.ReadLong(Long({Output(32, "b")}), 1, false, &result).ok());
  ASSERT_TRUE(reader.ReadShort(Short(80, {16}), 1, false, &result).ok());
  EXPECT_EQ(result.outputs.at(0).ipc, "a");
  ASSERT_TRUE(reader.ReadShort(Short(80, {48}), 1, false, &result).ok());
  EXPECT_TRUE(result.outputs.at(0).ipc.is_null());
}

TEST(DoneReader, AReplyOfAnotherSizeFitsNoCall) {
  DoneReader reader;
  CallResult result;
  EXPECT_FALSE(reader.ReadShort(Short(80, {16}), 1, false, &result).ok());  // no long one before
  ASSERT_TRUE(reader.ReadLong(Long({Output(16, "a")}), 1, false, &result).ok());
  EXPECT_FALSE(reader.ReadShort(Short(80, {16, 32}), 1, false, &result).ok());
  EXPECT_FALSE(reader.ReadShort(Short(80, {16}), 2, false, &result).ok());
  EXPECT_FALSE(reader.ReadLong(Long({Output(16, "a")}), 2, false, &result).ok());
  EXPECT_FALSE(
      reader.ReadLong({{"several", json::array({Long({}), Long({}), Long({})})}}, 2, false, &result)
          .ok());
}

TEST(DoneReader, OfAnEmptyWindowNoOutputIsRead) {
  DoneReader reader;
  CallResult result;
  EXPECT_TRUE(reader.ReadShort(Short(80, {1, 2, 3}), 4, true, &result).ok());
  EXPECT_TRUE(reader.ReadLong(Long({Output(16, "a")}), 4, true, &result).ok());
  EXPECT_TRUE(result.returned.empty());
  EXPECT_FALSE(reader.ReadShort(Short(80, {16}), 1, false, &result).ok());
}

TEST(DoneReader, ForgetsWhatAnotherCandidateReturned) {
  DoneReader reader;
  CallResult result;
  ASSERT_TRUE(reader.ReadLong(Long({Output(16, "a")}), 1, false, &result).ok());
  reader.Forget();
  EXPECT_FALSE(reader.ReadShort(Short(80, {16}), 1, false, &result).ok());
}

}  // namespace
}  // namespace davinci::judge
