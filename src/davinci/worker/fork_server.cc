#include "davinci/worker/fork_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"
#include "davinci/worker/forked_process.h"
#include "davinci/worker/protocol.h"

namespace davinci::worker {
namespace {

using nlohmann::json;

constexpr double kImportTimeoutSeconds = 180;
constexpr auto kWatchInterval = std::chrono::milliseconds(20);
constexpr int kControlFd = 3;

// Variables of our environment that a worker may see. Everything else (tokens, LD_PRELOAD, CUDA
// switches) stays here.
constexpr std::array kPassedOn = {"PATH",
                                  "HOME",
                                  "LANG",
                                  "LC_ALL",
                                  "LD_LIBRARY_PATH",
                                  "CUDA_HOME",
                                  "CUDA_PATH",
                                  "CC",
                                  "CXX",
                                  "VIRTUAL_ENV",
                                  "CUDA_VISIBLE_DEVICES",
                                  "PYTHONHOME",
                                  "LIBRARY_PATH",
                                  "CUDAHOSTCXX",
                                  "ASAN_OPTIONS"};

bool IsSet(const std::vector<std::pair<std::string, std::string>>& env, std::string_view name) {
  return std::any_of(env.begin(), env.end(), [&](const auto& one) { return one.first == name; });
}

std::string ReadAvailable(int fd) {
  std::string text;
  char buffer[4096];
  fcntl(fd, F_SETFL, O_NONBLOCK);
  ssize_t n = 0;
  // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection): it does not block
  while ((n = read(fd, buffer, sizeof buffer)) > 0 && text.size() < (1u << 16))
    text.append(buffer, static_cast<size_t>(n));
  return text;
}

}  // namespace

Result<std::unique_ptr<ForkServer>> ForkServer::Start(const ForkServerOptions& options) {
  std::unique_ptr<ForkServer> server(new ForkServer);
  server->options_ = options;
  DAVINCI_ASSIGN_OR_RETURN(auto pair, Channel::CreatePair());
  {
    const MutexLock lock(server->mutex_);
    server->control_ = std::move(pair.first);
  }
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return FromErrno(errno, "creating a pipe");
  server->errors_.Reset(error_pipe[0]);
  UniqueFd error_write(error_pipe[1]);

  std::vector<std::string> env;
  for (const char* name : kPassedOn)
    if (const char* value = std::getenv(name); value != nullptr && !IsSet(options.extra_env, name))
      env.push_back(fmt::format("{}={}", name, value));
  env.push_back("PYTHONPATH=" + options.module_path);
  env.push_back("PYTHONNOUSERSITE=1");
  env.push_back("PYTHONDONTWRITEBYTECODE=1");
  env.push_back("PYTHONUNBUFFERED=1");
  env.push_back("PYTORCH_NVML_BASED_CUDA_CHECK=1");
  // Scattered pages are slow, and a process is the slower for them the later it was started. What
  // aligning a tensor leaves over stays in a thread's cache of small blocks, between the tensors:
  // freed ones then do not join, and whether a process's calls get the same memory every time or
  // move through holes that no cache holds is settled by chance (1.7 or 2.4 ms, for life). Without
  // that cache a small operator takes 0.12 us longer, so it stays where devices are measured.
  env.push_back(options.triton
                    ? "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"
                    : "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=0");
  env.push_back("DAVINCI_WORKER_LIB=" + options.library);
  env.push_back("DAVINCI_BYTECODE_CACHE=" + options.bytecode_cache);
  env.push_back(fmt::format("DAVINCI_CONTROL_FD={}", kControlFd));
  env.push_back(fmt::format("DAVINCI_WORKER_TRITON={}", options.triton ? 1 : 0));
  for (const char* name : {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"})
    env.push_back(fmt::format("{}={}", name, options.threads));
  for (const auto& [name, value] : options.extra_env) env.push_back(name + "=" + value);

  std::vector<std::string> argv = {options.python, "-m", "davinci_worker"};
  std::vector<char*> argv_pointers;
  for (auto& a : argv) argv_pointers.push_back(a.data());
  argv_pointers.push_back(nullptr);
  std::vector<char*> env_pointers;
  for (auto& e : env) env_pointers.push_back(e.data());
  env_pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, error_write.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, error_write.get(), 2);
  posix_spawn_file_actions_adddup2(&actions, pair.second.get(), kControlFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  // Its own session: an interrupt at the terminal is for the supervisor to handle.
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  const int error = posix_spawnp(&server->pid_, options.python.c_str(), &actions, &attributes,
                                 argv_pointers.data(), env_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return FromErrno(error, "starting " + options.python);
  server->pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, server->pid_, 0)));
  ForkServer* raw = server.get();
  server->watchdog_ = std::jthread([raw](const std::stop_token& stop) {
    Mutex mutex;
    MutexLock lock(mutex);
    std::condition_variable_any never;
    while (!never.wait_for(lock, stop, kWatchInterval, [&] { return stop.stop_requested(); }))
      raw->Watch();
  });
  return server;
}

ForkServer::~ForkServer() {
  watchdog_.request_stop();
  if (watchdog_.joinable()) watchdog_.join();
  control_ = Channel();  // the server ends on EOF, and its children with it
  if (pid_ > 0) {
    pollfd watched{pidfd_.get(), POLLIN, 0};
    if (poll(&watched, 1, 2000) <= 0)
      syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
}

void ForkServer::Watch() {
  std::vector<std::shared_ptr<MemoryLimit>> alive;
  {
    MutexLock lock(mutex_);
    std::erase_if(watched_, [](const auto& limit) { return limit.expired(); });
    for (auto& weak : watched_)
      if (auto limit = weak.lock()) alive.push_back(std::move(limit));
  }
  for (const auto& limit : alive) limit->Check();
}

bool ForkServer::Alive() const {
  pollfd watched{pidfd_.get(), POLLIN, 0};
  return poll(&watched, 1, 0) == 0;
}

Result<json> ForkServer::Hello() {
  MutexLock lock(mutex_);
  return HelloLocked();
}

Result<json> ForkServer::HelloLocked() {
  if (!hello_.is_null()) return hello_;
  auto message = control_.Receive(kImportTimeoutSeconds, pidfd_.get());
  if (!message.ok()) {
    const std::string said = ReadAvailable(errors_.get());
    if (said.find("No module named 'torch'") != std::string::npos)
      return FailedPrecondition(
          fmt::format("{} has no torch; install it (pip install torch==2.13.0) or point --python "
                      "at one that has it",
                      options_.python));
    return FailedPrecondition(fmt::format("the Python worker ({}) did not start: {}\n{}",
                                          options_.python, message.status().message(), said));
  }
  const json hello = message->body.value("hello", json());
  if (hello.value("protocol", 0) != kProtocolVersion)
    return FailedPrecondition(
        fmt::format("the Python worker speaks protocol {}, this davinci speaks {}; rebuild or "
                    "reinstall davinci",
                    hello.value("protocol", 0), kProtocolVersion));
  hello_ = hello;
  return hello_;
}

Status ForkServer::Prewarm(const std::string& cache_folder, int arch) {
  MutexLock lock(mutex_);
  DAVINCI_RETURN_IF_ERROR(HelloLocked().status());
  if (prewarmed_ || !hello_.value("triton", json()).is_string()) return Status::Ok();
  prewarmed_ = true;
  return control_.Send({{"prewarm", {{"cache", cache_folder}, {"arch", arch}}}});
}

Result<std::shared_ptr<Process>> ForkServer::Spawn(const SpawnRequest& request) {
  DAVINCI_ASSIGN_OR_RETURN(auto pair, Channel::CreatePair());
  int status_pipe[2];
  int output_pipe[2];
  if (pipe2(status_pipe, O_CLOEXEC) != 0) return FromErrno(errno, "creating a pipe");
  UniqueFd status_read(status_pipe[0]);
  UniqueFd status_write(status_pipe[1]);
  if (pipe2(output_pipe, O_CLOEXEC) != 0) return FromErrno(errno, "creating a pipe");
  UniqueFd output_read(output_pipe[0]);
  UniqueFd output_write(output_pipe[1]);

  json env = request.env;
  json message = {{"role", request.role},       {"target", request.target},
                  {"threads", request.threads}, {"scratch", request.scratch},
                  {"policy", request.policy},   {"env", env},
                  {"imports", request.imports}, {"symbols", request.symbols}};
  const int fds[] = {pair.second.get(), status_write.get(), output_write.get()};
  auto process = std::make_shared<ForkedProcess>(std::move(pair.first), std::move(status_read),
                                                 std::move(output_read));
  MutexLock lock(mutex_);
  DAVINCI_RETURN_IF_ERROR(HelloLocked().status());
  DAVINCI_RETURN_IF_ERROR(control_.Send(message, fds));
  watched_.push_back(process->memory_limit());
  return std::shared_ptr<Process>(std::move(process));
}

}  // namespace davinci::worker
