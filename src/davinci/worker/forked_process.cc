#include "davinci/worker/forked_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>
#include <system_error>
#include <thread>

#include "davinci/base/clock.h"
#include "davinci/base/mutex.h"
#include "davinci/worker/page_map.h"
#include "davinci/worker/protocol.h"

namespace davinci::worker {
namespace {

using nlohmann::json;

constexpr size_t kTailBytes = 16 << 10;
constexpr size_t kPartBytes = size_t{4} << 20;  // of a worker's memory, read at once
constexpr size_t kMaxReaders = 4;
constexpr int kSpinsBeforeSleep = 4;
constexpr std::chrono::microseconds kSleep(20);
constexpr double kLastOutputSeconds = 0.1;  // of a dead child, to get from the pipe to here

int SendSignal(int pidfd, int signal) {
  return static_cast<int>(syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0));
}

// Small /proc files; empty when the process is gone.
std::string ReadProc(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return {};
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = read(fd.get(), buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(n));
  return text;
}

// Time until every thread of a process has stopped, seconds. One that has no core stops when it
// gets one: as long as a machine with many times its cores of load may take.
constexpr double kFreezeSeconds = 20;

// schedstat: nanoseconds on a core, nanoseconds waiting for one, number of turns.
int64_t WaitFromSchedstat(const std::string& text) {
  long long ran = 0;
  long long waited = 0;
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
  return std::sscanf(text.c_str(), "%lld %lld", &ran, &waited) == 2 ? waited : 0;
}

// The state letter behind the last ')' of /proc/…/stat.
char ThreadState(pid_t pid, pid_t tid) {
  const std::string stat = ReadProc(fmt::format("/proc/{}/task/{}/stat", pid, tid));
  const size_t paren = stat.rfind(')');
  return paren == std::string::npos || paren + 2 >= stat.size() ? 'X' : stat[paren + 2];
}

// errno, or 0 when all of it was read.
constexpr size_t kMaxPieces = 1024;  // IOV_MAX

int ReadPart(pid_t pid, uint64_t address, char* out, size_t size) {
  while (size > 0) {
    iovec local{out, size};
    iovec remote{reinterpret_cast<void*>(address), size};  // NOLINT: an address of another process
    const ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (n <= 0) return n == 0 ? EFAULT : errno;
    out += n;
    address += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace

ForkedProcess::ForkedProcess(Channel control, UniqueFd status, UniqueFd output)
    : control_(std::move(control)),
      status_(std::move(status)),
      output_(std::move(output)),
      stop_drain_(eventfd(0, EFD_CLOEXEC)) {
  drain_ = std::thread([this] {
    DrainOutput();
    drained_ = true;
  });
}

ForkedProcess::~ForkedProcess() {
  // One that was just asked for has no pid yet; it cannot be killed before that is known.
  const double deadline = MonotonicSeconds() + 2.0;
  while (!pidfd_.valid() && !death_ && MonotonicSeconds() < deadline) ReadStatus(0.1);
  Kill();
  WaitForDeath(5.0);
  memory_limit_->End();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(stop_drain_.get(), &one, sizeof one);
  drain_.join();
}

void ForkedProcess::DrainOutput() {
  char buffer[65536];
  while (true) {
    pollfd watched[2] = {{output_.get(), POLLIN, 0}, {stop_drain_.get(), POLLIN, 0}};
    if (poll(watched, 2, -1) < 0 && errno != EINTR) return;
    if (watched[0].revents & POLLIN) {
      const ssize_t n = read(output_.get(), buffer, sizeof buffer);
      if (n > 0) {
        output_bytes_ += n;
        MutexLock lock(tail_mutex_);
        tail_.append(buffer, static_cast<size_t>(n));
        if (tail_.size() > 2 * kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
        continue;
      }
      if (n < 0 && errno == EINTR) continue;
      return;
    }
    if (watched[0].revents || watched[1].revents) return;
  }
}

std::string ForkedProcess::OutputTail() {
  const double deadline = MonotonicSeconds() + kLastOutputSeconds;
  while (death_ && !drained_ && MonotonicSeconds() < deadline) std::this_thread::sleep_for(kSleep);
  MutexLock lock(tail_mutex_);
  return tail_.size() > kTailBytes ? tail_.substr(tail_.size() - kTailBytes) : tail_;
}

bool ForkedProcess::ReadStatus(double timeout_seconds) {
  pollfd watched{status_.get(), POLLIN, 0};
  const int ms = static_cast<int>(std::clamp(timeout_seconds * 1000.0, 0.0, 1e9));
  if (poll(&watched, 1, ms) <= 0) return false;
  StatusRecord record{};
  const ssize_t n = read(status_.get(), &record, sizeof record);
  if (n != static_cast<ssize_t>(sizeof record)) {
    // The intermediate is gone without a word: it was killed, and the child with it.
    if (!death_) SetDeath({false, 0, SIGKILL});
    return true;
  }
  if (record.kind == kStatusPid) {
    const auto pid = static_cast<pid_t>(record.value);
    pidfd_.Reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    pid_ = pid;
    memory_limit_->Begin(pid_, pidfd_.get());
  } else if (record.kind == kStatusExit) {
    const int status = static_cast<int>(record.value);
    Death death;
    death.exited = WIFEXITED(status);
    death.exit_code = death.exited ? WEXITSTATUS(status) : 0;
    death.signal = death.exited ? 0 : WTERMSIG(status);
    SetDeath(death);
  } else {
    SetDeath({true, 70, 0});
  }
  return true;
}

void ForkedProcess::SetDeath(const Death& death) {
  death_ = death;
  memory_limit_->End();
}

std::optional<Death> ForkedProcess::WaitForDeath(double timeout_seconds) {
  const double deadline = MonotonicSeconds() + timeout_seconds;
  while (!death_) {
    if (!ReadStatus(std::max(0.0, deadline - MonotonicSeconds())) && MonotonicSeconds() >= deadline)
      break;
  }
  return death_;
}

void ForkedProcess::Kill() {
  if (pidfd_.valid()) SendSignal(pidfd_.get(), SIGKILL);
}

Result<json> ForkedProcess::AwaitReady(double timeout_seconds) {
  const double deadline = MonotonicSeconds() + timeout_seconds;
  while (pid_ < 0 && !death_) {
    if (!ReadStatus(std::max(0.0, deadline - MonotonicSeconds())))
      return DeadlineExceeded("a worker process did not start in time");
  }
  DAVINCI_ASSIGN_OR_RETURN(Message message,
                           control_.Receive(std::max(0.0, deadline - MonotonicSeconds())));
  if (message.body.contains("error"))
    return Internal("worker could not start: " +
                    message.body["error"].value("message", std::string("unknown")));
  if (!message.body.contains("ready")) return Internal("worker spoke out of turn");
  return message.body["ready"];
}

Result<Process::Reply> ForkedProcess::Await(double timeout_seconds, const BuildHandler& build) {
  double deadline = MonotonicSeconds() + timeout_seconds;
  while (true) {
    if (spin_seconds_ > 0) control_.SpinUntilReadable(std::min(spin_seconds_, timeout_seconds));
    const double left = std::max(0.0, deadline - MonotonicSeconds());
    DAVINCI_ASSIGN_OR_RETURN(Message message, control_.Receive(left, status_.get()));
    json& body = message.body;
    if (body.contains("build") && build) {
      Stopwatch building;
      const json outcome = build(body["build"]);
      deadline += building.Seconds();
      DAVINCI_RETURN_IF_ERROR(control_.Send({{"built", outcome}}));
      continue;
    }
    Reply reply;
    reply.fds = std::move(message.fds);
    if (body.contains("error")) {
      reply.error =
          body["error"].is_object() ? std::move(body["error"]) : json{{"kind", "runtime_error"}};
    } else if (body.contains("done")) {
      reply.ok = std::move(body["done"]);
    } else if (body.contains("ok")) {
      reply.ok = std::move(body["ok"]);
    } else {
      return InvalidArgument("a worker sent a message that is no reply");
    }
    return reply;
  }
}

Status ForkedProcess::Freeze() {
  if (SendSignal(pidfd_.get(), SIGSTOP) != 0) return FromErrno(errno, "freezing a worker");
  const double deadline = MonotonicSeconds() + kFreezeSeconds;
  for (int spin = 0;; ++spin) {
    bool all_stopped = true;
    bool any = false;
    for (pid_t tid : Threads(pid_)) {
      any = true;
      const char state = ThreadState(pid_, tid);
      // T stopped, t traced, Z/X already dead: none of them runs.
      if (state != 'T' && state != 't' && state != 'Z' && state != 'X') {
        all_stopped = false;
        break;
      }
    }
    if (!any) return Unavailable("the worker ended");
    if (all_stopped) return Status::Ok();
    if (MonotonicSeconds() > deadline) return DeadlineExceeded("a worker could not be frozen");
    // A thread that shares our core needs it to stop; yielding does not give it away for long.
    if (spin_seconds_ <= 0 && spin > kSpinsBeforeSleep) std::this_thread::sleep_for(kSleep);
  }
}

Status ForkedProcess::Thaw() {
  if (SendSignal(pidfd_.get(), SIGCONT) != 0) return FromErrno(errno, "thawing a worker");
  return Status::Ok();
}

int64_t ForkedProcess::CpuNs() const {
  clockid_t clock;
  timespec ts;
  if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &ts) != 0) return 0;
  return int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

CoreTimes ForkedProcess::ReadCoreTimes() const {
  constexpr int kMostThreads = 32;
  CoreTimes times;
  int num_read = 0;
  for (const pid_t tid : Threads(pid_)) {
    if (tid != pid_ && ++num_read >= kMostThreads) continue;
    const std::string text = ReadProc(fmt::format("/proc/{}/task/{}/schedstat", pid_, tid));
    long long ran = 0;
    long long waited = 0;
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
    if (std::sscanf(text.c_str(), "%lld %lld", &ran, &waited) != 2) continue;
    times.ran_ns += ran;
    times.waited_ns += waited;
    if (tid == pid_)
      times.main_ran_ns = ran, times.main_waited_ns = waited;
    else
      times.others.push_back({tid, ran, waited});
  }
  std::ranges::sort(times.others, {}, &CoreTimes::Thread::tid);
  return times;
}

std::vector<pid_t> Threads(pid_t pid) {
  std::vector<pid_t> threads;
  DIR* dir = opendir(fmt::format("/proc/{}/task", pid).c_str());
  if (dir == nullptr) return threads;
  while (const dirent* entry = readdir(dir))
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
    if (const int tid = atoi(entry->d_name); tid > 0) threads.push_back(tid);
  closedir(dir);
  return threads;
}

std::vector<pid_t> Descendants(pid_t pid) {
  std::vector<pid_t> found;
  std::vector<pid_t> queue = {pid};
  while (!queue.empty()) {
    const pid_t parent = queue.back();
    queue.pop_back();
    for (pid_t tid : Threads(parent)) {
      const std::string children = ReadProc(fmt::format("/proc/{}/task/{}/children", parent, tid));
      const char* cursor = children.c_str();
      char* end = nullptr;
      for (long child = strtol(cursor, &end, 10); end != cursor; child = strtol(cursor, &end, 10)) {
        found.push_back(static_cast<pid_t>(child));
        queue.push_back(static_cast<pid_t>(child));
        cursor = end;
      }
    }
  }
  return found;
}

int64_t ForkedProcess::OwnCoreWaitNs() const {
  return WaitFromSchedstat(ReadProc("/proc/thread-self/schedstat"));
}

int64_t ForkedProcess::ResidentBytes() const { return ResidentBytesOf(pid_); }

int ForkedProcess::NumThreads() const { return static_cast<int>(Threads(pid_).size()); }

int ForkedProcess::Core() const {
  constexpr int kSpacesBefore = 37;  // of field 39, counted from the ')' behind the name
  const pid_t pid = pid_;
  const std::string stat = ReadProc(fmt::format("/proc/{}/task/{}/stat", pid, pid));
  size_t at = stat.rfind(')');
  for (int i = 0; i < kSpacesBefore && at != std::string::npos; ++i) at = stat.find(' ', at + 1);
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
  return at == std::string::npos ? -1 : atoi(stat.c_str() + at);
}

std::vector<pid_t> ForkedProcess::OtherProcesses() const { return Descendants(pid_); }

int ForkedProcess::NumSeccompFilters() const {
  int least = std::numeric_limits<int>::max();
  for (pid_t tid : Threads(pid_)) {
    const std::string text = ReadProc(fmt::format("/proc/{}/task/{}/status", pid_, tid));
    const size_t at = text.find("Seccomp_filters:");
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
    least = std::min(least, at == std::string::npos ? 0 : atoi(text.c_str() + at + 16));
  }
  return least == std::numeric_limits<int>::max() ? 0 : least;
}

std::vector<std::string> ForkedProcess::MappedLibraries() const {
  std::set<std::string> names;
  const std::string maps = ReadProc(fmt::format("/proc/{}/maps", pid_));
  size_t start = 0;
  while (start < maps.size()) {
    size_t end = maps.find('\n', start);
    if (end == std::string::npos) end = maps.size();
    const std::string_view line(maps.data() + start, end - start);
    const size_t slash = line.find('/');
    if (slash != std::string_view::npos && line.find(".so", slash) != std::string_view::npos)
      names.emplace(line.substr(slash));
    start = end + 1;
  }
  return {names.begin(), names.end()};
}

Status ForkedProcess::ReadMemory(uint64_t address, void* destination, size_t size) const {
  // Most of it is the kernel looking up pages, so several cores are faster than one.
  const size_t parts = (size + kPartBytes - 1) / kPartBytes;
  std::atomic<size_t> next{0};
  std::atomic<int> error{0};
  const auto loop = [&] {
    for (size_t part = next++; part < parts; part = next++) {
      const size_t at = part * kPartBytes;
      const int failed = ReadPart(pid_, address + at, static_cast<char*>(destination) + at,
                                  std::min(kPartBytes, size - at));
      if (failed != 0) error = failed;
    }
  };
  std::vector<std::jthread> helpers;
  const size_t readers =
      std::min<size_t>({parts, std::thread::hardware_concurrency(), kMaxReaders});
  try {
    for (size_t i = 1; i < readers; ++i) helpers.emplace_back(loop);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): fewer helpers, same result
  }
  loop();
  helpers.clear();
  return error == 0 ? Status::Ok() : FromErrno(error, "reading a worker's output");
}

Status ForkedProcess::ReadPieces(std::span<const uint64_t> addresses, size_t size,
                                 char* destination) const {
  // One system call moves 2 GiB at most.
  const size_t at_once = std::min(kMaxPieces, kPartBytes / std::max<size_t>(1, size));
  if (at_once <= 1) {
    for (const uint64_t address : addresses) {
      DAVINCI_RETURN_IF_ERROR(ReadMemory(address, destination, size));
      destination += size;
    }
    return Status::Ok();
  }
  std::vector<iovec> remote(std::min(addresses.size(), at_once));
  while (!addresses.empty()) {
    const size_t n = std::min(addresses.size(), at_once);
    for (size_t i = 0; i < n; ++i)
      remote[i] = {reinterpret_cast<void*>(addresses[i]), size};  // NOLINT: of another process
    iovec local{destination, n * size};
    const ssize_t got = process_vm_readv(pid_, &local, 1, remote.data(), n, 0);
    if (got != static_cast<ssize_t>(n * size))
      return FromErrno(got < 0 ? errno : EFAULT, "reading a worker's output");
    destination += n * size;
    addresses = addresses.subspan(n);
  }
  return Status::Ok();
}

bool ForkedProcess::FillPieces(std::span<const uint64_t> addresses, size_t size, char byte) const {
  std::vector<iovec> remote;
  for (const uint64_t address : addresses.first(std::min(addresses.size(), kMaxPieces)))
    remote.push_back({reinterpret_cast<void*>(address), size});  // NOLINT: of another process
  std::vector<char> bytes(remote.size() * size, byte);
  iovec local{bytes.data(), bytes.size()};
  return process_vm_writev(pid_, &local, 1, remote.data(), remote.size(), 0) ==
         static_cast<ssize_t>(bytes.size());
}

bool ForkedProcess::SharesMemory(Ranges ranges) const {
  const std::string maps = ReadProc(fmt::format("/proc/{}/maps", pid_));
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    char how[5] = {};
    unsigned long inode = 0;
    // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %lu", &from, &to, how, &inode) != 4)
      continue;
    if (how[3] != 's' && inode == 0) continue;
    for (const auto& [address, bytes] : ranges)
      if (address < to && from < address + bytes) return true;
  }
  return false;
}

int64_t ForkedProcess::UnwrittenPages(Ranges ranges) const {
  return NumUnwrittenPages(pid_, ranges);
}

Status ForkedProcess::SendFrame(std::string_view frame, std::span<const int> fds) {
  return control_.SendFrame(frame, fds);
}

Status ForkedProcess::Wait(double timeout_seconds) {
  return control_.Wait(timeout_seconds, status_.get());
}

bool ForkedProcess::SpinUntilReadable(double seconds) {
  return control_.SpinUntilReadable(seconds);
}

size_t ForkedProcess::WaitingBytes() { return control_.WaitingBytes(); }

Result<Message> ForkedProcess::Receive(double timeout_seconds) {
  return control_.Receive(timeout_seconds, status_.get());
}

}  // namespace davinci::worker
