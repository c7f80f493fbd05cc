#include "davinci/store/kv_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "davinci/base/files.h"

namespace davinci::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class KvCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("kv");
    ASSERT_TRUE(dir.ok()) << dir.status().ToString();
    dir_ = std::move(dir).value();
    file_ = dir_.path() / "cache.db";
  }
  std::unique_ptr<KvCache> Open() {
    KvCache::Options options;
    options.now_unix_s = [this] { return now_unix_s_; };
    auto cache = KvCache::Open(file_, options);
    EXPECT_TRUE(cache.ok()) << cache.status().ToString();
    return cache.ok() ? std::move(*cache) : nullptr;
  }
  static std::optional<json> Get(KvCache& cache, std::string_view key,
                                 std::string_view space = "s") {
    auto value = cache.Get(space, key);
    EXPECT_TRUE(value.ok()) << value.status().ToString();
    return value.ok() ? *value : std::nullopt;
  }
  void Overwrite(size_t at, size_t length) {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file << std::string(length, '\x5a');
  }

  TempDir dir_;
  fs::path file_;
  int64_t now_unix_s_ = 1'000'000;
};

TEST_F(KvCacheTest, ValuesSurviveReopening) {
  ASSERT_TRUE(Open()->Put("s", "k", {{"bytes", 7}, {"name", "H200"}}).ok());
  auto cache = Open();
  EXPECT_EQ(Get(*cache, "k"), json({{"bytes", 7}, {"name", "H200"}}));
  EXPECT_EQ(Get(*cache, "other"), std::nullopt);
  EXPECT_THAT(cache->recovery_note(), IsEmpty());
}

TEST_F(KvCacheTest, PutReplaces) {
  auto cache = Open();
  ASSERT_TRUE(cache->Put("s", "k", 1).ok());
  ASSERT_TRUE(cache->Put("s", "k", nullptr).ok());
  EXPECT_EQ(Get(*cache, "k"), json(nullptr)) << "null is a value, not absence";
}

TEST_F(KvCacheTest, NamespacesAndOddKeysAreApart) {
  auto cache = Open();
  const std::string zero("a\0b", 3);
  ASSERT_TRUE(cache->Put("a", "k", 1).ok());
  ASSERT_TRUE(cache->Put("b", "k", 2).ok());
  ASSERT_TRUE(cache->Put("a", zero, 3).ok());
  ASSERT_TRUE(cache->Put("a", "", 4).ok());
  ASSERT_TRUE(cache->Put("a", "'; DROP TABLE entries; --", 5).ok());
  EXPECT_EQ(Get(*cache, "k", "a"), json(1));
  EXPECT_EQ(Get(*cache, "k", "b"), json(2));
  EXPECT_EQ(Get(*cache, zero, "a"), json(3));
  EXPECT_EQ(Get(*cache, "", "a"), json(4));
  EXPECT_EQ(*cache->Count("a"), 4);
}

TEST_F(KvCacheTest, PruneKeepsWhatWasUsedLast) {
  auto cache = Open();
  for (int i = 0; i < 5; ++i) {
    now_unix_s_ += 100;
    ASSERT_TRUE(cache->Put("s", std::to_string(i), i).ok());
  }
  ASSERT_TRUE(cache->Put("t", "x", 1).ok());
  now_unix_s_ += 100;
  EXPECT_EQ(Get(*cache, "0"), json(0)) << "reading counts as use";
  EXPECT_EQ(*cache->Prune("s", 2), 3);
  EXPECT_EQ(Get(*cache, "0"), json(0));
  EXPECT_EQ(Get(*cache, "4"), json(4));
  EXPECT_EQ(*cache->Count("s"), 2);
  EXPECT_EQ(*cache->Count("t"), 1);
}

TEST_F(KvCacheTest, FileThatIsNoDatabaseIsMovedAside) {
  ASSERT_TRUE(
      WriteFileAtomic(file_, "this is a text file, and long enough to be taken for a header").ok());
  auto cache = Open();
  EXPECT_THAT(cache->recovery_note(), HasSubstr("was damaged; it was moved to cache.db.damaged-1"));
  EXPECT_TRUE(fs::exists(file_.string() + ".damaged-1"));
  ASSERT_TRUE(cache->Put("s", "k", 1).ok());
  EXPECT_EQ(Get(*cache, "k"), json(1));
}

TEST_F(KvCacheTest, DamagedPagesAreNoticedWhenOpening) {
  {
    auto cache = Open();
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(cache->Put("s", std::to_string(i), std::string(500, 'x')).ok());
  }
  Overwrite(4096, 8192);
  auto cache = Open();
  EXPECT_THAT(cache->recovery_note(), HasSubstr("was damaged"));
  EXPECT_EQ(Get(*cache, "7"), std::nullopt);
}

TEST_F(KvCacheTest, DamageWhileOpenGivesAMissNotAWrongValue) {
  { (void)Open()->Put("s", "0", 0).ok(); }
  auto cache = Open();
  for (int i = 0; i < 2000; ++i)
    ASSERT_TRUE(cache->Put("s", std::to_string(i), std::string(500, 'x')).ok());
  // Another connection moves the log into the file; then the file is overwritten behind our back.
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &other), SQLITE_OK);
  sqlite3_exec(other, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  sqlite3_exec(other, "INSERT INTO entries VALUES ('t', 'k', '1', 0)", nullptr, nullptr, nullptr);
  sqlite3_exec(other, "PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  sqlite3_close(other);
  Overwrite(4096, static_cast<size_t>(fs::file_size(file_)) - 4096);
  for (int i = 0; i < 2000; ++i) {
    auto value = cache->Get("s", std::to_string(i));
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    if (value->has_value()) {
      EXPECT_EQ(**value, json(std::string(500, 'x')));
    }
  }
  EXPECT_THAT(cache->recovery_note(), HasSubstr("was damaged"));
  EXPECT_TRUE(cache->Put("s", "new", 1).ok());
  EXPECT_EQ(Get(*cache, "new"), json(1));
}

TEST_F(KvCacheTest, ValueChangedBehindItsDigestIsAMiss) {
  ASSERT_TRUE(Open()->Put("s", "k", 1.5).ok());
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "UPDATE entries SET value = '2.5'", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  auto cache = Open();
  EXPECT_EQ(Get(*cache, "k"), std::nullopt);
  ASSERT_TRUE(cache->Put("s", "k", 3.5).ok());
  EXPECT_EQ(Get(*cache, "k"), json(3.5));
}

TEST_F(KvCacheTest, NewerFormatIsLeftAlone) {
  Open().reset();
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file_.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "PRAGMA user_version = 99", nullptr, nullptr, nullptr);
  sqlite3_close(db);
  Status status = KvCache::Open(file_).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("newer davinci"));
}

TEST_F(KvCacheTest, FullDiskIsReportedAndOldValuesStay) {
  ASSERT_TRUE(Open()->Put("s", "old", 1).ok());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto cache = KvCache::Open(file_);
    if (!cache.ok()) ::_exit(1);
    const Status status = (*cache)->Put("s", "big", std::string(1 << 20, 'x'));
    if (status.code() != StatusCode::kResourceExhausted) {
      std::fprintf(stderr, "%s\n", status.ToString().c_str());
      ::_exit(2);
    }
    auto old = (*cache)->Get("s", "old");
    ::_exit(old.ok() && *old == json(1) ? 0 : 3);
  }
  int wait_status = 0;
  ASSERT_EQ(::waitpid(child, &wait_status, 0), child);
  ASSERT_TRUE(WIFEXITED(wait_status));
  EXPECT_EQ(WEXITSTATUS(wait_status), 0);
  auto cache = Open();
  EXPECT_EQ(Get(*cache, "old"), json(1));
  EXPECT_THAT(cache->recovery_note(), IsEmpty());
}

TEST_F(KvCacheTest, KillWhileWritingDamagesNothing) {
  Open().reset();
  for (int round = 0; round < 8; ++round) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto cache = KvCache::Open(file_);
      for (int i = 0; cache.ok(); ++i)
        (void)(*cache)->Put("s", std::to_string(i % 50), std::string(2000, 'a')).ok();
      ::_exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + 5 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto cache = Open();
    EXPECT_THAT(cache->recovery_note(), IsEmpty());
    for (int i = 0; i < 50; ++i) {
      if (auto value = Get(*cache, std::to_string(i))) {
        EXPECT_EQ(*value, json(std::string(2000, 'a')));
      }
    }
  }
}

TEST_F(KvCacheTest, ThreadsAndProcessesShareOneFile) {
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      auto cache = KvCache::Open(file_);  // also a race for creating it
      bool ok = cache.ok();
      for (int i = 0; ok && i < 40; ++i)
        ok = (*cache)->Put("p", std::to_string(p * 100 + i), i).ok();
      ::_exit(ok ? 0 : 1);
    }
    children.push_back(child);
  }
  auto cache = Open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i)
        EXPECT_TRUE(cache->Put("t", std::to_string(t * 100 + i), i).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (pid_t child : children) {
    int wait_status = 0;
    ASSERT_EQ(::waitpid(child, &wait_status, 0), child);
    EXPECT_EQ(wait_status, 0);
  }
  EXPECT_EQ(*cache->Count("p"), 120);
  EXPECT_EQ(*cache->Count("t"), 120);
}

TEST_F(KvCacheTest, UnusablePlaceSaysWhatToDo) {
  ASSERT_TRUE(MakeDirs(file_).ok());
  EXPECT_THAT(KvCache::Open(file_).status().message(), HasSubstr("DAVINCI_CACHE_DIR"));
}

}  // namespace
}  // namespace davinci::store
