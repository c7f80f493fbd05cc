// The worker's way into the sandbox: unshare in an intermediate process, enter in its child, lock,
// freeze.
#include "davinci/sandbox/worker_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "davinci/base/clock.h"
#include "davinci/sandbox/file_text.h"
#include "davinci/sandbox/layers.h"
#include "davinci/sandbox/namespaces.h"
#include "davinci/sandbox/policy.h"
#include "davinci/sandbox/seccomp.h"
#include "davinci/sandbox/test_support.h"

namespace davinci::sandbox {
namespace {

// What a worker shares with its supervisor in these tests.
struct Shared {
  std::atomic<pid_t> child = 0;  // as the supervisor numbers it: written by the intermediate
  std::atomic<int> phase = 0;    // for the test's own use
  std::atomic<uint64_t> counter = 0;
  char error[512] = "";
  char report[8192] = "";
};

// Starts `body` in a sandboxed worker: fork, unshare, fork, enter. The exit code of `body` becomes
// the worker's.
class Worker {
 public:
  explicit Worker(std::function<int(Shared*)> body, bool sandboxed = true,
                  Spec spec = DefaultSpec()) {
    shared_ = new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0)) Shared;
    const std::string text = ToJson(spec).dump();
    intermediate_ = fork();
    if (intermediate_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (sandboxed && dv_sandbox_unshare(text.c_str(), shared_->error, sizeof(shared_->error)) != 0)
      _exit(101);
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (sandboxed && dv_sandbox_enter(text.c_str(), shared_->error, sizeof(shared_->error),
                                        shared_->report, sizeof(shared_->report)) != 0) {
        _exit(102);
      }
      _exit(body(shared_));
    }
    shared_->child = child;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  ~Worker() {
    if (intermediate_ > 0) {
      // The child first: killing the intermediate alone would leave a moment in which it still
      // runs.
      if (const pid_t child = shared_->child; child > 0) kill(child, SIGKILL);
      Wait();
    }
    munmap(shared_, sizeof(Shared));
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  static Spec DefaultSpec() {
    Spec spec;
    AddSystemPaths(&spec.policy);
    spec.policy.private_tmp_bytes = 4 << 20;
    spec.policy.new_namespaces = NamespacesUsable();
    return spec;
  }

  // Exit code of the worker, 128 + signal if it was killed.
  int Wait() {
    int status = 0;
    while (waitpid(intermediate_, &status, 0) < 0 && errno == EINTR) {
    }
    intermediate_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // False when the worker does not get there in two minutes; there may then be no child to send
  // signals to.
  [[nodiscard]] bool AwaitPhase(int phase) const {
    const Stopwatch watch;
    while ((shared_->phase < phase || shared_->child == 0) && watch.Seconds() < 120) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return shared_->phase >= phase && shared_->child > 0;
  }
  pid_t child() const { return shared_->child; }
  Shared* shared() const { return shared_; }

  // 'T' once all threads are stopped; waits up to `seconds` for it.
  bool Stopped(double seconds) const {
    const Stopwatch watch;
    do {
      bool all = true;
      std::error_code error;
      for (const auto& task : std::filesystem::directory_iterator(
               "/proc/" + std::to_string(child()) + "/task", error)) {
        const std::string stat = ReadSmallFile(task.path().string() + "/stat");
        const size_t end = stat.rfind(") ");
        all = all && end != std::string::npos && stat[end + 2] == 'T';
      }
      if (all && !error) return true;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    } while (watch.Seconds() < seconds);
    return false;
  }

 private:
  Shared* shared_ = nullptr;
  pid_t intermediate_ = -1;
};

int Lock(Shared* shared) {
  char report[256];
  return dv_sandbox_lock(shared->error, sizeof(shared->error), report, sizeof(report));
}

[[noreturn]] void WaitForever() {
  for (;;) pause();
}

TEST(Worker, EntersWithAllLayersOfThisMachine) {
  Worker worker([](Shared*) { return 0; });
  ASSERT_EQ(worker.Wait(), 0) << worker.shared()->error;
  const nlohmann::json report = nlohmann::json::parse(worker.shared()->report);
  EXPECT_EQ(report["landlock_abi"], DetectedLayers().active.landlock_abi);
  EXPECT_EQ(report["pid_namespace"], NamespacesUsable() && DetectedLayers().active.namespaces.pid);
  EXPECT_EQ(report["seccomp"], true);
  EXPECT_EQ(report["no_capabilities"], true);
}

TEST(Worker, AbortIsNotTakenForASegmentationFault) {
  Worker worker([](Shared*) -> int { abort(); });
  EXPECT_EQ(worker.Wait(), 128 + SIGABRT) << worker.shared()->error;
}

TEST(Worker, RefusesABadSpecification) {
  char error[256] = "";
  char report[256] = "";
  EXPECT_EQ(dv_sandbox_unshare("{\"alow_exec\": true}", error, sizeof(error)), -1);
  EXPECT_NE(std::string(error).find("alow_exec"), std::string::npos);
  EXPECT_EQ(dv_sandbox_enter(nullptr, error, sizeof(error), report, sizeof(report)), -1);
  EXPECT_EQ(dv_sandbox_lock(error, sizeof(error), report, sizeof(report)), -1) << "not entered yet";
}

TEST(Worker, EnteringWithASecondThreadIsRefused) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "this sanitizer has a thread of its own";
#endif
  Worker worker(
      [](Shared* shared) -> int {
        std::thread second([] { WaitForever(); });
        const std::string text = ToJson(Worker::DefaultSpec()).dump();
        const int result = dv_sandbox_enter(text.c_str(), shared->error, sizeof(shared->error),
                                            shared->report, sizeof(shared->report));
        _exit(result == -1 ? 0 : 1);
      },
      /*sandboxed=*/false);
  EXPECT_EQ(worker.Wait(), 0);
  EXPECT_NE(std::string(worker.shared()->error).find("one thread"), std::string::npos);
}

TEST(Worker, LockDeniesForkAndExecButNotThreads) {
  Spec spec = Worker::DefaultSpec();
  spec.policy.allow_fork = spec.policy.allow_exec = true;
  const auto fork_works = [] {
    const pid_t pid = fork();
    if (pid == 0) _exit(0);
    return pid > 0 && waitpid(pid, nullptr, 0) == pid;
  };
  Worker worker(
      [&](Shared* shared) {
        std::atomic<bool> go = false;
        int from_thread = 0;
        // Born before the lock: it must be bound as well.
        std::thread early([&] {
          while (!go) std::this_thread::yield();
          from_thread = fork_works() ? 1 : errno;
        });
        if (!fork_works()) return 1;
        if (Lock(shared) != 0) return 2;
        if (fork_works() || errno != EPERM) return 3;
        if (vfork() >= 0 || errno != EPERM) return 4;
        char* argv[] = {const_cast<char*>("/bin/true"), nullptr};
        if (execve(argv[0], argv, argv + 1) == 0 || errno != EPERM) return 5;
        go = true;
        early.join();
        if (from_thread != EPERM) return 6;
        int late = 0;
        std::thread([&late] { late = 1; }).join();
        if (late != 1) return 7;
        if (kill(getpid(), SIGWINCH) != 0) return 8;
        if (kill(getpid() + 1, 0) == 0 || errno != EPERM) return 9;
        return 0;
      },
      true, spec);
  EXPECT_EQ(worker.Wait(), 0) << worker.shared()->error;
}

// Everything a process could do so that the lock seems to succeed but does not bind it.
TEST(Worker, LockCannotBeForged) {
  Worker worker([](Shared* shared) {
    // A filter of its own that answers "success" to everything later: refused.
    sock_filter fake[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO)};
    sock_fprog program = {1, fake};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 || errno != EPERM) return 1;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0)
      return 2;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 || errno != EPERM) return 3;
    shared->phase = 1;
    while (shared->phase != 2) std::this_thread::yield();
    if (Lock(shared) != 0) return 4;
    if (Lock(shared) == 0) return 5;
    shared->phase = 3;
    WaitForever();
  });
  ASSERT_TRUE(worker.AwaitPhase(1)) << worker.shared()->error;
  Result<SeccompState> before = ReadSeccompState(worker.child());
  ASSERT_TRUE(before.ok());
  worker.shared()->phase = 2;
  ASSERT_TRUE(worker.AwaitPhase(3)) << worker.shared()->error;
  Result<SeccompState> after = ReadSeccompState(worker.child());
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->min_filters, before->min_filters + 1);
  EXPECT_EQ(after->max_filters, after->min_filters);
  EXPECT_TRUE(after->no_new_privs);
}

#if defined(__x86_64__)
// The 32-bit entry numbers its calls differently, so a filter that let it through would be no
// filter.
int CallThroughThe32BitEntry(Shared*) {
  int result = 20;  // getpid
  asm volatile("int $0x80" : "+a"(result)::"memory", "r8", "r9", "r10", "r11");
  return result > 0 ? 0 : 1;
}

TEST(Worker, ThirtyTwoBitCallsKill) {
  Worker control(CallThroughThe32BitEntry, /*sandboxed=*/false);
  if (control.Wait() != 0) GTEST_SKIP() << "this kernel runs no 32-bit programs";
  Worker worker(CallThroughThe32BitEntry);
  EXPECT_EQ(worker.Wait(), 128 + SIGSYS);
}
#endif

TEST(Worker, PreparedLockCannotBeReplacedInMemory) {
  if (!DetectedLayers().active.lock_immutable) GTEST_SKIP() << "this kernel has no mseal";
  Spec spec = Worker::DefaultSpec();
  spec.policy.thread_names = true;  // opens /proc/self/task, memory of threads included
  const auto tamper = [](Shared*) {
    // The candidate can find the sealed pages in its memory map; it must not be able to do anything
    // about them.
    const std::string maps = ReadSmallFile("/proc/self/maps");
    const size_t at = maps.find("memfd:lock");
    if (at == std::string::npos) return 1;
    const size_t line = maps.rfind('\n', at) + 1;
    char* page = reinterpret_cast<char*>(strtoull(maps.c_str() + line, nullptr, 16));
    if (mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0) return 2;
    if (munmap(page, 4096) == 0) return 3;
    if (mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        page)
      return 4;
    if (mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page + (1 << 20)) != MAP_FAILED)
      return 5;
    for (const std::string& name :
         {std::string("/proc/self/mem"), "/proc/self/task/" + std::to_string(gettid()) + "/mem"}) {
      const int memory = open(name.c_str(), O_RDWR);
      if (memory >= 0 && pwrite(memory, "x", 1, reinterpret_cast<off_t>(page)) == 1) return 6;
    }
    return 0;
  };
  Worker worker(tamper, true, spec);
  EXPECT_EQ(worker.Wait(), 0) << worker.shared()->error;
}

TEST(Worker, SecondProcessIsSeenFromOutside) {
  if (!NamespacesUsable() || !DetectedLayers().active.namespaces.pid)
    GTEST_SKIP() << "needs a pid namespace";
  Spec spec = Worker::DefaultSpec();
  spec.policy.allow_fork = true;
  Worker worker(
      [](Shared* shared) -> int {
        shared->phase = 1;
        while (shared->phase != 2) std::this_thread::yield();
        if (fork() == 0) {
          if (fork() == 0) WaitForever();
          _exit(0);
        }
        wait(nullptr);
        shared->phase = 3;
        WaitForever();
      },
      true, spec);
  ASSERT_TRUE(worker.AwaitPhase(1)) << worker.shared()->error;
  EXPECT_EQ(ProcessesInPidNamespaceOf(worker.child()), std::vector<pid_t>{worker.child()});
  worker.shared()->phase = 2;
  ASSERT_TRUE(worker.AwaitPhase(3)) << worker.shared()->error;
  EXPECT_EQ(ProcessesInPidNamespaceOf(worker.child()).size(), 2U);
}

TEST(Worker, FrozenMemoryIsReadableFromOutside) {
  static uint64_t value = 1;
  Worker worker([](Shared* shared) {
    value = 4711;
    if (prctl(PR_SET_DUMPABLE, 0) == 0) return 1;
    if (Lock(shared) != 0) return 2;
    shared->phase = 1;
    WaitForever();
  });
  ASSERT_TRUE(worker.AwaitPhase(1)) << worker.shared()->error;
  kill(worker.child(), SIGSTOP);
  ASSERT_TRUE(worker.Stopped(5));
  uint64_t copy = 0;
  iovec local = {&copy, sizeof(copy)}, remote = {&value, sizeof(value)};
  EXPECT_EQ(process_vm_readv(worker.child(), &local, 1, &remote, 1, 0),
            static_cast<ssize_t>(sizeof(copy)))
      << strerror(errno);
  EXPECT_EQ(copy, 4711U);
}

// --- frozen means frozen
// ------------------------------------------------------------------------------------------------

// How often the worker went on by itself within a short time after a SIGSTOP; gives up looking at
// `enough`.
int Wakes(Worker* worker, int rounds, int enough) {
  int woken = 0;
  for (int round = 0; round < rounds && woken < enough; ++round) {
    kill(worker->child(), SIGSTOP);
    bool stayed = worker->Stopped(1);
    const uint64_t before = worker->shared()->counter;
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    stayed = stayed && worker->shared()->counter == before && worker->Stopped(0);
    if (!stayed) ++woken;
    kill(worker->child(), SIGCONT);
    std::this_thread::sleep_for(std::chrono::microseconds(300));
  }
  return woken;
}

// A timer that is always about to send SIGCONT, and a counter that shows whether the process runs.
int TimerAttack(Shared* shared) {
  signal(SIGCONT, [](int) {});  // newer kernels drop the timer signals that a process ignores
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGCONT;
  timer_t timer;
  const bool armed = timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
  const itimerspec in_two_ms = {{0, 0}, {0, 2000000}};
  shared->phase = 1;
  for (;;) {
    if (++shared->counter % 256 == 0 && armed) timer_settime(timer, 0, &in_two_ms, nullptr);
  }
}

TEST(Worker, TimerWakesAStoppedProcessWithoutTheSandbox) {
  Worker control(TimerAttack, /*sandboxed=*/false);
  ASSERT_TRUE(control.AwaitPhase(1)) << control.shared()->error;
  EXPECT_GE(Wakes(&control, 100, 3), 3) << "the attack must be real";
}

TEST(Worker, TimerDoesNotWakeAFrozenWorker) {
  Worker worker(TimerAttack);
  ASSERT_TRUE(worker.AwaitPhase(1)) << worker.shared()->error;
  EXPECT_EQ(Wakes(&worker, 50, 1), 0);
}

// Threads that send SIGCONT to their own process all the time: one that arrives while the stop is
// on its way cancels it.
int SpamAttack(Shared* shared) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      for (;;) {
        kill(getpid(), SIGCONT);
        syscall(SYS_tgkill, getpid(), gettid(), SIGCONT);
        syscall(SYS_kill, getpid(), SIGCONT | (1L << 40));
        sigqueue(getpid(), SIGCONT, {});
      }
    });
  }
  shared->phase = 1;
  for (;;) ++shared->counter;
}

TEST(Worker, SpammedContinueCancelsStopsWithoutTheSandbox) {
  Worker control(SpamAttack, /*sandboxed=*/false);
  ASSERT_TRUE(control.AwaitPhase(1)) << control.shared()->error;
  EXPECT_GE(Wakes(&control, 500, 1), 1) << "the attack must be real";
}

TEST(Worker, SpammedContinueDoesNotCancelStops) {
  Worker worker(SpamAttack);
  ASSERT_TRUE(worker.AwaitPhase(1)) << worker.shared()->error;
  EXPECT_EQ(Wakes(&worker, 100, 1), 0);
}

// Everything else that can be armed before a stop and fires during it: alarms, interval timers,
// asynchronous input.
int ArmedAttack(Shared* shared) {
  signal(SIGALRM, [](int) {});
  signal(SIGIO, [](int) {});
  const itimerval every_ms = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every_ms, nullptr);
  int fds[2];
  if (pipe(fds) == 0) {
    fcntl(fds[0], F_SETOWN, getpid());
    fcntl(fds[0], F_SETSIG, SIGCONT);
    fcntl(fds[0], F_SETFL, O_ASYNC | O_NONBLOCK);
  }
  prctl(PR_SET_PDEATHSIG, SIGCONT);
  shared->phase = 1;
  for (;;) ++shared->counter;
}

TEST(Worker, ArmedTimersAndAsynchronousInputDoNotWakeAFrozenWorker) {
  Worker worker(ArmedAttack);
  ASSERT_TRUE(worker.AwaitPhase(1)) << worker.shared()->error;
  EXPECT_EQ(Wakes(&worker, 50, 1), 0);
}

// Memory that is mapped nowhere is in no process's account.
int HoardInFiles(Shared* shared) {
  const bool denied = memfd_create("hoard", 0) < 0 && errno == EPERM &&
                      shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600) < 0 && errno == EPERM;
  shared->counter = denied ? 1 : 2;
  shared->phase = 1;
  for (;;) pause();
}

TEST(Worker, MemoryWithoutAMappingIsDenied) {
  for (const bool sandboxed : {false, true}) {
    Worker worker(HoardInFiles, sandboxed);
    ASSERT_TRUE(worker.AwaitPhase(1)) << worker.shared()->error;
    EXPECT_EQ(worker.shared()->counter, sandboxed ? 1u : 2u);
  }
}

// --- from Python
// --------------------------------------------------------------------------------------------------------

TEST(Worker, PythonEntersAndLocksThroughTheSharedLibrary) {
  if (kSanitized) GTEST_SKIP() << "Python cannot load a sanitized library";
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  TemporaryDirectory scratch;
  Spec spec = Worker::DefaultSpec();
  spec.policy.scratch_dir = scratch.path();
  const std::string script = R"(
import ctypes, json, os, socket, sys, threading
library, spec = ctypes.CDLL(sys.argv[1]), sys.argv[2].encode()
error, report = ctypes.create_string_buffer(1024), ctypes.create_string_buffer(8192)
def call(name, *args):
    if getattr(library, name)(*args) != 0:
        print(name, error.value.decode()); os._exit(90)
size = ctypes.c_size_t
call("dv_sandbox_unshare", spec, error, size(1024))
child = os.fork()
if child:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
call("dv_sandbox_enter", spec, error, size(1024), report, size(8192))
layers = json.loads(report.value)
assert layers["seccomp"] and layers["lock_prepared"], layers
open("mine", "w").write("x")
call("dv_sandbox_lock", error, size(1024), report, size(8192))
assert json.loads(report.value)["locked"]
for forbidden in (os.fork, lambda: os.execv("/bin/true", ["true"]), lambda: socket.socket(socket.AF_INET),
                  lambda: open("/etc/shadow"), lambda: open("/usr/x", "w")):
    try:
        forbidden()
    except OSError:
        continue
    os._exit(91)
seen = []
thread = threading.Thread(target=lambda: seen.append(1)); thread.start(); thread.join()
os._exit(0 if seen else 92)
)";
  EXPECT_EQ(
      RunPlainly({"/usr/bin/python3", "-c", script, DAVINCI_WORKER_LIBRARY, ToJson(spec).dump()}),
      0);
}

TEST(Worker, EnteringCostsMilliseconds) {
  Worker worker([](Shared*) { return 0; });
  ASSERT_EQ(worker.Wait(), 0);
  const auto median_us = [](bool sandboxed) {
    std::vector<double> us;
    for (int i = 0; i < 31; ++i) {
      const Stopwatch watch;
      Worker one([](Shared*) { return 0; }, sandboxed);
      one.Wait();
      us.push_back(watch.Seconds() * 1e6);
    }
    std::nth_element(us.begin(), us.begin() + 15, us.end());
    return us[15];
  };
  const double bare = median_us(false);
  const double sandboxed = median_us(true);
  printf("entering the sandbox: %.0f us (two forks alone %.0f us)\n", sandboxed - bare, bare);
  RecordProperty("enter_us", std::to_string(sandboxed - bare));
  EXPECT_LT(sandboxed, 200000);
}

}  // namespace
}  // namespace davinci::sandbox
