#include "davinci/base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "davinci/base/test_environment.h"

namespace davinci {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto dir = MakeTempDir("files");
    ASSERT_TRUE(dir.ok()) << dir.status().ToString();
    dir_ = std::move(dir).value();
  }
  fs::path Path(const char* name) const { return dir_.path() / name; }
  size_t NumEntries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(dir_.path()), fs::directory_iterator()));
  }
  TempDir dir_;
};

TEST_F(FilesTest, ReadsBackWhatWasWritten) {
  const std::string content("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomic(Path("f"), content).ok());
  auto read = ReadFile(Path("f"));
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, content);
  EXPECT_EQ(NumEntries(), 1u) << "no temporary file is left";
}

TEST_F(FilesTest, MissingFileIsNotFoundAndNamed) {
  Status status = ReadFile(Path("none.py")).status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("none.py"));
}

TEST_F(FilesTest, FoldersDevicesAndFifosAreRefusedAtOnce) {
  EXPECT_EQ(ReadFile(dir_.path()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadFile("/dev/zero").status().code(), StatusCode::kInvalidArgument);
  ASSERT_EQ(::mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(Path("fifo")).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(FilesTest, SizeLimitHolds) {
  ASSERT_TRUE(WriteFileAtomic(Path("f"), std::string(100, 'x')).ok());
  EXPECT_TRUE(ReadFile(Path("f"), 100).ok());
  EXPECT_THAT(ReadFile(Path("f"), 99).status().message(), HasSubstr("larger than the 99 bytes"));
}

TEST_F(FilesTest, SizeLimitHoldsForFilesThatReportNoSize) {
  EXPECT_TRUE(ReadFile("/proc/self/status").ok());
  EXPECT_EQ(ReadFile("/proc/self/status", 10).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(FilesTest, FailedWriteKeepsTheOldFile) {
  ASSERT_TRUE(WriteFileAtomic(Path("f"), "old").ok());
  pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A file-size limit stands in for a full disk: write() fails half-way through.
    rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    Status status = WriteFileAtomic(Path("f"), std::string(1 << 20, 'n'));
    ::_exit(status.code() == StatusCode::kResourceExhausted ? 0 : 1);
  }
  int wait_status = 0;
  ASSERT_EQ(::waitpid(child, &wait_status, 0), child);
  EXPECT_EQ(wait_status, 0);
  EXPECT_EQ(*ReadFile(Path("f")), "old");
  EXPECT_EQ(NumEntries(), 1u) << "the half-written temporary file must be gone";
}

TEST_F(FilesTest, KillDuringWriteLeavesOldOrNewContent) {
  const std::string a(256 << 10, 'a'), b(256 << 10, 'b');
  ASSERT_TRUE(WriteFileAtomic(Path("f"), a).ok());
  for (int round = 0; round < 20; ++round) {
    pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      while (true) {
        (void)WriteFileAtomic(Path("f"), b, Durability::kFastest).ok();
        (void)WriteFileAtomic(Path("f"), a, Durability::kFastest).ok();
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + round % 5));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    auto read = ReadFile(Path("f"));
    ASSERT_TRUE(read.ok());
    ASSERT_TRUE(*read == a || *read == b) << "torn file of " << read->size() << " bytes";
  }
}

TEST_F(FilesTest, WriteErrorsNameTheFile) {
  int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  Status status = WriteAll(full, "x", "results.json");
  ::close(full);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("writing results.json: no space left"));
  EXPECT_THAT(WriteFileAtomic(Path("no/such/f"), "x").message(), HasSubstr("no/such/f"));
}

TEST_F(FilesTest, ListIsSortedFilteredAndSkipsHiddenFolders) {
  for (const char* name : {"b.py", "a.py", "c.txt", "sub/d.py", ".git/e.py"}) {
    ASSERT_TRUE(MakeDirs(Path(name).parent_path()).ok());
    ASSERT_TRUE(WriteFileAtomic(Path(name), "").ok());
  }
  fs::create_directory_symlink(dir_.path(), Path("loop"));
  EXPECT_THAT(*ListFiles(dir_.path(), ".py"), ElementsAre(Path("a.py"), Path("b.py")));
  EXPECT_THAT(*ListFiles(dir_.path(), ".py", /*recursive=*/true),
              ElementsAre(Path("a.py"), Path("b.py"), Path("sub/d.py")));
  EXPECT_EQ(ListFiles(Path("none")).status().code(), StatusCode::kNotFound);
}

TEST_F(FilesTest, MakeDirsRefusesAFileInTheWay) {
  ASSERT_TRUE(WriteFileAtomic(Path("f"), "").ok());
  EXPECT_FALSE(MakeDirs(Path("f")).ok());
  EXPECT_FALSE(MakeDirs(Path("f/sub")).ok());
  EXPECT_TRUE(MakeDirs(Path("x/y/z")).ok());
  EXPECT_TRUE(MakeDirs(Path("x/y/z")).ok());
}

TEST_F(FilesTest, RemoveAllDoesNotFollowLinks) {
  ASSERT_TRUE(MakeDirs(Path("keep")).ok());
  ASSERT_TRUE(WriteFileAtomic(Path("keep/f"), "x").ok());
  ASSERT_TRUE(MakeDirs(Path("gone")).ok());
  fs::create_directory_symlink(Path("keep"), Path("gone/link"));
  EXPECT_TRUE(RemoveAll(Path("gone")).ok());
  EXPECT_TRUE(fs::exists(Path("keep/f")));
  EXPECT_TRUE(RemoveAll(Path("gone")).ok()) << "removing nothing is fine";
}

TEST(TempDirTest, DisappearsWithItsContentUnlessReleased) {
  fs::path gone;
  {
    auto dir = MakeTempDir("t");
    auto other = MakeTempDir("t");
    ASSERT_TRUE(dir.ok() && other.ok());
    const fs::path kept = other->Release();
    *other = TempDir();
    EXPECT_TRUE(fs::exists(kept));
    fs::remove(kept);
    gone = dir->path();
    ASSERT_TRUE(WriteFileAtomic(gone / "f", "x").ok());
    const TempDir moved = std::move(dir).value();
    EXPECT_TRUE(fs::exists(gone / "f"));
  }
  EXPECT_FALSE(fs::exists(gone));
}

// A process that makes a folder, tells where, and waits to be killed.
class OwnerOfAFolder {
 public:
  explicit OwnerOfAFolder(std::string_view prefix) {
    int told[2];
    EXPECT_EQ(pipe(told), 0);
    pid_ = fork();
    if (pid_ == 0) {
      auto dir = MakeTempDir(prefix);
      if (!dir.ok() || !WriteFileAtomic(dir->path() / "f", "x").ok()) _exit(1);
      fs::last_write_time(dir->path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
      [[maybe_unused]] const ssize_t n =
          write(told[1], dir->path().c_str(), dir->path().native().size());
      while (true) pause();
    }
    char text[512] = {};
    EXPECT_GT(read(told[0], text, sizeof text - 1), 0);
    folder = text;
    close(told[0]);
    close(told[1]);
  }
  ~OwnerOfAFolder() { Kill(); }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  fs::path folder;

 private:
  pid_t pid_;
};

TEST(TempDirTest, TheFirstOfItsPrefixRemovesWhatKilledProcessesLeft) {
  const std::string prefix = "davinci-abandoned" + std::to_string(getpid());
  OwnerOfAFolder dead(prefix);
  OwnerOfAFolder alive(prefix);
  OwnerOfAFolder other(prefix + "-more");
  dead.Kill();
  other.Kill();
  const auto mine = MakeTempDir(prefix);
  ASSERT_TRUE(mine.ok());
  EXPECT_FALSE(fs::exists(dead.folder));
  EXPECT_TRUE(fs::exists(alive.folder / "f"));
  EXPECT_TRUE(fs::exists(other.folder / "f")) << "another prefix";
  fs::remove_all(other.folder);
  alive.Kill();
  fs::remove_all(alive.folder);
}

class CacheDirTest : public FilesTest {
 protected:
  void SetUp() override {
    FilesTest::SetUp();
    for (const char* name : {"DAVINCI_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "TMPDIR"})
      environment_.Unset(name);
  }
  TestEnvironment environment_;
};

TEST_F(CacheDirTest, FollowsTheDocumentedOrder) {
  environment_.Set("HOME", dir_.path());
  EXPECT_EQ(*CacheDir("build"), Path(".cache/davinci/build"));
  environment_.Set("XDG_CACHE_HOME", Path("xdg"));
  EXPECT_EQ(*CacheDir(), Path("xdg/davinci"));
  environment_.Set("DAVINCI_CACHE_DIR", Path("own"));
  EXPECT_EQ(*CacheDir("tuning/v1"), Path("own/tuning/v1"));
  EXPECT_TRUE(fs::is_directory(Path("own/tuning/v1")));
}

TEST_F(CacheDirTest, WorksWithoutAHome) {
  environment_.Set("TMPDIR", dir_.path());
  environment_.Set("HOME", "/nonexistent");
  auto dir = CacheDir();
  ASSERT_TRUE(dir.ok()) << dir.status().ToString();
  EXPECT_EQ(dir->parent_path(), dir_.path());
}

TEST_F(CacheDirTest, DistrustsASharedTemporaryFolderOfOthers) {
  environment_.Set("TMPDIR", dir_.path());
  const fs::path planted = Path(("davinci-cache-" + std::to_string(::getuid())).c_str());
  ASSERT_EQ(::mkdir(planted.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(planted.c_str(), 0777), 0);
  EXPECT_EQ(CacheDir().status().code(), StatusCode::kPermissionDenied);
}

TEST_F(CacheDirTest, UnusableFolderSaysWhatToSet) {
  ASSERT_TRUE(WriteFileAtomic(Path("f"), "").ok());
  environment_.Set("DAVINCI_CACHE_DIR", Path("f/sub"));
  EXPECT_THAT(CacheDir().status().message(), HasSubstr("set DAVINCI_CACHE_DIR"));
}

}  // namespace
}  // namespace davinci
