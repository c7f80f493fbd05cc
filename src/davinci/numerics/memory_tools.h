// Memory, not numbers: copied, has it changed, and is it out of the caches. Threads of these are
// gone when a call returns: none is left looking for work on a core that a timed call needs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace davinci::numerics {

// Order-sensitive keyed 64-bit checksum of `num_bytes` at `data` (any alignment), for noticing
// changes of an input made without `key`. The same on every machine of the same byte
// order and for every number of threads.
uint64_t KeyedChecksum(const void* data, size_t num_bytes, uint64_t key, int num_threads = 1);

void CopyBytes(void* target, const void* source, size_t num_bytes, int num_threads);
bool SameBytes(const void* left, const void* right, size_t num_bytes, int num_threads);

// Writes back and evicts every cache line that holds part of [data, data + num_bytes) from all
// cache levels, and waits. False when this processor cannot do it from user space; nothing happened
// then, evict by other means.
bool FlushCacheLines(const void* data, size_t num_bytes);

// "clflushopt", "clflush", "dc civac" or "none".
const char* FlushInstructionName();

}  // namespace davinci::numerics
