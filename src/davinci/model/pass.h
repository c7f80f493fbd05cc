// What the engine asks an executor to compute: pieces of prompts and steps of answers. No torch.
#pragma once

#include <cstdint>
#include <span>

#include "davinci/model/engine.h"

namespace davinci::model {

// A piece of one request's prompt.
struct Chunk {
  std::span<const TokenId> tokens;
  int64_t position = 0;  // of the first of them
  int64_t start = 0;     // of the request's stretch of the cache
  bool last = false;     // the answer's first token is drawn from what follows
};

// How one token of one request is drawn.
struct DrawRow {
  const Sampling* sampling = nullptr;
  int64_t position = 0;  // of the token that is drawn
  int num_alternatives = 0;
  std::span<const uint64_t> allowed = {};  // TokenFilter::Allowed(); empty: all tokens
};

// One request's step: its latest token goes in, the next comes out.
struct StepRow {
  TokenId token = 0;
  int source = -1;       // row of the step launched before whose token goes in; -1: `token`
  int64_t position = 0;  // of the token that goes in
  int64_t start = 0;
  DrawRow draw;
};

// What a device reads of a step, one value per row.
struct StepColumns {
  int64_t* tokens = nullptr;
  int64_t* sources = nullptr;    // StepRow::source
  int64_t* positions = nullptr;  // StepRow::position
  int64_t* at = nullptr;         // where the row's key and value go in the cache
  int32_t* starts = nullptr;     // of the row's stretch of the cache
  int32_t* lengths = nullptr;    // cache positions that the row sees; `at` is the last of them
};

// Fills `count` rows, at least as many as `rows`. Those behind `rows` have no request: they write
// the cache's position `spare` and see that alone.
void FillStep(std::span<const StepRow> rows, int64_t count, int64_t spare,
              const StepColumns& columns);

}  // namespace davinci::model
