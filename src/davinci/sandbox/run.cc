#include "davinci/sandbox/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "davinci/base/clock.h"
#include "davinci/base/json_text.h"
#include "davinci/base/unique_fd.h"
#include "davinci/sandbox/capabilities.h"
#include "davinci/sandbox/cgroup.h"
#include "davinci/sandbox/enter.h"
#include "davinci/sandbox/file_text.h"

namespace davinci::sandbox {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMemoryCheckInterval{50};
constexpr milliseconds kDiskCheckInterval{200};
constexpr double kTeardownSeconds = 15;

// --- what the processes of the sandbox tell the supervisor
// ------------------------------------------------------------

// On the report channel, a SOCK_SEQPACKET so that each message arrives whole. First byte: the kind.
enum class ReportKind : char {
  kLayers = 'L',  // + JSON: everything is in place, the command starts now
  kError = 'E',   // + text: the sandbox or the command could not be started
  kEnded = 'X',   // + EndReport: the command has ended, with its own resource use
  kTotals = 'T',  // + EndReport: pid 1 has ended, with the resource use of the whole tree
};

struct EndReport {
  int wait_status = 0;
  rusage usage = {};
};

void Send(int fd, ReportKind kind, const void* data, size_t size) {
  std::string message(1, static_cast<char>(kind));
  message.append(static_cast<const char*>(data), size);
  while (write(fd, message.data(), message.size()) < 0 && errno == EINTR) {
  }
}

[[noreturn]] void FailWith(int fd, const Status& status) {
  const std::string text = status.message().substr(0, 2000);
  Send(fd, ReportKind::kError, text.data(), text.size());
  _exit(125);
}

int OpenPidFd(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

void CloseAllExcept(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned first = 3;
  for (int fd : keep) {
    if (fd < 3) continue;
    if (static_cast<unsigned>(fd) > first) {
      syscall(SYS_close_range, first, static_cast<unsigned>(fd) - 1, 0);
    }
    first = static_cast<unsigned>(fd) + 1;
  }
  syscall(SYS_close_range, first, ~0U, 0);
}

// Ends with the parent. `parent` guards against its death before the call.
void DieWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (parent != 0 && getppid() != parent) _exit(125);
}

// --- the processes of the sandbox
// -------------------------------------------------------------------------------------

// What A, B and C inherit. Prepared by the supervisor, so that they need to do little.
struct Child {
  const RunRequest* request;
  Spec spec;
  std::vector<char*> argv;
  std::vector<char*> envp;
  int out = -1;
  int err = -1;
  int report = -1;
  int control = -1;  // A only: a byte to go, a byte or its end to kill
};

void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

// C: never returns.
[[noreturn]] void ExecCommand(const Child& child, const std::vector<PathRule>& rules,
                              ActiveLayers* layers) {
  const std::string& cwd = child.request->cwd;
  if (!cwd.empty() && chdir(cwd.c_str()) != 0) {
    FailWith(child.report, FromErrno(errno, "entering the working directory " + cwd));
  }
  const int null = open("/dev/null", O_RDONLY);
  if (null < 0 || dup2(null, 0) < 0 || dup2(child.out, 1) < 0 || dup2(child.err, 2) < 0) {
    FailWith(child.report, FromErrno(errno, "redirecting standard input and output"));
  }
  syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC);
  Status status = EnterConfinement(child.spec, rules, /*lockable=*/false, layers);
  if (!status.ok()) FailWith(child.report, status);
  const std::string json = JsonText(ToJson(*layers));
  Send(child.report, ReportKind::kLayers, json.data(), json.size());
  environ = const_cast<char**>(child.envp.data());
  execvp(child.argv[0], child.argv.data());
  FailWith(child.report, FromErrno(errno, std::string("cannot run ") + child.argv[0]));
}

// B, pid 1 of the namespace: starts the command, reaps whatever is orphaned, and takes everything
// with it when it ends.
[[noreturn]] void RunAsInit(const Child& child, const NamespaceSet& namespaces,
                            std::vector<std::string> missing) {
  std::vector<PathRule> rules;
  Result<ActiveLayers> layers = EnterView(child.spec, namespaces, std::move(missing), &rules);
  if (!layers.ok()) FailWith(child.report, layers.status());
  if (Status status = DropCapabilities(); !status.ok()) FailWith(child.report, status);
  // This process is a copy of the supervisor; its memory must stay closed to the command even
  // without Landlock.
  prctl(PR_SET_DUMPABLE, 0);
  const pid_t command = fork();
  if (command < 0) FailWith(child.report, FromErrno(errno, "fork"));
  if (command == 0) ExecCommand(child, rules, &*layers);
  // Hold none of the command's pipes, else its end of output could not be seen.
  CloseAllExcept({child.report});
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3 && null >= 0; ++fd) dup2(null, fd);
  for (;;) {
    EndReport end;
    const pid_t pid = wait4(-1, &end.wait_status, 0, &end.usage);
    if (pid < 0 && errno == EINTR) continue;
    if (pid == command || pid < 0) {
      if (pid == command) Send(child.report, ReportKind::kEnded, &end, sizeof(end));
      _exit(0);
    }
  }
}

void KillDescendants() {
  for (pid_t pid : DescendantsOf(getpid())) kill(pid, SIGKILL);
}

// A: starts B (or C), waits for its end or for the order to kill, leaves nothing behind. Never
// returns.
[[noreturn]] void RunIntermediate(Child child, pid_t supervisor) {
  DieWithParent(supervisor);
  CloseAllExcept({child.out, child.err, child.report, child.control});
  ResetSignals();
  setsid();
  char go = 0;
  if (read(child.control, &go, 1) != 1) _exit(125);

  std::vector<std::string> missing;
  NamespaceSet namespaces;
  if (child.spec.policy.new_namespaces) {
    Result<NamespaceSet> set = UnshareNamespaces(!child.spec.policy.allow_network, &missing);
    if (!set.ok()) FailWith(child.report, set.status());
    namespaces = *set;
  }
  if (!namespaces.pid) prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = getpid();
  const pid_t inner = fork();
  if (inner < 0) FailWith(child.report, FromErrno(errno, "fork"));
  if (inner == 0) {
    // Inside a new pid namespace the parent's number reads as 0.
    DieWithParent(namespaces.pid ? 0 : self);
    if (namespaces.pid) RunAsInit(child, namespaces, std::move(missing));
    std::vector<PathRule> rules;
    Result<ActiveLayers> layers = EnterView(child.spec, namespaces, std::move(missing), &rules);
    if (!layers.ok()) FailWith(child.report, layers.status());
    ExecCommand(child, rules, &*layers);
  }
  close(child.out);
  close(child.err);
  for (int fd = 0; fd < 3; ++fd) close(fd);

  const int inner_fd = OpenPidFd(inner);
  std::array<pollfd, 2> waits = {{{child.control, POLLIN, 0}, {inner_fd, POLLIN, 0}}};
  bool ended = false;
  while (!ended) {
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
    if (waits[0].revents != 0) {
      kill(inner, SIGKILL);
      break;
    }
    ended = waits[1].revents != 0;
  }
  if (!namespaces.pid && !ended) KillDescendants();
  EndReport end;
  while (wait4(inner, &end.wait_status, 0, &end.usage) < 0 && errno == EINTR) {
  }
  if (!namespaces.pid) {
    Send(child.report, ReportKind::kEnded, &end, sizeof(end));
    // As subreaper A is the parent of every orphan; killing goes on until the kernel says there is
    // no child left.
    for (;;) {
      KillDescendants();
      const pid_t pid = waitpid(-1, nullptr, WNOHANG);
      if (pid < 0 && errno == ECHILD) break;
      if (pid == 0) poll(nullptr, 0, 1);
    }
    getrusage(RUSAGE_CHILDREN, &end.usage);
  }
  Send(child.report, ReportKind::kTotals, &end, sizeof(end));
  _exit(0);
}

// --- the supervisor
// ---------------------------------------------------------------------------------------------------

// One captured stream: keeps the beginning, counts everything.
class Capture {
 public:
  Capture(UniqueFd fd, uint64_t max_bytes) : fd_(std::move(fd)), max_bytes_(max_bytes) {}

  int fd() const { return fd_.get(); }
  bool open() const { return fd_.valid(); }
  // Reads what is there, but not forever; a flood is continued at the next turn.
  void Drain() {
    char buffer[65536];
    for (int turn = 0; turn < 16 && open(); ++turn) {
      const ssize_t n = read(fd(), buffer, sizeof(buffer));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return fd_.Reset();
      total_ += static_cast<uint64_t>(n);
      const uint64_t room = max_bytes_ - text_.size();
      text_.append(buffer, static_cast<size_t>(std::min<uint64_t>(room, static_cast<uint64_t>(n))));
    }
  }
  // All writers are dead: take the rest of the pipe.
  void Finish() {
    for (uint64_t before = ~uint64_t{0}; open() && before != total_;) {
      before = total_;
      Drain();
    }
    fd_.Reset();
  }
  uint64_t total() const { return total_; }
  std::string TakeText() { return std::move(text_); }

 private:
  UniqueFd fd_;
  uint64_t max_bytes_;
  std::string text_;
  uint64_t total_ = 0;
};

Status MakePipe(UniqueFd* read_end, UniqueFd* write_end) {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return FromErrno(errno, "pipe");
  read_end->Reset(fds[0]);
  write_end->Reset(fds[1]);
  if (fcntl(fds[0], F_SETFL, O_NONBLOCK) != 0) return FromErrno(errno, "fcntl");
  return Status::Ok();
}

Status MakeChannel(UniqueFd* ours, UniqueFd* theirs) {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
    return FromErrno(errno, "socketpair");
  ours->Reset(fds[0]);
  theirs->Reset(fds[1]);
  return Status::Ok();
}

// What belongs to the process and to no file; also what a fork has left in common with its parent.
uint64_t AnonymousBytes(pid_t pid) {
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const std::string statm = ReadSmallFile("/proc/" + std::to_string(pid) + "/statm");
  unsigned long long size = 0, resident = 0, shared = 0;  // in pages
  // NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion): the kernel wrote the text
  const int found = sscanf(statm.c_str(), "%llu %llu %llu", &size, &resident, &shared);
  return found == 3 && resident > shared ? (resident - shared) * page : 0;
}

uint64_t ResidentBytes(pid_t root) {
  uint64_t total = 0;
  for (pid_t pid : DescendantsOf(root)) total += AnonymousBytes(pid);
  return total;
}

uint64_t DiskBytes(const std::string& directory) {
  uint64_t total = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator it(
      directory, std::filesystem::directory_options::skip_permission_denied, error);
  for (; !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    struct stat info;
    if (lstat(it->path().c_str(), &info) == 0) total += static_cast<uint64_t>(info.st_blocks) * 512;
  }
  return total;
}

bool SaysOutOfMemory(const std::string& text) {
  for (const char* phrase :
       {"out of memory", "Out of memory", "emory exhausted", "annot allocate memory", "bad_alloc",
        "ailed to allocate", "nsufficient memory", "MemoryError"}) {
    if (text.find(phrase) != std::string::npos) return true;
  }
  return false;
}

Status ValidateRequest(const RunRequest& request) {
  if (request.argv.empty() || request.argv[0].empty()) return InvalidArgument("run: argv is empty");
  if (request.timeout.count() <= 0) return InvalidArgument("run: the timeout must be positive");
  if (!request.policy.allow_exec) return InvalidArgument("run: policy.allow_exec must be true");
  for (const auto& [name, value] : request.env) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return InvalidArgument("run: bad environment variable name \"" + name + "\"");
    }
  }
  return Validate(request.policy);
}

// One run, seen from the supervisor. Used once.
class Supervision {
 public:
  explicit Supervision(const RunRequest& request)
      : request_(request),
        out_(UniqueFd(), request.max_output_bytes),
        err_(UniqueFd(), request.max_output_bytes) {}

  Result<RunResult> Run() {
    DAVINCI_RETURN_IF_ERROR(Start());
    Watch();
    return Conclude();
  }

 private:
  Status Start() {
    if (request_.limits.memory_bytes != 0 || request_.limits.processes != 0) {
      Result<std::unique_ptr<Cgroup>> group =
          Cgroup::Create(request_.limits, /*extra_processes=*/2);
      if (group.ok()) {
        cgroup_ = std::move(group).value();
      } else {
        cgroup_missing_ = group.status().message();
      }
    }
    Child child;
    child.request = &request_;
    child.spec = {request_.policy, request_.limits};
    // Prepared here for two reasons: detection needs threads and waits, and A must not discover it
    // too late.
    if (child.spec.policy.new_namespaces && !HasAdminCapability()) {
      child.spec.policy.new_namespaces = DetectedLayers().namespaces_usable;
    }
    for (const std::string& arg : request_.argv)
      child.argv.push_back(const_cast<char*>(arg.c_str()));
    child.argv.push_back(nullptr);
    for (const auto& [name, value] : request_.env) env_text_.push_back(name + "=" + value);
    for (const std::string& entry : env_text_)
      child.envp.push_back(const_cast<char*>(entry.c_str()));
    child.envp.push_back(nullptr);

    UniqueFd out_read, out_write, err_read, err_write, report_theirs, control_theirs;
    DAVINCI_RETURN_IF_ERROR(MakePipe(&out_read, &out_write));
    DAVINCI_RETURN_IF_ERROR(MakePipe(&err_read, &err_write));
    DAVINCI_RETURN_IF_ERROR(MakeChannel(&report_, &report_theirs));
    DAVINCI_RETURN_IF_ERROR(MakeChannel(&control_, &control_theirs));
    stop_event_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop_event_.valid()) return FromErrno(errno, "eventfd");
    child.out = out_write.get();
    child.err = err_write.get();
    child.report = report_theirs.get();
    child.control = control_theirs.get();

    const pid_t supervisor = getpid();
    intermediate_ = fork();
    if (intermediate_ < 0) return FromErrno(errno, "fork");
    if (intermediate_ == 0) RunIntermediate(std::move(child), supervisor);
    out_ = Capture(std::move(out_read), request_.max_output_bytes);
    err_ = Capture(std::move(err_read), request_.max_output_bytes);
    intermediate_fd_.Reset(OpenPidFd(intermediate_));

    Status status;
    if (!intermediate_fd_.valid()) status = FromErrno(errno, "pidfd_open");
    if (status.ok() && cgroup_ != nullptr) status = cgroup_->Add(intermediate_);
    if (!status.ok()) {
      kill(intermediate_, SIGKILL);
      while (waitpid(intermediate_, nullptr, 0) < 0 && errno == EINTR) {
      }
      return status;
    }
    started_ns_ = MonotonicNs();
    (void)!send(control_.get(), "g", 1, MSG_NOSIGNAL);
    return Status::Ok();
  }

  void OrderKill(RunEnd reason) {
    if (kill_reason_.has_value()) return;
    kill_reason_ = reason;
    killed_ns_ = MonotonicNs();
    (void)!send(control_.get(), "k", 1, MSG_NOSIGNAL);
  }

  double SecondsSince(int64_t ns) const { return 1e-9 * static_cast<double>(MonotonicNs() - ns); }

  // Milliseconds until the next thing to do without being woken; -1 = none.
  int NextTimeoutMs() {
    double seconds =
        1e-3 * static_cast<double>(request_.timeout.count()) - SecondsSince(started_ns_);
    if (kill_reason_.has_value()) {
      seconds = kTeardownSeconds - SecondsSince(killed_ns_);
    } else if (!command_ended_) {
      if (WatchesMemory())
        seconds = std::min(seconds, 1e-3 * static_cast<double>(kMemoryCheckInterval.count()));
      if (WatchesDisk())
        seconds = std::min(seconds, 1e-3 * static_cast<double>(kDiskCheckInterval.count()));
    }
    return static_cast<int>(std::clamp(seconds * 1e3 + 1, 0.0, 1e6));
  }

  bool WatchesMemory() const {
    return request_.limits.memory_bytes != 0 && (cgroup_ == nullptr || !cgroup_->limits_memory());
  }
  bool WatchesDisk() const {
    return !request_.watched_dir.empty() && request_.watched_dir_max_bytes != 0;
  }

  void CheckWatches() {
    if (command_ended_ || kill_reason_.has_value()) return;
    if (WatchesMemory() && SecondsSince(memory_checked_ns_) * 1e3 >=
                               static_cast<double>(kMemoryCheckInterval.count())) {
      if (ResidentBytes(intermediate_) > request_.limits.memory_bytes + kCopies * supervisor_bytes_)
        OrderKill(RunEnd::kOutOfMemory);
      memory_checked_ns_ = MonotonicNs();
    }
    if (WatchesDisk() &&
        SecondsSince(disk_checked_ns_) * 1e3 >= static_cast<double>(kDiskCheckInterval.count())) {
      if (DiskBytes(request_.watched_dir) > request_.watched_dir_max_bytes)
        OrderKill(RunEnd::kDiskLimit);
      disk_checked_ns_ = MonotonicNs();
    }
  }

  void Watch() {
    std::stop_callback on_stop(request_.stop, [this] {
      const uint64_t one = 1;
      (void)!write(stop_event_.get(), &one, sizeof(one));
    });
    for (;;) {
      // poll ignores negative descriptors, which is what closed streams have.
      std::array<pollfd, 5> waits = {
          {{intermediate_fd_.get(), POLLIN, 0},
           {report_.get(), POLLIN, 0},
           {out_.fd(), POLLIN, 0},
           {err_.fd(), POLLIN, 0},
           {kill_reason_.has_value() ? -1 : stop_event_.get(), POLLIN, 0}}};
      const int ready = poll(waits.data(), waits.size(), NextTimeoutMs());
      if (ready < 0 && errno != EINTR) break;
      if (ready > 0) {
        if (waits[1].revents != 0) ReadReport();
        if (waits[2].revents != 0) out_.Drain();
        if (waits[3].revents != 0) err_.Drain();
        if (waits[4].revents != 0) OrderKill(RunEnd::kCancelled);
        if (waits[0].revents != 0) break;
      }
      CheckWatches();
      const bool late =
          SecondsSince(started_ns_) * 1e3 >= static_cast<double>(request_.timeout.count());
      if (late && !command_ended_) OrderKill(RunEnd::kTimeout);
      if (kill_reason_.has_value() && SecondsSince(killed_ns_) > kTeardownSeconds) {
        // A itself does not answer. Its death takes B and the namespace along.
        kill(intermediate_, SIGKILL);
        stuck_ = true;
        break;
      }
    }
  }

  void ReadReport() {
    char buffer[16384];
    const ssize_t n = recv(report_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) return report_.Reset();
    const std::string body(buffer + 1, static_cast<size_t>(n) - 1);
    EndReport end;
    if (body.size() == sizeof(end)) memcpy(&end, body.data(), sizeof(end));
    switch (static_cast<ReportKind>(buffer[0])) {
      case ReportKind::kLayers:
        layers_json_ = body;
        // What came before was ours; the command's time starts here.
        started_ns_ = MonotonicNs();
        break;
      case ReportKind::kError:
        setup_error_ = body;
        break;
      case ReportKind::kEnded:
        command_ = end;
        command_ended_ = true;
        wall_seconds_ = SecondsSince(started_ns_);
        break;
      case ReportKind::kTotals:
        totals_ = end;
        break;
    }
  }

  Result<RunResult> Conclude() {
    while (waitpid(intermediate_, nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!command_ended_) wall_seconds_ = SecondsSince(started_ns_);
    for (int message = 0; message < 16 && report_.valid(); ++message) ReadReport();
    out_.Finish();
    err_.Finish();
    if (stuck_) return Internal("sandbox: the processes of the run did not end when killed");
    if (!setup_error_.empty()) {
      const bool not_found = setup_error_.find("cannot run ") == 0;
      return not_found ? NotFound("sandbox: " + setup_error_)
                       : Internal("sandbox: " + setup_error_);
    }
    if (layers_json_.empty() && !kill_reason_.has_value()) {
      if (cgroup_ == nullptr || cgroup_->OomKills() == 0)
        return Internal("sandbox: it died while being set up");
      kill_reason_ = RunEnd::kOutOfMemory;
    }

    RunResult result;
    result.out_bytes = out_.total();
    result.err_bytes = err_.total();
    result.out = out_.TakeText();
    result.err = err_.TakeText();
    result.output_truncated =
        result.out.size() < result.out_bytes || result.err.size() < result.err_bytes;
    result.wall_seconds = wall_seconds_;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    result.user_seconds = seconds(totals_.usage.ru_utime);
    result.system_seconds = seconds(totals_.usage.ru_stime);
    const rusage& memory = command_ended_ ? command_.usage : totals_.usage;
    result.max_rss_bytes = static_cast<uint64_t>(memory.ru_maxrss) * 1024;
    if (!layers_json_.empty()) {
      const nlohmann::json json = nlohmann::json::parse(layers_json_, nullptr, false);
      DAVINCI_ASSIGN_OR_RETURN(result.layers, ActiveLayersFromJson(json));
    }
    result.layers.cgroup_memory = cgroup_ != nullptr && cgroup_->limits_memory();
    result.layers.cgroup_processes = cgroup_ != nullptr && cgroup_->limits_processes();
    if (!cgroup_missing_.empty()) result.layers.missing.push_back(cgroup_missing_);
    DecideEnd(&result);
    return result;
  }

  void DecideEnd(RunResult* result) const {
    if (command_ended_ && WIFEXITED(command_.wait_status)) {
      result->exit_code = WEXITSTATUS(command_.wait_status);
    } else {
      result->end = RunEnd::kSignalled;
      result->signal = command_ended_ ? WTERMSIG(command_.wait_status) : SIGKILL;
    }
    if (result->Succeeded()) return;  // it ended well before anything else happened
    if (cgroup_ != nullptr && cgroup_->OomKills() > 0) {
      result->end = RunEnd::kOutOfMemory;
    } else if (kill_reason_.has_value() && result->signal == SIGKILL) {
      result->end = *kill_reason_;
    } else if (result->signal == SIGXCPU) {
      result->end = RunEnd::kTimeout;
    } else if (result->signal == SIGXFSZ) {
      result->end = RunEnd::kDiskLimit;
    } else if (request_.limits.address_space_bytes != 0) {
      const bool crashed_full = (result->signal == SIGABRT || result->signal == SIGSEGV) &&
                                result->max_rss_bytes > request_.limits.address_space_bytes / 4 * 3;
      if (SaysOutOfMemory(result->err) || crashed_full) result->end = RunEnd::kOutOfMemory;
    }
  }

  const RunRequest& request_;
  std::vector<std::string> env_text_;
  std::unique_ptr<Cgroup> cgroup_;
  std::string cgroup_missing_;
  pid_t intermediate_ = -1;
  UniqueFd intermediate_fd_, report_, control_, stop_event_;
  Capture out_, err_;

  // Copies of the supervisor below it, whose memory is not the command's: the intermediate, the
  // namespace's first process, and the command until it is executed.
  static constexpr uint64_t kCopies = 3;
  const uint64_t supervisor_bytes_ = AnonymousBytes(getpid());
  int64_t started_ns_ = 0;
  int64_t killed_ns_ = 0;
  int64_t memory_checked_ns_ = 0;
  int64_t disk_checked_ns_ = 0;
  std::optional<RunEnd> kill_reason_;
  bool stuck_ = false;

  std::string layers_json_;
  std::string setup_error_;
  bool command_ended_ = false;
  EndReport command_, totals_;
  double wall_seconds_ = 0;
};

}  // namespace

const char* RunEndName(RunEnd end) {
  switch (end) {
    case RunEnd::kExited:
      return "exited";
    case RunEnd::kSignalled:
      return "signalled";
    case RunEnd::kTimeout:
      return "timeout";
    case RunEnd::kOutOfMemory:
      return "out_of_memory";
    case RunEnd::kDiskLimit:
      return "disk_limit";
    case RunEnd::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

Result<RunResult> Run(const RunRequest& request) {
  DAVINCI_RETURN_IF_ERROR(ValidateRequest(request));
  try {
    return Supervision(request).Run();
  } catch (const std::exception& e) {
    return Internal(std::string("sandbox: ") + e.what());
  }
}

}  // namespace davinci::sandbox
