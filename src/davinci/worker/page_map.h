// What the kernel tells about the pages behind a process's addresses.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <utility>

namespace davinci::worker {

// Pages of the ranges [address, address + bytes) of private memory that hold nothing the process
// wrote: that do not exist yet, or are the page of zeros, small or huge, which all share who have
// only read. 0 where the system does not tell.
int64_t NumUnwrittenPages(pid_t pid, std::span<const std::pair<uint64_t, uint64_t>> ranges);

}  // namespace davinci::worker
