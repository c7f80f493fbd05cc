#include "davinci/worker/page_map.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "davinci/base/unique_fd.h"

namespace davinci::worker {
namespace {

// A bit of an entry of /proc/PID/pagemap (Documentation/admin-guide/mm/pagemap.rst).
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kSwapped = uint64_t{1} << 62;
constexpr uint64_t kFileOrShared = uint64_t{1} << 61;  // newer kernels: the huge page of zeros too
constexpr uint64_t kExclusive = uint64_t{1} << 56;
constexpr size_t kEntriesAtOnce = size_t{1} << 14;

bool IsWritten(uint64_t entry) {
  if ((entry & kSwapped) != 0) return true;
  return (entry & kPresent) != 0 && (entry & kExclusive) != 0 && (entry & kFileOrShared) == 0;
}

int64_t Count(pid_t pid, std::span<const std::pair<uint64_t, uint64_t>> ranges) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const UniqueFd pagemap(open(fmt::format("/proc/{}/pagemap", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!pagemap.valid()) return 0;
  int64_t unwritten = 0;
  std::vector<uint64_t> entries(kEntriesAtOnce);
  for (const auto& [address, bytes] : ranges) {
    const uint64_t end = (address + bytes + page - 1) / page;
    for (uint64_t at = address / page; at < end;) {
      const size_t wanted = std::min<uint64_t>(entries.size(), end - at);
      const ssize_t got = pread(pagemap.get(), entries.data(), wanted * sizeof(uint64_t),
                                static_cast<off_t>(at * sizeof(uint64_t)));
      if (got <= 0) break;
      const size_t count = static_cast<size_t>(got) / sizeof(uint64_t);
      unwritten += static_cast<int64_t>(count) -
                   std::count_if(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(count),
                                 IsWritten);
      at += count;
    }
  }
  return unwritten;
}

// A page just written to must look written; on a system where it does not, none can be identified.
bool SystemTells() {
  std::vector<char> bytes(static_cast<size_t>(3 * sysconf(_SC_PAGESIZE)), 1);
  const std::pair<uint64_t, uint64_t> range = {reinterpret_cast<uint64_t>(bytes.data()),
                                               bytes.size()};
  return Count(getpid(), std::span(&range, 1)) == 0;
}

}  // namespace

int64_t NumUnwrittenPages(pid_t pid, std::span<const std::pair<uint64_t, uint64_t>> ranges) {
  static const bool tells = SystemTells();
  return tells ? Count(pid, ranges) : 0;
}

}  // namespace davinci::worker
