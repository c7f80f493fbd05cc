// What a stopped process of several threads waits for its core when it goes on, with and without
// the threads that keep cores awake (judge/machine/awake_cores.h).
//
//   awake_cores_bench [MILLISECONDS of work, 0.3 otherwise]
//
// Two processes of seven threads take turns on the last core: stopped, let go, so much work by the
// main thread, stopped again. Needs two cores that nothing else uses.
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

#include "davinci/base/clock.h"
#include "davinci/judge/machine/awake_cores.h"

namespace davinci {
namespace {

constexpr int kTurns = 200;
constexpr int kSleepers = 6;
constexpr int kProcesses = 2;

struct Shared {
  std::atomic<int> go[kProcesses];
  std::atomic<int> done[kProcesses];
};

double ThreadCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void BindTo(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

[[noreturn]] void Work(Shared* shared, int which, int core, double seconds) {
  BindTo(core);
  std::vector<std::thread> sleepers;
  for (int i = 0; i < kSleepers; ++i)
    sleepers.emplace_back([] {
      while (true) pause();
    });
  for (int turn = 1;; ++turn) {
    while (shared->go[which] < turn) {
    }
    for (const double end = ThreadCpuSeconds() + seconds; ThreadCpuSeconds() < end;) {
    }
    shared->done[which] = turn;
  }
}

void Measure(const char* what, int core, const std::vector<int>& awake_cores, double seconds) {
  auto* const shared = static_cast<Shared*>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pid_t processes[kProcesses];
  for (int i = 0; i < kProcesses; ++i) {
    processes[i] = fork();
    if (processes[i] == 0) Work(shared, i, core, seconds);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (const pid_t process : processes) kill(process, SIGSTOP);
  std::vector<double> taken;
  {
    const judge::AwakeCores awake(awake_cores);
    for (int turn = 1; turn <= kTurns; ++turn)
      for (int i = 0; i < kProcesses; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        shared->go[i] = turn;
        const Stopwatch watch;
        kill(processes[i], SIGCONT);
        while (shared->done[i] < turn) {
        }
        taken.push_back(1e3 * watch.Seconds());
        kill(processes[i], SIGSTOP);
      }
  }
  for (const pid_t process : processes) {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  munmap(shared, sizeof(Shared));
  std::ranges::sort(taken);
  fmt::print("{}: {:.3f} ms in the middle, {:.3f} for nine of ten, {:.3f} at most\n", what,
             taken[taken.size() / 2], taken[taken.size() * 9 / 10], taken.back());
}

}  // namespace
}  // namespace davinci

int main(int argc, char** argv) {
  const double seconds = 1e-3 * (argc > 1 ? std::atof(argv[1]) : 0.3);
  const int core = static_cast<int>(std::thread::hardware_concurrency()) - 1;
  davinci::BindTo(0);
  fmt::print("{:.1f} ms of work of a process that was stopped\n", 1e3 * seconds);
  davinci::Measure("core left alone", core, {}, seconds);
  davinci::Measure("core kept awake", core, {core}, seconds);
}
