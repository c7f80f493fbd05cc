// Outside: where a thread's clock readings, secret seeds and temporary folders come from. The seam
// that lets a trial of the judge be recorded and replayed (judge/transcript.h); threads that set
// nothing ask the system.
#pragma once

#include <cstdint>
#include <filesystem>

namespace davinci {

class Outside {
 public:
  Outside() = default;
  virtual ~Outside() = default;
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;

  virtual int64_t MonotonicNs() = 0;
  virtual uint64_t SecretSeed() = 0;
  // A temporary folder was made.
  virtual void MadeFolder(const std::filesystem::path& folder) = 0;
};

namespace internal {
inline constinit thread_local Outside* thread_outside = nullptr;
}

// While it lives, the calling thread asks `outside`; null: the system.
class WithOutside {
 public:
  explicit WithOutside(Outside* outside) : before_(internal::thread_outside) {
    internal::thread_outside = outside;
  }
  WithOutside(const WithOutside&) = delete;
  WithOutside& operator=(const WithOutside&) = delete;
  ~WithOutside() { internal::thread_outside = before_; }

 private:
  Outside* before_;
};

}  // namespace davinci
