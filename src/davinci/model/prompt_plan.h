// Which pieces of which prompts the next pass computes. No torch, no device: the engine's thread
// only.
//
// Prompts are cut at multiples of kChunk. Where passes are deterministic a chunk is the same
// whatever else is in the pass; where its rows depend on the number of rows in the pass, too, a
// pass is one chunk.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "davinci/model/pass.h"
#include "davinci/model/request.h"
#include "davinci/model/segment_pool.h"

namespace davinci::model {

inline constexpr int64_t kChunk = 64;

struct PromptLimits {
  bool deterministic = false;
  bool rows_are_independent = false;  // Executor::rows_are_independent()
  int64_t tokens = kChunk;            // of one pass, about
};

// Of `computed` positions, those that are bit by bit what another request would compute.
int64_t Shareable(int64_t computed, int64_t prompt_size, bool deterministic);

struct PromptPass {
  std::vector<Request*> requests;  // one for each chunk
  std::vector<Chunk> chunks;
};

// `begin`: called for a request whose first piece is in the pass, with the longest prefix that the
// pool has of its prompt; sets its `num_computed`. A request waits while another computes a longer
// prefix of its prompt than the pool has.
PromptPass PlanPrompts(const std::vector<Request*>& running, SegmentPool* pool,
                       const PromptLimits& limits,
                       const std::function<void(Request*, const SegmentPool::Match&)>& begin);

}  // namespace davinci::model
