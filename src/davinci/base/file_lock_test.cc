#include "davinci/base/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "davinci/base/unique_fd.h"

namespace davinci {
namespace {

class FileLock : public testing::Test {
 protected:
  [[nodiscard]] UniqueFd Open() const {
    return UniqueFd(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  }
  std::string path_ = testing::TempDir() + "/file_lock_test." + std::to_string(::getpid());
};

TEST_F(FileLock, IsRefusedWhileHeldElsewhere) {
  const UniqueFd holder = Open();
  ASSERT_TRUE(*TryLockFile(holder.get()));
  const UniqueFd other = Open();
  const auto held = TryLockFile(other.get(), 0.05);
  ASSERT_TRUE(held.ok());
  EXPECT_FALSE(*held);
}

TEST_F(FileLock, WaitsForAHolderThatIsGoing) {
  UniqueFd holder = Open();
  ASSERT_TRUE(*TryLockFile(holder.get()));
  std::thread dying([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    holder.Reset();
  });
  const UniqueFd other = Open();
  EXPECT_TRUE(*TryLockFile(other.get(), 10));
  dying.join();
}

TEST_F(FileLock, AClosedDescriptorIsAnError) { EXPECT_FALSE(TryLockFile(-1, 0).ok()); }

}  // namespace
}  // namespace davinci
