#include "davinci/store/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "davinci/base/files.h"

namespace davinci::store {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("journal");
    ASSERT_TRUE(dir.ok()) << dir.status().ToString();
    dir_ = std::move(dir).value();
    path_ = dir_.path() / "j.jsonl";
  }
  std::unique_ptr<Journal> Open() {
    auto journal = Journal::Open(path_);
    EXPECT_TRUE(journal.ok()) << journal.status().ToString();
    return journal.ok() ? std::move(*journal) : nullptr;
  }
  JournalContent Read() {
    auto content = Journal::Read(path_);
    EXPECT_TRUE(content.ok()) << content.status().ToString();
    return content.ok() ? *content : JournalContent{};
  }
  void Write(std::string_view text) { ASSERT_TRUE(WriteFileAtomic(path_, text).ok()); }

  TempDir dir_;
  std::filesystem::path path_;
};

TEST_F(JournalTest, RecordsComeBackInOrder) {
  {
    auto journal = Open();
    ASSERT_TRUE(journal->Append({{"id", 1}, {"text", "two\nlines"}}).ok());
    ASSERT_TRUE(journal->Append({{"id", 2}, {"text", "not utf-8: \xff"}}).ok());
  }
  ASSERT_TRUE(Open()->Append({{"id", 3}}).ok());
  const JournalContent content = Read();
  ASSERT_EQ(content.records.size(), 3u);
  EXPECT_EQ(content.records[0]["text"], "two\nlines");
  EXPECT_EQ(content.records[2]["id"], 3);
  EXPECT_FALSE(content.torn_tail);
}

TEST_F(JournalTest, TornLastLineIsIgnoredAndThenCutOff) {
  Write("{\"id\":1}\n{\"id\":2}\n{\"id\":3,\"te");
  JournalContent content = Read();
  EXPECT_EQ(content.records.size(), 2u);
  EXPECT_TRUE(content.torn_tail);
  ASSERT_TRUE(Open()->Append({{"id", 4}}).ok());
  EXPECT_EQ(*ReadFile(path_), "{\"id\":1}\n{\"id\":2}\n{\"id\":4}\n");
}

TEST_F(JournalTest, LongTornLineIsCutOffToo) {
  Write("1\n\"" + std::string(10000, 'x'));
  ASSERT_TRUE(Open()->Append(2).ok());
  EXPECT_THAT(Read().records, ElementsAre(1, 2));
  Write(std::string(10000, 'x'));
  ASSERT_TRUE(Open()->Append(3).ok());
  EXPECT_THAT(Read().records, ElementsAre(3));
}

TEST_F(JournalTest, DamagedLineInTheMiddleCostsOnlyItself) {
  Write("1\n{broken\n3\n");
  const JournalContent content = Read();
  EXPECT_THAT(content.records, ElementsAre(1, 3));
  EXPECT_THAT(content.damaged_lines, ElementsAre(2));
}

TEST_F(JournalTest, SecondWriterIsRefusedWithTheFileNamed) {
  auto first = Open();
  Status status = Journal::Open(path_).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("another process is writing"));
  EXPECT_THAT(status.message(), HasSubstr(path_.string()));
  first.reset();
  EXPECT_TRUE(Journal::Open(path_).ok());
}

TEST_F(JournalTest, SecondWriterDoesNotCutTheLineThatTheFirstIsWriting) {
  auto first = Open();
  std::ofstream(path_, std::ios::app) << "{\"half\":";
  EXPECT_FALSE(Journal::Open(path_).ok());
  EXPECT_EQ(*ReadFile(path_), "{\"half\":");
}

TEST_F(JournalTest, FullDiskLeavesCompleteLinesAndTheJournalUsable) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    auto journal = Journal::Open(path_);
    if (!journal.ok() || !(*journal)->Append("first").ok()) ::_exit(1);
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    if ((*journal)->Append(std::string(5000, 'x')).code() != StatusCode::kResourceExhausted)
      ::_exit(2);
    if (!(*journal)->Append("fits").ok()) ::_exit(3);
    ::_exit(0);
  }
  int wait_status = 0;
  ASSERT_EQ(::waitpid(child, &wait_status, 0), child);
  ASSERT_TRUE(WIFEXITED(wait_status));
  EXPECT_EQ(WEXITSTATUS(wait_status), 0);
  const JournalContent content = Read();
  EXPECT_THAT(content.records, ElementsAre("first", "fits"));
  EXPECT_FALSE(content.torn_tail);
}

TEST_F(JournalTest, WhatWasAcknowledgedSurvivesKill) {
  for (int round = 0; round < 10; ++round) {
    int acknowledged[2];
    ASSERT_EQ(::pipe(acknowledged), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto journal = Journal::Open(path_);
      for (int i = 0; journal.ok(); ++i) {
        if (!(*journal)
                 ->Append({{"round", round}, {"i", i}, {"pad", std::string(20000, 'p')}})
                 .ok())
          break;
        if (::write(acknowledged[1], &i, sizeof(i)) != sizeof(i)) break;
      }
      ::_exit(1);
    }
    ::close(acknowledged[1]);
    int last = -1, i = 0;
    const ssize_t first = ::read(acknowledged[0], &last, sizeof(last));  // it writes from now on
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 3 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_EQ(first, ssize_t{sizeof(last)});
    while (::read(acknowledged[0], &i, sizeof(i)) == sizeof(i)) last = i;
    ::close(acknowledged[0]);
    int found = -1;
    const JournalContent content = Read();
    EXPECT_THAT(content.damaged_lines, IsEmpty());
    for (const json& record : content.records) {
      if (record["round"] == round) {
        ASSERT_EQ(record["i"], found + 1) << "each exactly once, in order";
        ++found;
      }
    }
    EXPECT_GE(found, last) << "round " << round;
  }
}

TEST_F(JournalTest, ThreadsDoNotMixTheirLines) {
  auto journal = Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i)
        EXPECT_TRUE(journal->Append({{"t", t}, {"pad", std::string(500, 'x')}}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const JournalContent content = Read();
  EXPECT_EQ(content.records.size(), 100u);
  EXPECT_THAT(content.damaged_lines, IsEmpty());
}

TEST_F(JournalTest, BadPathsAreNamed) {
  EXPECT_EQ(Journal::Read(path_).status().code(), StatusCode::kNotFound);
  EXPECT_THAT(Journal::Open(dir_.path() / "no/j").status().message(), HasSubstr("no/j"));
  EXPECT_FALSE(Journal::Open(dir_.path()).ok());
  EXPECT_FALSE(Journal::Open("/dev/null").ok());
}

}  // namespace
}  // namespace davinci::store
