#include "davinci/model/prompt_plan.h"

#include <algorithm>

namespace davinci::model {
namespace {

// Whether `request` had better wait: another one is computing more of its prompt than there is.
bool SharesWithRunning(const Request& request, const std::vector<Request*>& running,
                       int64_t available, bool deterministic) {
  const std::vector<TokenId>& prompt = request.generation.prompt;
  for (const Request* other : running) {
    if (other == &request || !other->begun || other->decoding) continue;
    const std::vector<TokenId>& ahead = other->generation.prompt;
    const size_t most = std::min(prompt.size() - 1, ahead.size());
    const auto end = prompt.begin() + static_cast<int64_t>(most);
    const int64_t common = std::mismatch(prompt.begin(), end, ahead.begin()).first - prompt.begin();
    if (Shareable(common, other->prompt_size(), deterministic) >= available + kChunk) return true;
  }
  return false;
}

}  // namespace

int64_t Shareable(int64_t computed, int64_t prompt_size, bool deterministic) {
  return deterministic ? std::min(computed, prompt_size) / kChunk * kChunk : computed;
}

PromptPass PlanPrompts(const std::vector<Request*>& running, SegmentPool* pool,
                       const PromptLimits& limits,
                       const std::function<void(Request*, const SegmentPool::Match&)>& begin) {
  PromptPass pass;
  const bool alone = limits.deterministic && !limits.rows_are_independent;
  int64_t room = alone ? kChunk : limits.tokens;
  for (Request* request : running) {
    if (request->decoding || room <= 0) continue;
    const std::vector<TokenId>& prompt = request->generation.prompt;
    if (!request->begun) {
      const SegmentPool::Match match = pool->LongestPrefix(prompt, request->prompt_size() - 1);
      if (SharesWithRunning(*request, running, match.length, limits.deterministic)) continue;
      begin(request, match);
    }
    for (int64_t at = request->num_computed; at < request->prompt_size() && room > 0;) {
      const int64_t left = request->prompt_size() - at;
      const int64_t count = std::min(left, limits.deterministic ? kChunk : room);
      pass.chunks.push_back(
          {std::span(prompt).subspan(static_cast<size_t>(at), static_cast<size_t>(count)), at,
           request->segment->start, count == left});
      pass.requests.push_back(request);
      at += count;
      room -= count;
    }
    if (alone) break;
  }
  return pass;
}

}  // namespace davinci::model
