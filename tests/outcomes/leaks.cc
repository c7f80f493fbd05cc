#include "leaks.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace davinci::outcomes {
namespace {

namespace fs = std::filesystem;

struct Seen {
  int pid = 0;
  int parent = 0;
  char state = 'X';
  std::string name;
};

std::vector<Seen> AllProcesses() {
  std::vector<Seen> all;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const int pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    std::ifstream file(entry.path() / "stat");
    std::stringstream text;
    text << file.rdbuf();
    const std::string stat = text.str();
    const size_t open = stat.find('(');
    const size_t close = stat.rfind(')');
    if (open == std::string::npos || close == std::string::npos) continue;
    Seen seen;
    seen.pid = pid;
    seen.name = stat.substr(open + 1, close - open - 1);
    if (std::sscanf(stat.c_str() + close + 1, " %c %d", &seen.state, &seen.parent) == 2)
      all.push_back(seen);
  }
  return all;
}

std::vector<std::string> Below(int root) {
  const std::vector<Seen> all = AllProcesses();
  std::vector<std::string> found;
  std::vector<int> queue = {root};
  while (!queue.empty()) {
    const int parent = queue.back();
    queue.pop_back();
    for (const Seen& seen : all) {
      if (seen.parent != parent) continue;
      if (seen.state != 'Z' && seen.state != 'X')
        found.push_back(fmt::format("{} {}", seen.pid, seen.name));
      queue.push_back(seen.pid);
    }
  }
  return found;
}

}  // namespace

void AdoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<std::string> LiveDescendants() {
  while (waitpid(-1, nullptr, WNOHANG) > 0) {
  }
  return Below(getpid());
}

std::vector<int> DescendantsIn(const std::string& folder_name) {
  std::vector<int> found;
  for (const std::string& process : Below(getpid())) {
    const int pid = std::atoi(process.c_str());
    std::error_code error;
    const fs::path cwd = fs::read_symlink(fmt::format("/proc/{}/cwd", pid), error);
    if (!error && cwd.filename() == folder_name) found.push_back(pid);
  }
  return found;
}

int NumLiveDescendants() { return static_cast<int>(Below(getpid()).size()); }

int NumOpenFiles() { return static_cast<int>(Entries("/proc/self/fd").size()); }

double ResidentMiB() {
  std::ifstream file("/proc/self/statm");
  long long total = 0;
  long long resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::vector<std::string> Entries(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace davinci::outcomes
