// A call of Engine::Generate(), as the engine works on it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>

#include "davinci/model/engine.h"
#include "davinci/model/pass.h"
#include "davinci/model/segment_pool.h"

namespace davinci::model {

// The engine's thread owns it from its submission to `done`.
struct Request {
  Generation generation;
  Answer answer;
  Status status;
  std::chrono::steady_clock::time_point submitted = std::chrono::steady_clock::now();
  bool done = false;  // guarded by the engine's mutex
  // Of its own: an end that woke all who wait would cost a full batch the square of its size.
  std::condition_variable_any ended;

  SegmentPool::Segment* segment = nullptr;
  bool begun = false;        // the prompt
  int64_t num_computed = 0;  // of the prompt
  int64_t max_tokens = 0;    // of the answer
  bool decoding = false;
  TokenId latest = 0;
  int flight_row = -1;  // of the step under way that draws its next token; -1: none

  int64_t prompt_size() const { return static_cast<int64_t>(generation.prompt.size()); }
  int64_t num_tokens() const { return static_cast<int64_t>(answer.tokens.size()); }
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - submitted).count();
  }
  // Of the token that follows `ahead` tokens which are not known yet; none are with a filter.
  DrawRow NextDraw(int64_t ahead = 0) const {
    DrawRow row{&generation.sampling, prompt_size() + num_tokens() + ahead,
                generation.num_alternatives};
    if (generation.filter != nullptr)
      row.allowed = generation.filter->Allowed(max_tokens - num_tokens());
    return row;
  }
};

}  // namespace davinci::model
