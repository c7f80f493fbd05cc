#include "davinci/judge/protocol.h"

#include <gtest/gtest.h>

#include <string>

namespace davinci::judge {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

TEST(MemoryWithin, LeavesASmallMachineSomeOfItsMemory) {
  EXPECT_EQ(MemoryWithin(16 * kGiB, 10 * kGiB), 6 * kGiB);
  EXPECT_EQ(MemoryWithin(16 * kGiB, 512 * kGiB), 16 * kGiB);
  EXPECT_EQ(MemoryWithin(16 * kGiB, 0), 16 * kGiB);
}

TEST(SampleProcesses, EachBaselineMeetsEachCandidateAndOneChangesNothing) {
  for (const std::string& name : ProtocolNames()) {
    Protocol protocol = ProtocolByName(name).value();
    EXPECT_EQ(protocol.processes, 1);
    const int usual = protocol.min_pairs;
    SampleProcesses(1, &protocol);
    EXPECT_EQ(protocol.min_pairs, usual);
    SampleProcesses(4, &protocol);
    EXPECT_EQ(protocol.processes, 4);
    EXPECT_EQ(protocol.min_pairs, 16);
    EXPECT_GE(protocol.max_pairs, protocol.min_pairs);
  }
}

}  // namespace
}  // namespace davinci::judge
