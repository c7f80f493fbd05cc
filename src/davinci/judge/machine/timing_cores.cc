#include "davinci/judge/machine/timing_cores.h"

#include <unistd.h>

#include <fstream>
#include <mutex>
#include <string>

namespace davinci::judge {
namespace {

// The part of all hardware threads that may be taken.
constexpr size_t kOneOf = 3;
constexpr size_t kThreadsBesideRunners = 2;

void Bind(pid_t thread, std::span<const int> cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) CPU_SET(core, &set);
  (void)sched_setaffinity(thread, sizeof set, &set);  // it has ended, or the system refuses
}

void BindProcess(pid_t pid, std::span<const int> main_thread, std::span<const int> others) {
  for (const pid_t thread : worker::Threads(pid))
    Bind(thread, thread == pid ? main_thread : others);
}

// "0-1,4" in /sys.
std::vector<int> Listed(const std::string& text) {
  std::vector<int> found;
  for (size_t at = 0; at < text.size();) {
    size_t end = 0;
    const int first = std::stoi(text.substr(at), &end);
    int last = first;
    at += end;
    if (at < text.size() && text[at] == '-') {
      last = std::stoi(text.substr(at + 1), &end);
      at += end + 1;
    }
    for (int core = first; core <= last; ++core) found.push_back(core);
    ++at;
  }
  return found;
}

bool IsVirtualMachine() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("flags")) return line.find(" hypervisor") != std::string::npos;
  return false;
}

}  // namespace

std::optional<TimingPlan> PlanTimingCores(std::span<const std::vector<int>> cores,
                                          int num_devices) {
  TimingPlan plan;
  size_t all = 0;
  for (const std::vector<int>& core : cores) all += core.size();
  size_t left = cores.size();
  size_t taken = 0;
  for (int device = 0; device < num_devices; ++device) {
    TimingPlace place;
    std::vector<int> beside;
    if (left > 0) place.runner = cores[--left];
    while (left > 0 && beside.size() < kThreadsBesideRunners) {
      --left;
      beside.insert(beside.end(), cores[left].begin(), cores[left].end());
    }
    taken += place.runner.size() + beside.size();
    if (beside.size() < kThreadsBesideRunners || taken * kOneOf > all) return std::nullopt;
    place.oracle = beside[0];
    place.supervisor = beside[1];
    plan.places.push_back(std::move(place));
  }
  for (const std::vector<int>& core : cores.first(left))
    plan.others.insert(plan.others.end(), core.begin(), core.end());
  return plan;
}

std::vector<std::vector<int>> PairNeighbours(std::vector<std::vector<int>> cores) {
  std::vector<std::vector<int>> pairs;
  for (std::vector<int>& core : cores) {
    if (core.size() != 1) return cores;
    if (pairs.empty() || pairs.back().size() == 2)
      pairs.push_back(core);
    else
      pairs.back().push_back(core.front());
  }
  return pairs;
}

std::vector<std::vector<int>> HostCores() {
  std::vector<std::vector<int>> cores;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int thread = 0; thread < CPU_SETSIZE; ++thread) {
    if (!CPU_ISSET(thread, &allowed)) continue;
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(thread) +
                       "/topology/thread_siblings_list");
    std::string text;
    std::vector<int> threads;
    if (std::getline(file, text))
      for (const int sibling : Listed(text))
        if (sibling < CPU_SETSIZE && CPU_ISSET(sibling, &allowed)) threads.push_back(sibling);
    if (threads.empty()) threads = {thread};
    for (const int sibling : threads) CPU_CLR(sibling, &allowed);
    cores.push_back(std::move(threads));
  }
  return IsVirtualMachine() ? PairNeighbours(std::move(cores)) : cores;
}

TimingCores::TimingCores(int device, int num_devices) : device_(device) {
  static const std::vector<std::vector<int>> cores = HostCores();
  if (device < num_devices) plan_ = PlanTimingCores(cores, num_devices);
}

void TimingCores::KeepOff() const {
  static std::once_flag kept_off;
  if (!plan_) return;
  std::call_once(kept_off, [&] {
    // Twice: what is started meanwhile has the cores of who starts it.
    for (int i = 0; i < 2; ++i) {
      BindProcess(getpid(), plan_->others, plan_->others);
      for (const pid_t pid : worker::Descendants(getpid()))
        BindProcess(pid, plan_->others, plan_->others);
    }
  });
}

TimingCores::Taken::Taken(const TimingCores& cores, std::span<worker::Process* const> runners,
                          worker::Process* oracle)
    : cores_(cores) {
  if (!cores_.exist()) return;
  const TimingPlace& place = cores_.place();
  for (worker::Process* runner : runners)
    BindProcess(runner->pid(), {{place.runner.front()}}, place.runner);
  roles_.assign(runners.begin(), runners.end());
  roles_.push_back(oracle);
  Bind(oracle->pid(), {{place.oracle}});
  (void)sched_getaffinity(0, sizeof before_, &before_);
  Bind(0, {{place.supervisor}});
}

TimingCores::Taken::~Taken() {
  if (!cores_.exist()) return;
  const std::vector<int>& others = cores_.plan_.value().others;
  for (worker::Process* role : roles_) BindProcess(role->pid(), others, others);
  (void)sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace davinci::judge
