#include "davinci/worker/memory_limit.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "davinci/base/unique_fd.h"
#include "davinci/worker/forked_process.h"
#include "davinci/worker/protocol.h"

namespace davinci::worker {
namespace {

pid_t Sleeper() {
  const pid_t child = fork();
  while (child == 0) pause();
  return child;
}

// Ends the child where nothing else did, and says what signal ended it.
int EndingSignal(pid_t child) {
  kill(child, SIGTERM);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

struct Limited {
  Limited() { limit.Begin(child, pidfd.get()); }
  const pid_t child = Sleeper();
  const UniqueFd pidfd{static_cast<int>(syscall(SYS_pidfd_open, child, 0))};
  MemoryLimit limit;
};

TEST(MemoryLimit, EndsAChildThatHoldsMore) {
  Limited one;
  one.limit.Set(1);
  one.limit.Check();
  EXPECT_TRUE(one.limit.exceeded());
  EXPECT_EQ(EndingSignal(one.child), SIGKILL);
}

TEST(MemoryLimit, LeavesAChildThatHoldsLess) {
  Limited one;
  one.limit.Check();  // unlimited
  one.limit.Set(2 * ResidentBytesOf(one.child) + (int64_t{1} << 30));
  one.limit.Check();
  EXPECT_FALSE(one.limit.exceeded());
  EXPECT_EQ(EndingSignal(one.child), SIGTERM);
}

TEST(MemoryLimit, SendsNothingBehindTheEnd) {
  Limited one;
  one.limit.Set(1);
  one.limit.End();
  one.limit.Check();
  EXPECT_FALSE(one.limit.exceeded());
  EXPECT_EQ(EndingSignal(one.child), SIGTERM);
}

TEST(MemoryLimit, LettingGoOfAProcessEndsItUnderTheWatchdogsEyes) {
  int status[2];
  int output[2];
  int control[2];
  ASSERT_EQ(pipe(status), 0);
  ASSERT_EQ(pipe(output), 0);
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
  const pid_t child = Sleeper();
  close(output[1]);
  close(control[1]);
  for (const StatusRecord& record :
       {StatusRecord{kStatusPid, static_cast<uint32_t>(child)}, StatusRecord{kStatusExit, SIGKILL}})
    ASSERT_EQ(write(status[1], &record, sizeof record), static_cast<ssize_t>(sizeof record));
  close(status[1]);
  auto process = std::make_unique<ForkedProcess>(Channel(UniqueFd(control[0])), UniqueFd(status[0]),
                                                 UniqueFd(output[0]));
  const std::shared_ptr<MemoryLimit> watched = process->memory_limit();  // as the watchdog has it
  process.reset();
  watched->Set(1);
  watched->Check();
  EXPECT_FALSE(watched->exceeded());  // nothing is sent any more
  EXPECT_EQ(EndingSignal(child), SIGKILL);
}

}  // namespace
}  // namespace davinci::worker
