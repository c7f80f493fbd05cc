#include "davinci/sandbox/rlimits.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "davinci/sandbox/file_text.h"

namespace davinci::sandbox {
namespace {

Status Lower(__rlimit_resource resource, const char* name, uint64_t soft, uint64_t hard) {
  rlimit now;
  if (getrlimit(resource, &now) != 0) return FromErrno(errno, name);
  rlimit wanted;
  wanted.rlim_max = std::min<rlim_t>(now.rlim_max, hard);
  wanted.rlim_cur = std::min<rlim_t>(wanted.rlim_max, soft);
  if (setrlimit(resource, &wanted) != 0) return FromErrno(errno, name);
  return Status::Ok();
}

// Threads of this user that are visible, this process included.
uint64_t CountTasksOfThisUser() {
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return 0;
  uint64_t count = 0;
  while (const dirent* entry = readdir(proc)) {  // NOLINT(concurrency-mt-unsafe): own DIR
    if (strtol(entry->d_name, nullptr, 10) <= 0) continue;
    const std::string directory = std::string("/proc/") + entry->d_name;
    struct stat info;
    if (stat(directory.c_str(), &info) != 0 || info.st_uid != geteuid()) continue;
    int threads = 1;
    FindNumber(ReadSmallFile(directory + "/status"), "\nThreads:", &threads);
    count += static_cast<uint64_t>(threads);
  }
  closedir(proc);
  return count;
}

}  // namespace

Status ApplyRlimits(const Limits& limits, bool processes_per_user_namespace) {
  DAVINCI_RETURN_IF_ERROR(Lower(RLIMIT_CORE, "RLIMIT_CORE", 0, 0));
  const auto apply = [](uint64_t value, __rlimit_resource resource, const char* name) {
    return value == 0 ? Status::Ok() : Lower(resource, name, value, value);
  };
  DAVINCI_RETURN_IF_ERROR(apply(limits.address_space_bytes, RLIMIT_AS, "RLIMIT_AS"));
  DAVINCI_RETURN_IF_ERROR(apply(limits.file_size_bytes, RLIMIT_FSIZE, "RLIMIT_FSIZE"));
  DAVINCI_RETURN_IF_ERROR(apply(limits.open_files, RLIMIT_NOFILE, "RLIMIT_NOFILE"));
  DAVINCI_RETURN_IF_ERROR(apply(limits.stack_bytes, RLIMIT_STACK, "RLIMIT_STACK"));
  DAVINCI_RETURN_IF_ERROR(apply(limits.locked_memory_bytes, RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK"));
  if (limits.cpu_seconds != 0) {
    DAVINCI_RETURN_IF_ERROR(
        Lower(RLIMIT_CPU, "RLIMIT_CPU", limits.cpu_seconds, limits.cpu_seconds + 1));
  }
  if (limits.processes != 0) {
    const uint64_t others = processes_per_user_namespace ? 0 : CountTasksOfThisUser();
    DAVINCI_RETURN_IF_ERROR(apply(limits.processes + others, RLIMIT_NPROC, "RLIMIT_NPROC"));
  }
  return Status::Ok();
}

}  // namespace davinci::sandbox
