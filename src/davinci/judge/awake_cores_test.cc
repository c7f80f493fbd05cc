#include "davinci/judge/awake_cores.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/judge/test_support.h"

namespace davinci::judge {
namespace {

// Binds the child to a core, and says so when it runs there.
void BindTo(int core, int control) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
  [[maybe_unused]] const ssize_t told = write(control, "x", 1);
}

int LastCore() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int last = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed)) last = core;
  return last;
}

int64_t ThreadCpuNs() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec;
}

int NumCores() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  return CPU_COUNT(&allowed);
}

TEST(AwakeCores, AreThoseOfTheProcesses) {
  const ScriptedChild child([](int control) { BindTo(LastCore(), control); });
  const std::shared_ptr<worker::Process>& process = child.process();
  ASSERT_TRUE(process->control().Wait(10).ok());  // it runs where it should
  EXPECT_EQ(process->Core(), LastCore());
  worker::Process* const roles[] = {process.get(), process.get()};
  EXPECT_EQ(AwakeCores(CoresOf(roles)).num_cores(), NumCores() > 1 ? 1 : 0);
}

// Threads that wake with it leave the main thread behind them in the queue, and then it is the
// spinner's turn. Without its yielding, 0.3 ms of work took 5.9 ms nine times out of ten
// (Linux 6.18). Other programs may take the core, so the fastest twentieth counts.
TEST(AwakeCores, GiveWayToAProcessOfManyThreads) {
  if (NumCores() < 2) GTEST_SKIP() << "one core";
  struct Shared {
    std::atomic<int> go, done;
  };
  void* const page = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* const shared = new (page) Shared();
  const ScriptedChild child([shared](int control) {
    BindTo(LastCore(), control);
    std::vector<std::thread> sleepers;
    for (int i = 0; i < 6; ++i)
      sleepers.emplace_back([] {
        while (true) pause();
      });
    for (int turn = 1;; ++turn) {
      while (shared->go < turn) {
      }
      for (const int64_t end = ThreadCpuNs() + 300'000; ThreadCpuNs() < end;) {
      }
      shared->done = turn;
    }
  });
  worker::Process* const roles[] = {child.process().get()};
  ASSERT_TRUE(roles[0]->control().Wait(10).ok());
  ASSERT_TRUE(roles[0]->Freeze().ok());
  const AwakeCores awake(CoresOf(roles));
  std::vector<double> seconds;
  for (int turn = 1; turn <= 60; ++turn) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    shared->go = turn;
    const Stopwatch watch;
    ASSERT_TRUE(roles[0]->Thaw().ok());
    while (shared->done < turn && watch.Seconds() < 10) {
    }
    seconds.push_back(watch.Seconds());
    ASSERT_TRUE(roles[0]->Freeze().ok());
  }
  std::ranges::sort(seconds);
  EXPECT_LT(seconds[3], 4e-3);
  roles[0]->Kill();
  munmap(page, sizeof(Shared));
}

TEST(AwakeCores, EndWithTheirOwner) {
  const ScriptedChild child([](int control) { BindTo(LastCore(), control); });
  const std::shared_ptr<worker::Process>& process = child.process();
  ASSERT_TRUE(process->control().Wait(10).ok());  // it runs where it should
  worker::Process* const roles[] = {process.get()};
  const Stopwatch watch;
  for (int i = 0; i < 3; ++i) const AwakeCores awake(CoresOf(roles));
  EXPECT_LT(watch.Seconds(), 2);
}

}  // namespace
}  // namespace davinci::judge
