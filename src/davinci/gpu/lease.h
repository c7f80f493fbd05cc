// Who may use a device now. Many holders may load and check candidates on a device at once
// (shared); timing needs it alone (exclusive). A device is any key: a GPU's uuid, or "cpu" for
// timings on the host's cores.
//
// Works between threads and between processes: each lease holds its own flock() on
// <directory>/<device>.lock, so the kernel gives it back when the holder dies, kill -9 included.
// <directory>/<device>.turn is the turnstile that makes it fair: each request takes the
// turnstile first and keeps it until the lease is granted, so a waiting exclusive request holds
// back later shared ones and is never starved. Inside one DeviceLeases object no thread polls, and
// requests are served in order of arrival, but for two things, because every change waits for the
// slowest shared holder: up to eight exclusive requests follow one another before the shared ones
// that have come meanwhile are granted together, and as long as more hold the device than wait to
// be alone, for 0.15 s at most, others may join those who hold it. Between processes the wait polls
// (0.2 ms growing to 2 ms), and which of several waiting processes gets the turnstile next is left
// to chance.
//
// The file's text names the last exclusive holder ("pid 4711: timing"); it is for people, never
// parsed.
//
// One folder serves all users of a machine, so every user can open its files. A user who
// deletes them can end up timing beside another; no verdict rests on it.
//
// A forked child that does not exec shares its parent's leases: they end when both have closed
// them. Descriptors are close-on-exec. The directory must be on a file system with working flock
// (any local one).
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "davinci/base/status.h"

namespace davinci::gpu {

enum class LeaseMode { kShared, kExclusive };

struct LeaseRequest {
  LeaseMode mode = LeaseMode::kShared;
  std::string purpose = {};  // "timing softmax_rows"; shown to people who wait
  // Waiting ends with kDeadlineExceeded; no value waits for ever.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // Waiting ends with kCancelled when a stop is requested.
  std::stop_token stop = {};
  // Called once, by the thread that asks, after half a second of waiting for another process.
  // `holder`: what the last exclusive one wrote about itself ("pid 7: timing softmax_rows"), or
  // empty.
  std::function<void(const std::string& holder)> on_wait = {};
};

// The folder that every davinci on this machine uses, for all users: /run/lock/davinci, or
// /tmp/davinci-leases where there is none; created when missing. kFailedPrecondition when neither
// is a folder that every user may write to.
Result<std::filesystem::path> MachineLeaseDir();

class DeviceLeases;

// Held until destroyed or Release()d. Movable; may be released by another thread than the one that
// acquired it. Must not outlive the DeviceLeases it came from.
class DeviceLease {
 public:
  DeviceLease() = default;
  DeviceLease(DeviceLease&& other) noexcept;
  DeviceLease& operator=(DeviceLease&& other) noexcept;
  ~DeviceLease();
  // A lease that no DeviceLeases gave, for the replay of a trial. kUnavailable where no
  // descriptor is left.
  static Result<DeviceLease> Played(std::string device, LeaseMode mode, double waited_ms);

  void Release();
  bool held() const { return fd_ >= 0; }
  LeaseMode mode() const { return mode_; }
  const std::string& device() const { return device_; }
  double waited_ms() const { return waited_ms_; }

 private:
  friend class DeviceLeases;
  DeviceLeases* owner_ = nullptr;
  int fd_ = -1;
  LeaseMode mode_ = LeaseMode::kShared;
  std::string device_;
  double waited_ms_ = 0;
};

// Thread-safe. One per process and lease directory is enough; more are correct, only less orderly.
class DeviceLeases {
 public:
  // Creates `directory` when missing.
  static Result<std::unique_ptr<DeviceLeases>> Open(const std::filesystem::path& directory);
  virtual ~DeviceLeases();
  DeviceLeases(const DeviceLeases&) = delete;
  DeviceLeases& operator=(const DeviceLeases&) = delete;

  // `device`: 1–100 of letters, digits, '.', '_', '-' (kInvalidArgument otherwise). There is no
  // upgrade from shared to exclusive: release first, or two upgraders wait for each other for ever.
  virtual Result<DeviceLease> Acquire(const std::string& device, const LeaseRequest& request);

  // Whether those who wait for `device` exclusively through this object have gathered: a shared
  // holder that could pause should release and ask again.
  virtual bool ExclusiveIsDue(const std::string& device) const;
  // Whether another process, or another object of this one, waits for `device` now. A shared holder
  // asks this; the answer is a look at the turnstile and may be out of date at once.
  virtual bool IsAwaited(const std::string& device) const;
  // Requests for `device` through this object that are not granted yet.
  size_t NumWaiting(const std::string& device) const;

 protected:
  DeviceLeases();  // of leases that are played

 private:
  friend class DeviceLease;
  struct Impl;
  explicit DeviceLeases(std::unique_ptr<Impl> impl);
  void OnRelease(const std::string& device, LeaseMode mode);
  std::unique_ptr<Impl> impl_;
};

}  // namespace davinci::gpu
