#include "doctor_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "davinci/base/files.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSection = "timing noise";
constexpr double kBusyShare = 0.3;    // load per CPU above which other work disturbs a measurement
constexpr double kStealShare = 0.02;  // of CPU time that the hypervisor gave to others

// First line without the line break; nothing when the file is not there. (Files of /proc have no
// size, which ReadFile handles: it reads to the end.)
std::optional<std::string> FirstLine(const fs::path& path) {
  auto text = ReadFile(path, 1 << 20);
  if (!text.ok()) return std::nullopt;
  return text->substr(0, text->find('\n'));
}

struct CpuTicks {
  double total = 0;
  double steal = 0;
};

std::optional<CpuTicks> ReadTicks(const fs::path& root) {
  const auto line = FirstLine(root / "proc/stat");
  if (!line) return std::nullopt;
  std::istringstream in(*line);
  std::string name;
  in >> name;
  CpuTicks ticks;
  double value = 0;
  for (int field = 0; field < 8 && in >> value;
       ++field) {  // user nice system idle iowait irq softirq steal
    ticks.total += value;
    if (field == 7) ticks.steal = value;
  }
  return name == "cpu" ? std::optional(ticks) : std::nullopt;
}

void AddLoad(const HostOptions& options, std::vector<Check>* checks) {
  const auto line = FirstLine(options.root / "proc/loadavg");
  if (!line) return;
  const double load = std::strtod(line->c_str(), nullptr);
  Check check{kSection,
              "load",
              CheckState::kOk,
              fmt::format("{:.2f} in the last minute on {} CPU{}", load, options.cpus,
                          options.cpus == 1 ? "" : "s"),
              "",
              false,
              false,
              {{"load_1min", load}, {"cpus", options.cpus}}};
  if (load > kBusyShare * options.cpus) {
    check.state = CheckState::kWarn;
    check.remedy =
        "other work widens the intervals of the cpu target; stop it (top shows it) or expect more "
        "pairs";
  }
  checks->push_back(std::move(check));
}

void AddSteal(const HostOptions& options, std::vector<Check>* checks) {
  const auto before = ReadTicks(options.root);
  if (!before) return;
  std::this_thread::sleep_for(std::chrono::duration<double>(options.steal_window_seconds));
  auto after = ReadTicks(options.root);
  if (!after) return;
  // Too short a look says nothing; then the share since boot has to do.
  double total = after->total - before->total;
  double steal = after->steal - before->steal;
  const bool since_boot = total < 10;
  if (since_boot) {
    total = after->total;
    steal = after->steal;
  }
  const double share = total > 0 ? steal / total : 0;
  Check check{kSection,
              "steal",
              CheckState::kOk,
              fmt::format("{:.1f} % of CPU time goes to other virtual machines{}", 100 * share,
                          since_boot ? " (since boot)" : ""),
              "",
              false,
              false,
              {{"share", share}}};
  if (share > kStealShare) {
    check.state = CheckState::kWarn;
    check.remedy = "the host is shared; use dedicated cores for numbers of record";
  }
  checks->push_back(std::move(check));
}

void AddQuota(const HostOptions& options, std::vector<Check>* checks) {
  std::optional<double> cpus;
  if (const auto v2 = FirstLine(options.root / "sys/fs/cgroup/cpu.max")) {
    double quota = 0, period = 0;
    if (std::sscanf(v2->c_str(), "%lf %lf", &quota, &period) == 2 && period > 0)
      cpus = quota / period;
  } else if (const auto v1 = FirstLine(options.root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us")) {
    const double quota = std::strtod(v1->c_str(), nullptr);
    const auto period = FirstLine(options.root / "sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (quota > 0 && period) cpus = quota / std::max(1.0, std::strtod(period->c_str(), nullptr));
  }
  if (!cpus) return;
  Check check{kSection, "CPU quota", CheckState::kOk, fmt::format("{:.2f} CPUs", *cpus),
              "",       false,       false,           {{"cpus", *cpus}}};
  if (*cpus < options.cpus) {
    check.state = CheckState::kWarn;
    check.value +=
        fmt::format(" of {}: threads are paused when the quota is used up", options.cpus);
    check.remedy = fmt::format("pass --threads {} to judge, or lift the container's CPU limit",
                               std::max(1, static_cast<int>(*cpus)));
  }
  checks->push_back(std::move(check));
}

void AddSmt(const HostOptions& options, std::vector<Check>* checks) {
  const auto active = FirstLine(options.root / "sys/devices/system/cpu/smt/active");
  if (!active) return;
  const bool on = *active == "1";
  checks->push_back(
      {kSection,
       "SMT",
       on ? CheckState::kWarn : CheckState::kOk,
       on ? "on: two threads share a core" : "off",
       on ? "for numbers of record: echo off | sudo tee /sys/devices/system/cpu/smt/control" : "",
       false,
       false,
       {{"active", on}}});
}

void AddGovernor(const HostOptions& options, std::vector<Check>* checks) {
  std::set<std::string> governors;
  std::error_code error;
  for (const auto& cpu : fs::directory_iterator(options.root / "sys/devices/system/cpu", error))
    if (const auto governor = FirstLine(cpu.path() / "cpufreq/scaling_governor"))
      governors.insert(*governor);
  if (governors.empty()) {
    checks->push_back({kSection,
                       "CPU frequency",
                       CheckState::kOk,
                       "not controlled from here (virtual machine or container)",
                       "",
                       false,
                       false,
                       {{"governors", governors}}});
    return;
  }
  const bool steady = governors == std::set<std::string>{"performance"};
  checks->push_back({kSection,
                     "CPU frequency",
                     steady ? CheckState::kOk : CheckState::kWarn,
                     fmt::format("governor {}", fmt::join(governors, ", ")),
                     steady ? "" : "sudo cpupower frequency-set --governor performance",
                     false,
                     false,
                     {{"governors", governors}}});
}

void AddHugePages(const HostOptions& options, std::vector<Check>* checks) {
  const auto line = FirstLine(options.root / "sys/kernel/mm/transparent_hugepage/enabled");
  if (!line) return;
  const size_t open = line->find('['), close = line->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return;
  const std::string mode = line->substr(open + 1, close - open - 1);
  const bool off = mode == "never";
  checks->push_back({kSection,
                     "huge pages",
                     off ? CheckState::kWarn : CheckState::kOk,
                     "transparent: " + mode,
                     off ? "large inputs fault in 4 KiB pages; echo madvise | sudo tee "
                           "/sys/kernel/mm/transparent_hugepage/enabled"
                         : "",
                     false,
                     false,
                     {{"transparent", mode}}});
}

void AddClockSource(const HostOptions& options, std::vector<Check>* checks) {
  const auto source =
      FirstLine(options.root / "sys/devices/system/clocksource/clocksource0/current_clocksource");
  if (!source) return;
  // A clock that the kernel answers without a system call; the others cost a microsecond and more
  // per look.
  const bool fast = *source == "tsc" || *source == "kvm-clock" || *source == "arch_sys_counter" ||
                    source->starts_with("hyperv");
  checks->push_back({kSection,
                     "clock source",
                     fast ? CheckState::kOk : CheckState::kWarn,
                     *source,
                     fast ? ""
                          : "reading the clock is slow; boot with clocksource=tsc tsc=reliable if "
                            "the CPU allows it",
                     false,
                     false,
                     {{"source", *source}}});
}

void AddMemory(const HostOptions& options, std::vector<Check>* checks) {
  auto text = ReadFile(options.root / "proc/meminfo", 1 << 20);
  if (!text.ok()) return;
  const size_t at = text->find("MemAvailable:");
  if (at == std::string::npos) return;
  const double bytes = 1024 * std::strtod(text->c_str() + at + 13, nullptr);
  Check check{
      kSection, "memory", CheckState::kOk, fmt::format("{:.1f} GiB available", bytes / kGiB),
      "",       false,    false,           {{"available_bytes", static_cast<int64_t>(bytes)}}};
  if (bytes < 2 * kGiB) {
    check.state = CheckState::kWarn;
    check.remedy =
        "three PyTorch processes with the inputs of a task need about 2 GiB; free some memory";
  }
  checks->push_back(std::move(check));
}

}  // namespace

std::vector<Check> HostChecks(const HostOptions& options) {
  std::vector<Check> checks;
  AddLoad(options, &checks);
  AddSteal(options, &checks);
  AddQuota(options, &checks);
  AddSmt(options, &checks);
  AddGovernor(options, &checks);
  AddHugePages(options, &checks);
  AddClockSource(options, &checks);
  AddMemory(options, &checks);
  return checks;
}

}  // namespace davinci::app
