// What makes times on this host noisy: load, steal, SMT, frequency scaling, CPU quotas. Read from
// /proc and /sys only.
#pragma once

#include <filesystem>
#include <vector>

#include "doctor_report.h"

namespace davinci::app {

struct HostOptions {
  std::filesystem::path root = "/";  // a tree with proc/ and sys/; another one for tests
  int cpus = 1;                      // that this process may use
  double steal_window_seconds = 0.2;
};

// A file that is missing (containers, other kernels) leaves its line out; nothing here fails.
std::vector<Check> HostChecks(const HostOptions& options);

}  // namespace davinci::app
