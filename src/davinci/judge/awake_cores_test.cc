#include "davinci/judge/awake_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "davinci/base/clock.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

// A child bound to one core, seen as the fork server would show it; ended with the Process.
std::unique_ptr<worker::Process> SleepingOn(int core) {
  int status[2];
  int output[2];
  int control[2];
  EXPECT_EQ(pipe(status), 0);
  EXPECT_EQ(pipe(output), 0);
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
  const pid_t child = fork();
  if (child == 0) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
    [[maybe_unused]] const ssize_t told = write(control[1], "x", 1);
    while (true) pause();
  }
  char byte = 0;
  EXPECT_EQ(read(control[0], &byte, 1), 1);  // it runs where it should
  const worker::StatusRecord record{worker::kStatusPid, static_cast<uint32_t>(child)};
  EXPECT_EQ(write(status[1], &record, sizeof record), static_cast<ssize_t>(sizeof record));
  const worker::StatusRecord ended{worker::kStatusExit, 9};
  auto process = std::make_unique<worker::Process>(worker::Channel(UniqueFd(control[0])),
                                                   UniqueFd(status[0]), UniqueFd(output[0]));
  EXPECT_FALSE(process->WaitForDeath());  // reads the pid
  EXPECT_EQ(write(status[1], &ended, sizeof ended), static_cast<ssize_t>(sizeof ended));
  close(output[1]);
  close(control[1]);
  close(status[1]);
  return process;
}

int LastCore() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) last = core;
  return last;
}

int NumCores() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  return CPU_COUNT(&allowed);
}

TEST(AwakeCores, AreThoseOfTheProcesses) {
  const auto process = SleepingOn(LastCore());
  EXPECT_EQ(process->Core(), LastCore());
  worker::Process* const roles[] = {process.get(), process.get()};
  EXPECT_EQ(AwakeCores(roles).num_cores(), NumCores() > 1 ? 1 : 0);
}

TEST(AwakeCores, EndWithTheirOwner) {
  const auto process = SleepingOn(LastCore());
  worker::Process* const roles[] = {process.get()};
  const Stopwatch watch;
  for (int i = 0; i < 3; ++i) const AwakeCores awake(roles);
  EXPECT_LT(watch.Seconds(), 2);
}

}  // namespace
}  // namespace davinci::judge
