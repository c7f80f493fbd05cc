// Monotonic time. All durations inside the project are double seconds or int64 nanoseconds, named
// so.
#pragma once

#include <cstdint>
#include <ctime>

#include "davinci/base/outside.h"

namespace davinci {

// CLOCK_MONOTONIC in nanoseconds; the judge's clock of record.
inline int64_t MonotonicNs() {
  if (internal::thread_outside != nullptr) [[unlikely]]
    return internal::thread_outside->MonotonicNs();
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec;
}

inline double MonotonicSeconds() { return 1e-9 * static_cast<double>(MonotonicNs()); }

// Measures from construction.
class Stopwatch {
 public:
  double Seconds() const { return 1e-9 * static_cast<double>(MonotonicNs() - start_ns_); }
  void Restart() { start_ns_ = MonotonicNs(); }

 private:
  int64_t start_ns_ = MonotonicNs();
};

// Adds the seconds of its life to a sum.
class Spent {
 public:
  explicit Spent(double* sum) : sum_(sum) {}
  Spent(const Spent&) = delete;
  ~Spent() { *sum_ += watch_.Seconds(); }

 private:
  double* sum_;
  Stopwatch watch_;
};

// Of the wall clock, for provenance; never used for measuring.
inline double NowUnixSeconds() {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return static_cast<double>(ts.tv_sec) + 1e-9 * static_cast<double>(ts.tv_nsec);
}

// "2026-03-01T12:00:00Z" for provenance; never used for measuring.
class WallTime {
 public:
  static void FormatUtc(char (&buffer)[32]) {
    std::time_t now = std::time(nullptr);
    std::tm tm{};
    gmtime_r(&now, &tm);
    std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &tm);
  }
};

}  // namespace davinci
