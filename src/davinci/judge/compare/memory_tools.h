// Memory, not numbers: has it changed, and is it out of the caches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace davinci::judge {

// Order-sensitive keyed 64-bit checksum of `num_bytes` at `data` (any alignment), for noticing that
// somebody who does not know `key` changed an input. The same on every machine of the same byte
// order and for every number of threads.
uint64_t KeyedChecksum(const void* data, size_t num_bytes, uint64_t key, int num_threads = 1);

// Writes back and evicts every cache line that holds part of [data, data + num_bytes) from all
// cache levels, and waits. False when this processor cannot do it from user space; nothing happened
// then, evict by other means.
bool FlushCacheLines(const void* data, size_t num_bytes);

// "clflushopt", "clflush", "dc civac" or "none".
const char* FlushInstructionName();

}  // namespace davinci::judge
