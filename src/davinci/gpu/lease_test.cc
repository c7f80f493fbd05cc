#include "davinci/gpu/lease.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "davinci/base/files.h"

namespace davinci::gpu {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

LeaseRequest Shared() { return {.mode = LeaseMode::kShared}; }
LeaseRequest Exclusive(std::string purpose = "test") {
  return {.mode = LeaseMode::kExclusive, .purpose = std::move(purpose)};
}
LeaseRequest Soon(LeaseRequest request, std::chrono::milliseconds wait = 50ms) {
  request.deadline = Clock::now() + wait;
  return request;
}

class DeviceLeasesTest : public testing::Test {
 protected:
  void SetUp() override {
    auto folder = MakeTempDir("leases");
    ASSERT_TRUE(folder.ok());
    folder_ = std::move(folder).value();
    leases_ = Open();
  }
  std::unique_ptr<DeviceLeases> Open() {
    auto leases = DeviceLeases::Open(folder_.path() / "leases");
    EXPECT_TRUE(leases.ok());
    return std::move(leases).value();
  }
  // Runs `body` in a child process with leases of its own. The child must not return into
  // GoogleTest.
  template <typename Body>
  pid_t Child(Body body) {
    const pid_t pid = fork();
    if (pid == 0) {
      auto leases = DeviceLeases::Open(folder_.path() / "leases");
      _exit(leases.ok() && body(**leases) ? 0 : 1);
    }
    return pid;
  }
  void AwaitWaiting(size_t number) const {
    while (leases_->NumWaiting("gpu") < number) std::this_thread::yield();
  }
  static int Wait(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }

  TempDir folder_;
  std::unique_ptr<DeviceLeases> leases_;
};

// A pipe as a starting signal between processes.
struct Gate {
  Gate() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Gate() {
    close(ends[0]);
    close(ends[1]);
  }
  void Open() const { EXPECT_EQ(write(ends[1], "x", 1), 1); }
  void Pass() const {
    char c = 0;
    while (read(ends[0], &c, 1) != 1) {
    }
  }
  std::array<int, 2> ends{};
};

TEST_F(DeviceLeasesTest, FilesAreForEverybodyAndLinksAreNotFollowed) {
  const mode_t before = umask(077);
  EXPECT_TRUE(leases_->Acquire("gpu", Exclusive()).ok());
  umask(before);
  struct stat found {};
  ASSERT_EQ(stat((folder_.path() / "leases" / "gpu.lock").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0666u);
  const auto precious = folder_.path() / "precious";
  ASSERT_TRUE(WriteFileAtomic(precious, "kept", Durability::kFastest).ok());
  std::filesystem::create_symlink(precious, folder_.path() / "leases" / "trap.lock");
  EXPECT_FALSE(leases_->Acquire("trap", Exclusive()).ok());
  std::filesystem::create_hard_link(precious, folder_.path() / "leases" / "twin.lock");
  EXPECT_TRUE(leases_->Acquire("twin", Exclusive()).ok());
  auto content = ReadFile(precious, 100);
  ASSERT_TRUE(content.ok());
  EXPECT_EQ(*content, "kept");
}

TEST(MachineLeaseDir, IsOneThatEverybodyMayWriteTo) {
  const auto folder = MachineLeaseDir();
  ASSERT_TRUE(folder.ok());
  struct stat found {};
  ASSERT_EQ(stat(folder->c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0777u);
}

TEST_F(DeviceLeasesTest, SharedHoldersLearnThatSomebodyWaitsToBeAlone) {
  auto shared = leases_->Acquire("gpu", Shared());
  ASSERT_TRUE(shared.ok());
  EXPECT_FALSE(leases_->ExclusiveIsDue("gpu"));
  std::jthread timing([&] { EXPECT_TRUE(leases_->Acquire("gpu", Exclusive()).ok()); });
  while (!leases_->ExclusiveIsDue("gpu")) std::this_thread::yield();
  EXPECT_FALSE(leases_->ExclusiveIsDue("another"));
  shared->Release();  // gives way; who asks again comes after
  auto again = leases_->Acquire("gpu", Shared());
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(leases_->ExclusiveIsDue("gpu"));
}

TEST_F(DeviceLeasesTest, AHolderSeesThatAnotherProcessWaits) {
  auto shared = leases_->Acquire("gpu", Shared());
  ASSERT_TRUE(shared.ok());
  EXPECT_FALSE(leases_->IsAwaited("gpu"));
  EXPECT_FALSE(leases_->IsAwaited("another"));
  auto others = DeviceLeases::Open(folder_.path() / "leases");  // as another process has them
  ASSERT_TRUE(others.ok());
  std::jthread timing([&] { EXPECT_TRUE((*others)->Acquire("gpu", Exclusive()).ok()); });
  while (!leases_->IsAwaited("gpu")) std::this_thread::yield();
  shared->Release();
  timing.join();
  EXPECT_FALSE(leases_->IsAwaited("gpu"));
}

TEST_F(DeviceLeasesTest, AFewWhoWaitToBeAloneLetOthersJoinTheManyForAWhile) {
  std::vector<DeviceLease> holders;
  for (int i = 0; i < 3; ++i) {
    auto holder = leases_->Acquire("gpu", Shared());
    ASSERT_TRUE(holder.ok());
    holders.push_back(std::move(holder).value());
  }
  const auto begun = Clock::now();
  std::jthread timing([&] { EXPECT_TRUE(leases_->Acquire("gpu", Exclusive()).ok()); });
  AwaitWaiting(1);
  const bool due = leases_->ExclusiveIsDue("gpu");
  const bool joined = leases_->Acquire("gpu", Soon(Shared())).ok();
  if (Clock::now() - begun < 150ms) {  // a machine that looks later sees what is right then
    EXPECT_FALSE(due);
    EXPECT_TRUE(joined);
  }
  while (!leases_->ExclusiveIsDue("gpu")) std::this_thread::yield();
  EXPECT_GE(Clock::now() - begun, 150ms);
  EXPECT_FALSE(leases_->Acquire("gpu", Soon(Shared())).ok());
  holders.clear();
}

TEST_F(DeviceLeasesTest, AsManyWhoWaitToBeAloneHoldOthersBackAtOnce) {
  auto first = leases_->Acquire("gpu", Shared());
  auto second = leases_->Acquire("gpu", Shared());
  ASSERT_TRUE(first.ok() && second.ok());
  const auto wait = [&] { EXPECT_TRUE(leases_->Acquire("gpu", Exclusive()).ok()); };
  std::jthread one(wait);
  std::jthread two(wait);
  while (!leases_->ExclusiveIsDue("gpu")) std::this_thread::yield();
  EXPECT_FALSE(leases_->Acquire("gpu", Soon(Shared())).ok());
  first->Release();
  second->Release();
}

TEST_F(DeviceLeasesTest, SharedLeasesCoexistAndExclusiveExcludes) {
  auto a = leases_->Acquire("gpu", Shared());
  auto b = leases_->Acquire("gpu", Shared());
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(leases_->Acquire("gpu", Soon(Exclusive())).status().code(),
            StatusCode::kDeadlineExceeded);
  a->Release();
  b->Release();
  auto c = leases_->Acquire("gpu", Exclusive());
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(leases_->Acquire("gpu", Soon(Shared())).status().code(), StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(leases_->Acquire("cpu", Soon(Exclusive())).ok()) << "another device is another lease";
}

TEST_F(DeviceLeasesTest, ReleasedByDestructorAndByMove) {
  {
    auto lease = leases_->Acquire("gpu", Exclusive());
    ASSERT_TRUE(lease.ok());
    const DeviceLease moved = std::move(lease).value();
    EXPECT_TRUE(moved.held());
  }
  EXPECT_TRUE(leases_->Acquire("gpu", Soon(Exclusive())).ok());
}

TEST_F(DeviceLeasesTest, SecondObjectOnTheSameFolderSeesTheLease) {
  const auto other = Open();
  auto lease = leases_->Acquire("gpu", Exclusive("timing softmax"));
  ASSERT_TRUE(lease.ok());
  std::vector<std::string> holders;
  LeaseRequest request = Soon(Shared(), 2000ms);
  request.on_wait = [&](const std::string& holder) { holders.push_back(holder); };
  EXPECT_EQ(other->Acquire("gpu", request).status().code(), StatusCode::kDeadlineExceeded);
  ASSERT_EQ(holders.size(), 1) << "notified once";
  EXPECT_EQ(holders[0], "pid " + std::to_string(getpid()) + ": timing softmax");
  lease->Release();
  EXPECT_TRUE(other->Acquire("gpu", request).ok());
  EXPECT_EQ(holders.size(), 1) << "no notice without a wait";
}

TEST_F(DeviceLeasesTest, RejectsKeysThatAreNotFileNames) {
  for (const char* key : {"", "../x", "a/b", ".hidden", "a b"}) {
    EXPECT_EQ(leases_->Acquire(key, Shared()).status().code(), StatusCode::kInvalidArgument) << key;
  }
}

TEST_F(DeviceLeasesTest, StopRequestEndsTheWaitInThisProcess) {
  auto held = leases_->Acquire("gpu", Exclusive());
  ASSERT_TRUE(held.ok());
  std::stop_source stop;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(30ms);
    stop.request_stop();
  });
  LeaseRequest request = Shared();
  request.stop = stop.get_token();
  EXPECT_EQ(leases_->Acquire("gpu", request).status().code(), StatusCode::kCancelled);
  held->Release();
  EXPECT_TRUE(leases_->Acquire("gpu", Soon(Shared())).ok())
      << "a cancelled wait leaves nothing behind";
}

TEST_F(DeviceLeasesTest, StopRequestEndsTheWaitForAnotherHolder) {
  const auto other = Open();
  auto held = other->Acquire("gpu", Exclusive());
  ASSERT_TRUE(held.ok());
  std::stop_source stop;
  std::jthread canceller([&] {
    std::this_thread::sleep_for(30ms);
    stop.request_stop();
  });
  LeaseRequest request = Exclusive();
  request.stop = stop.get_token();
  EXPECT_EQ(leases_->Acquire("gpu", request).status().code(), StatusCode::kCancelled);
  held->Release();
  EXPECT_TRUE(other->Acquire("gpu", Soon(Exclusive())).ok()) << "the turnstile was given back";
}

TEST_F(DeviceLeasesTest, WaitingWriterIsServedBeforeLaterReaders) {
  auto reader = leases_->Acquire("gpu", Shared());
  ASSERT_TRUE(reader.ok());
  std::atomic<bool> writer_served = false;
  std::jthread writer([&] {
    auto lease = leases_->Acquire("gpu", Exclusive());
    EXPECT_TRUE(lease.ok());
    writer_served = true;
  });
  AwaitWaiting(1);
  std::jthread late_reader([&] {
    auto lease = leases_->Acquire("gpu", Shared());
    EXPECT_TRUE(lease.ok());
    EXPECT_TRUE(writer_served) << "a later reader overtook the waiting writer";
  });
  AwaitWaiting(2);
  EXPECT_FALSE(writer_served);
  reader->Release();
}

// Who was served in which order, when they all had been waiting for one exclusive holder.
std::string Order(DeviceLeases& leases, const std::string& modes) {
  auto held = leases.Acquire("gpu", Exclusive());
  EXPECT_TRUE(held.ok());
  std::mutex mutex;
  std::string order;
  std::vector<std::jthread> threads;
  for (const char mode : modes) {
    threads.emplace_back([&, mode] {
      auto lease = leases.Acquire("gpu", mode == 's' ? Shared() : Exclusive());
      EXPECT_TRUE(lease.ok());
      {
        const std::lock_guard lock(mutex);
        order += mode;
      }
      std::this_thread::sleep_for(5ms);
    });
    while (leases.NumWaiting("gpu") < threads.size()) std::this_thread::yield();
  }
  held->Release();
  threads.clear();
  return order;
}

TEST_F(DeviceLeasesTest, ThoseWhoWaitForTheSameGoTogether) {
  EXPECT_EQ(Order(*leases_, "sesesse"), "eeessss");
}

TEST_F(DeviceLeasesTest, ARunOfWritersEndsForAWaitingReader) {
  EXPECT_EQ(Order(*leases_, "seeeeeeeeee"), "eeeeeeeseee");
}

TEST_F(DeviceLeasesTest, WriterIsNotStarvedByReadersOfOtherProcesses) {
  std::vector<pid_t> readers;
  for (int i = 0; i < 3; ++i) {
    readers.push_back(Child([](DeviceLeases& leases) {
      while (true) {
        auto lease = leases.Acquire("gpu", Shared());
        usleep(4000);  // three overlapping readers: the lease is hardly ever free
      }
      return true;
    }));
  }
  std::this_thread::sleep_for(50ms);
  for (int i = 0; i < 5; ++i) {
    auto lease = leases_->Acquire("gpu", Soon(Exclusive(), 60s));
    EXPECT_TRUE(lease.ok()) << lease.status().ToString();
  }
  for (const pid_t pid : readers) {
    kill(pid, SIGKILL);
    Wait(pid);
  }
}

TEST_F(DeviceLeasesTest, KilledProcessGivesItsLeaseBack) {
  const Gate holds;
  const pid_t pid = Child([&](DeviceLeases& leases) {
    auto lease = leases.Acquire("gpu", Exclusive("victim"));
    holds.Open();
    pause();
    return false;
  });
  holds.Pass();
  EXPECT_EQ(leases_->Acquire("gpu", Soon(Shared())).status().code(), StatusCode::kDeadlineExceeded);
  kill(pid, SIGKILL);
  Wait(pid);
  EXPECT_TRUE(leases_->Acquire("gpu", Soon(Exclusive(), 60s)).ok());
}

TEST_F(DeviceLeasesTest, WaiterKilledInTheTurnstileBlocksNobody) {
  auto held = leases_->Acquire("gpu", Shared());
  ASSERT_TRUE(held.ok());
  const Gate started;
  const pid_t pid = Child([&](DeviceLeases& leases) {
    started.Open();
    return leases.Acquire("gpu", Exclusive()).ok();
  });
  started.Pass();
  std::this_thread::sleep_for(50ms);
  kill(pid, SIGKILL);
  Wait(pid);
  EXPECT_TRUE(leases_->Acquire("gpu", Soon(Shared(), 60s)).ok());
}

TEST_F(DeviceLeasesTest, DeletedLockFileDoesNotSplitTheLease) {
  const auto other = Open();
  {
    auto held = leases_->Acquire("gpu", Exclusive());
    ASSERT_TRUE(held.ok());
    ASSERT_TRUE(RemoveAll(folder_.path() / "leases" / "gpu.lock").ok());
  }
  auto again = leases_->Acquire("gpu", Exclusive());
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE(other->Acquire("gpu", Soon(Exclusive())).ok());
}

TEST_F(DeviceLeasesTest, ExclusiveIsExclusiveUnderLoad) {
  std::atomic<int> writers = 0;
  std::atomic<int> readers = 0;
  std::atomic<int> violations = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 40; ++i) {
          const bool exclusive = (t + i) % 4 == 0;
          auto lease = leases_->Acquire("gpu", exclusive ? Exclusive() : Shared());
          if (!lease.ok()) {
            ++violations;
            continue;
          }
          std::atomic<int>& mine = exclusive ? writers : readers;
          const int before = mine++;
          if (exclusive && (before != 0 || readers != 0)) ++violations;
          if (!exclusive && writers != 0) ++violations;
          std::this_thread::yield();
          --mine;
        }
      });
    }
  }
  EXPECT_EQ(violations, 0);
}

}  // namespace
}  // namespace davinci::gpu
