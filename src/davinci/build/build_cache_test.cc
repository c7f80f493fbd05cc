#include "davinci/build/build_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <thread>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"

namespace davinci::build {
namespace {

namespace fs = std::filesystem;

class BuildCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("cache-test");
    ASSERT_TRUE(dir.ok());
    dir_ = std::move(dir).value();
  }
  BuildCache Open(uint64_t cap = 0) {
    auto cache = BuildCache::Open(dir_.path(), cap);
    EXPECT_TRUE(cache.ok()) << cache.status().ToString();
    return std::move(cache).value();
  }
  static BuildOutcome Put(BuildCache* cache, const std::string& key, const std::string& content) {
    auto work = cache->WorkDir();
    EXPECT_TRUE(work.ok());
    const fs::path artifact = work->path() / "m.so";
    EXPECT_TRUE(WriteFileAtomic(artifact, content, Durability::kFastest).ok());
    BuildOutcome outcome;
    outcome.module_name = "m";
    outcome.stage = "compat";
    auto stored = cache->Insert(key, outcome, artifact);
    EXPECT_TRUE(stored.ok()) << stored.status().ToString();
    return std::move(stored).value();
  }
  const std::string key_ = Sha256Hex("key");
  TempDir dir_;
};

TEST_F(BuildCacheTest, FindsWhatWasInserted) {
  BuildCache cache = Open();
  EXPECT_FALSE(cache.Find(key_).has_value());
  const BuildOutcome stored = Put(&cache, key_, "artifact");
  EXPECT_FALSE(stored.cached);
  const auto found = cache.Find(key_);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->cached);
  EXPECT_EQ(found->path, stored.path);
  EXPECT_EQ(found->stage, "compat");
  EXPECT_EQ(ReadFile(found->path).value(), "artifact");
}

TEST_F(BuildCacheTest, RemembersACompileErrorWithoutArtifact) {
  BuildCache cache = Open();
  BuildOutcome wrong;
  wrong.error = BuildError::kCompileError;
  wrong.message = "cpp_sources:1:1: error: no";
  wrong.line = 1;
  ASSERT_TRUE(cache.Insert(key_, wrong, {}).ok());
  const auto found = cache.Find(key_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->error, BuildError::kCompileError);
  EXPECT_EQ(found->message, wrong.message);
}

TEST_F(BuildCacheTest, DamagedArtifactIsAMissAndDisappears) {
  BuildCache cache = Open();
  const std::string path = Put(&cache, key_, "artifact").path;
  ASSERT_EQ(chmod(path.c_str(), 0755), 0);
  std::ofstream(path, std::ios::trunc) << "artifacT";
  EXPECT_FALSE(cache.Find(key_).has_value());
  EXPECT_FALSE(fs::exists(path));
  Put(&cache, key_, "artifact");  // and can be made again
  EXPECT_TRUE(cache.Find(key_).has_value());
}

TEST_F(BuildCacheTest, DamagedDocumentIsAMiss) {
  BuildCache cache = Open();
  const fs::path dir = fs::path(Put(&cache, key_, "artifact").path).parent_path();
  ASSERT_TRUE(WriteFileAtomic(dir / "outcome.json", "{\"ok\": tru", Durability::kFastest).ok());
  EXPECT_FALSE(cache.Find(key_).has_value());
}

TEST_F(BuildCacheTest, ConcurrentWritersAgreeOnOneEntry) {
  BuildCache cache = Open();
  std::vector<std::thread> threads;
  std::vector<std::string> paths(8);
  for (size_t i = 0; i < paths.size(); ++i) {
    threads.emplace_back([&, i] { paths[i] = Put(&cache, key_, "same content").path; });
  }
  for (auto& t : threads) t.join();
  for (const auto& path : paths) {
    EXPECT_EQ(path, paths[0]);
  }
  EXPECT_EQ(ReadFile(paths[0]).value(), "same content");
  EXPECT_TRUE(fs::is_empty(cache.root() / "tmp"));
}

TEST_F(BuildCacheTest, EvictsLeastRecentlyUsedButNothingRecent) {
  BuildCache cache = Open(/*cap=*/20000);
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i) {
    keys.push_back(Sha256Hex(std::to_string(i)));
    Put(&cache, keys.back(), std::string(4000, 'x'));
  }
  EXPECT_EQ(cache.Evict().value(), 0u) << "entries of the last minutes may be about to be loaded";
  const auto hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (int i = 0; i < 4; ++i) {
    const fs::path file =
        cache.root() / "objects" / keys[i].substr(0, 2) / keys[i] / "outcome.json";
    fs::last_write_time(file, hour_ago + std::chrono::minutes(i));
  }
  EXPECT_TRUE(cache.Find(keys[0]).has_value());  // used now: the oldest is keys[1]
  EXPECT_GT(cache.Evict().value(), 0u);
  EXPECT_TRUE(cache.Find(keys[0]).has_value());
  EXPECT_FALSE(cache.Find(keys[1]).has_value());
}

}  // namespace
}  // namespace davinci::build
