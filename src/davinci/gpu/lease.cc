#include "davinci/gpu/lease.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <map>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/mutex.h"
#include "davinci/base/unique_fd.h"

namespace davinci::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMaxExclusiveRun = 8;
// Exclusive requests hold shared ones back when they have become as many as the shared holders, or
// one has waited for this long.
constexpr auto kGather = std::chrono::milliseconds(150);
// A longer wait for another process is reported.
constexpr auto kTellAfter = std::chrono::milliseconds(500);

bool IsDeviceKey(const std::string& device) {
  if (device.empty() || device.size() > 100 || device.front() == '.') return false;
  return std::all_of(device.begin(), device.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  });
}

// Writable by all users, whatever the umask; false where the path is something else.
bool IsSharedFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) chmod(path.c_str(), 0777);
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
         access(path.c_str(), R_OK | W_OK | X_OK) == 0;
}

// An ordinary file that every user may lock; never what a link points to.
UniqueFd OpenLockFile(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  UniqueFd file(open(path.c_str(), kFlags));
  if (file.valid() || errno != ENOENT) return file;
  file.Reset(open(path.c_str(), kFlags | O_CREAT, 0666));
  if (file.valid()) fchmod(file.get(), 0666);
  return file;
}

// The file may be deleted between our open and our lock; then no other process sees
// our lock.
bool IsStillThatFile(int fd, const std::string& path) {
  struct stat by_fd {};
  struct stat by_path {};
  return fstat(fd, &by_fd) == 0 && stat(path.c_str(), &by_path) == 0 &&
         by_fd.st_ino == by_path.st_ino && by_fd.st_dev == by_path.st_dev;
}

}  // namespace

struct DeviceLeases::Impl {
  // State of one device within this object. Guarded by `mutex`.
  struct Local {
    struct Waiting {
      LeaseMode mode;
      Clock::time_point since;
    };
    uint64_t next_ticket = 0;
    std::map<uint64_t, Waiting> waiting;  // in order of arrival
    int shared_holders = 0;
    bool exclusive_held = false;
    int exclusive_run = 0;      // exclusive leases granted since the last shared one
    uint64_t shared_until = 0;  // shared requests before this ticket go ahead of exclusive ones

    // Whether shared holders should make room.
    bool ExclusiveIsDue() const {
      int exclusive = 0;
      for (const auto& [ticket, request] : waiting) {
        if (request.mode != LeaseMode::kExclusive) continue;
        if (++exclusive >= shared_holders || Clock::now() - request.since >= kGather) return true;
      }
      return false;
    }

    // The next request, if any. Changing from shared to exclusive costs waiting for the last
    // shared holder, so requests of one kind are served together: up to kMaxExclusiveRun exclusive
    // requests, then all shared ones that had come by then.
    std::optional<uint64_t> Next() const {
      if (exclusive_held) return std::nullopt;
      const auto first = [&](LeaseMode mode) {
        return std::find_if(waiting.begin(), waiting.end(),
                            [&](const auto& entry) { return entry.second.mode == mode; });
      };
      const auto shared = first(LeaseMode::kShared);
      const auto exclusive = first(LeaseMode::kExclusive);
      if (shared != waiting.end()) {
        const bool may =
            exclusive == waiting.end() || shared->first < shared_until ||
            (shared_holders > 0 && (shared->first < exclusive->first || !ExclusiveIsDue())) ||
            (shared_holders == 0 && exclusive_run >= kMaxExclusiveRun);
        if (may) return shared->first;
      }
      if (exclusive == waiting.end() || shared_holders > 0) return std::nullopt;
      return exclusive->first;
    }

    void Granted(LeaseMode mode) {
      if (mode == LeaseMode::kExclusive) {
        exclusive_held = true;
        ++exclusive_run;
        return;
      }
      if (shared_holders++ == 0) shared_until = next_ticket;
      exclusive_run = 0;
    }
  };

  std::filesystem::path directory;
  Mutex mutex;
  std::condition_variable_any changed;
  std::map<std::string, Local> devices DAVINCI_GUARDED_BY(mutex);

  std::string LockPath(const std::string& device) const {
    return (directory / (device + ".lock")).string();
  }
  std::string TurnPath(const std::string& device) const {
    return (directory / (device + ".turn")).string();
  }

  static Status CheckWait(const std::string& device, const LeaseRequest& request) {
    if (request.stop.stop_requested()) {
      return Cancelled(fmt::format("waiting for device {}: cancelled", device));
    }
    if (request.deadline && Clock::now() >= *request.deadline) {
      return DeadlineExceeded(fmt::format("waiting for device {}: not granted in time", device));
    }
    return Status::Ok();
  }

  // Waits until among those in this object it is the turn of `ticket`.
  Status WaitForTurn(const std::string& device, Local& local, uint64_t ticket,
                     const LeaseRequest& request) {
    MutexLock lock(mutex);
    const auto granted = [&] { return local.Next() == ticket; };
    if (request.deadline) {  // NOLINT(bugprone-branch-clone): the other wait has no deadline
      changed.wait_until(lock, request.stop, *request.deadline, granted);
    } else {
      changed.wait(lock, request.stop, granted);
    }
    if (granted()) return Status::Ok();
    return CheckWait(device, request);
  }

  std::string LastExclusiveHolder(const std::string& device) const {
    const UniqueFd file(open(LockPath(device).c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return "";
    std::array<char, 512> text{};
    const ssize_t size = pread(file.get(), text.data(), text.size(), 0);
    if (size <= 0) return "";
    std::string holder(text.data(), static_cast<size_t>(size));
    while (!holder.empty() && holder.back() == '\n') holder.pop_back();
    return holder;
  }

  // flock() that can be cancelled: the system call itself can only be interrupted by a signal,
  // hence the polling.
  Result<UniqueFd> Flock(const std::string& path, int operation, const std::string& device,
                         const LeaseRequest& request) {
    auto pause = std::chrono::microseconds(200);
    const auto tell_at = Clock::now() + kTellAfter;
    bool notified = !request.on_wait;
    while (true) {
      UniqueFd file = OpenLockFile(path);
      if (!file.valid()) return FromErrno(errno, path);
      while (flock(file.get(), operation | LOCK_NB) != 0) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK) return FromErrno(errno, "flock " + path);
        DAVINCI_RETURN_IF_ERROR(CheckWait(device, request));
        if (!notified && Clock::now() >= tell_at) {
          request.on_wait(LastExclusiveHolder(device));
          notified = true;
        }
        MutexLock lock(mutex);
        auto wake = Clock::now() + pause;
        if (request.deadline) wake = std::min(wake, *request.deadline);
        // Never signalled; waiting on the condition variable is how a stop request ends the
        // pause early.
        changed.wait_until(lock, request.stop, wake, [] { return false; });
        pause = std::min(pause * 2, std::chrono::microseconds(2000));
      }
      if (IsStillThatFile(file.get(), path)) return file;
    }
  }
};

Result<std::filesystem::path> MachineLeaseDir() {
  for (const char* path : {"/run/lock/davinci", "/tmp/davinci-leases"})
    if (IsSharedFolder(path)) return std::filesystem::path(path);
  return FailedPrecondition("neither /run/lock/davinci nor /tmp/davinci-leases can be written to");
}

DeviceLeases::DeviceLeases(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeviceLeases::DeviceLeases() = default;
DeviceLeases::~DeviceLeases() = default;

Result<std::unique_ptr<DeviceLeases>> DeviceLeases::Open(const std::filesystem::path& directory) {
  DAVINCI_RETURN_IF_ERROR(MakeDirs(directory));
  auto impl = std::make_unique<Impl>();
  impl->directory = directory;
  return std::unique_ptr<DeviceLeases>(new DeviceLeases(std::move(impl)));
}

bool DeviceLeases::IsAwaited(const std::string& device) const {
  const UniqueFd file(open(impl_->TurnPath(device).c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<DeviceLease> DeviceLeases::Acquire(const std::string& device, const LeaseRequest& request) {
  if (!IsDeviceKey(device)) {
    return InvalidArgument(
        fmt::format("device key \"{}\": use 1 to 100 letters, digits, '.', '_' or '-'", device));
  }
  const auto started = Clock::now();
  Impl::Local* local = nullptr;
  uint64_t ticket = 0;
  {
    MutexLock lock(impl_->mutex);
    local = &impl_->devices[device];  // map nodes do not move
    ticket = local->next_ticket++;
    local->waiting.emplace(ticket, Impl::Local::Waiting{request.mode, started});
  }
  const auto acquire = [&]() -> Result<UniqueFd> {
    DAVINCI_RETURN_IF_ERROR(impl_->WaitForTurn(device, *local, ticket, request));
    DAVINCI_ASSIGN_OR_RETURN(UniqueFd turnstile,
                             impl_->Flock(impl_->TurnPath(device), LOCK_EX, device, request));
    return impl_->Flock(impl_->LockPath(device),
                        request.mode == LeaseMode::kExclusive ? LOCK_EX : LOCK_SH, device, request);
  };
  Result<UniqueFd> file = acquire();
  {
    MutexLock lock(impl_->mutex);
    local->waiting.erase(ticket);
    if (file.ok()) local->Granted(request.mode);
  }
  impl_->changed.notify_all();
  if (!file.ok()) return file.status();
  if (request.mode == LeaseMode::kExclusive) {
    const std::string text = fmt::format("pid {}: {}\n", getpid(), request.purpose);
    // Informational only: a full disk must not cost the lease. Nothing is written to a file that
    // has another name.
    struct stat found {};
    const bool ours =
        fstat(file->get(), &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 1;
    if (ours && ftruncate(file->get(), 0) == 0) {
      [[maybe_unused]] const ssize_t written = pwrite(file->get(), text.data(), text.size(), 0);
    }
  }
  DeviceLease lease;
  lease.owner_ = this;
  lease.fd_ = file->Release();
  lease.mode_ = request.mode;
  lease.device_ = device;
  lease.waited_ms_ = std::chrono::duration<double, std::milli>(Clock::now() - started).count();
  return lease;
}

bool DeviceLeases::ExclusiveIsDue(const std::string& device) const {
  MutexLock lock(impl_->mutex);
  const auto found = impl_->devices.find(device);
  return found != impl_->devices.end() && found->second.ExclusiveIsDue();
}

size_t DeviceLeases::NumWaiting(const std::string& device) const {
  MutexLock lock(impl_->mutex);
  const auto found = impl_->devices.find(device);
  return found == impl_->devices.end() ? 0 : found->second.waiting.size();
}

void DeviceLeases::OnRelease(const std::string& device, LeaseMode mode) {
  {
    MutexLock lock(impl_->mutex);
    Impl::Local& local = impl_->devices[device];
    if (mode == LeaseMode::kExclusive) {
      local.exclusive_held = false;
    } else {
      --local.shared_holders;
    }
  }
  impl_->changed.notify_all();
}

DeviceLease::DeviceLease(DeviceLease&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)),
      fd_(std::exchange(other.fd_, -1)),
      mode_(other.mode_),
      device_(std::move(other.device_)),
      waited_ms_(other.waited_ms_) {}

DeviceLease& DeviceLease::operator=(DeviceLease&& other) noexcept {
  if (this != &other) {
    Release();
    owner_ = std::exchange(other.owner_, nullptr);
    fd_ = std::exchange(other.fd_, -1);
    mode_ = other.mode_;
    device_ = std::move(other.device_);
    waited_ms_ = other.waited_ms_;
  }
  return *this;
}

DeviceLease::~DeviceLease() { Release(); }

Result<DeviceLease> DeviceLease::Played(std::string device, LeaseMode mode, double waited_ms) {
  DeviceLease lease;
  lease.fd_ = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (lease.fd_ < 0) return FromErrno(errno, "opening /dev/null");
  lease.mode_ = mode;
  lease.device_ = std::move(device);
  lease.waited_ms_ = waited_ms;
  return lease;
}

void DeviceLease::Release() {
  if (fd_ < 0) return;
  // First the file, then the bookkeeping: a thread woken here must find the lock free.
  close(std::exchange(fd_, -1));
  if (DeviceLeases* owner = std::exchange(owner_, nullptr)) owner->OnRelease(device_, mode_);
}

}  // namespace davinci::gpu
