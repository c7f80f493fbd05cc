// Executor: the model, its cache, and the three things a device is asked for: compute a piece of a
// prompt, take one step for a batch, draw tokens. Knows no requests and no queue. One thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "davinci/model/engine.h"
#include "davinci/model/torch/transformer.h"

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
};

// One request's step: its latest token goes in, the next comes out.
struct StepRow {
  TokenId token = 0;
  int64_t position = 0;  // of `token`
  int64_t start = 0;
  DrawRow draw;
};

class Executor {
 public:
  struct Options {
    int64_t cache_tokens = 0;
    int max_batch = 0;
    int64_t max_context = 0;
    bool deterministic = false;
    bool own_kernels = true;
    // Called between layers of what is computed on the CPU.
    std::function<void()> between_layers;
  };
  virtual ~Executor() = default;

  // Logits after each chunk whose `last` is set, [their number, vocabulary].
  virtual at::Tensor Prefill(std::span<const Chunk> chunks) = 0;
  // Draws a token for each row of `logits`.
  virtual void Draw(const at::Tensor& logits, std::span<const DrawRow> rows,
                    std::vector<Step>* steps) = 0;
  // At most max_batch rows.
  virtual void Decode(std::span<const StepRow> rows, std::vector<Step>* steps) = 0;
  // Copies what was computed for `count` positions.
  virtual void CopyCache(int64_t from, int64_t to, int64_t count) = 0;
  // Waits for the device.
  virtual void Synchronize() = 0;
  // Makes what would make the first steps slow; calls `pause` between its parts, with the device
  // idle.
  virtual void WarmUp(const std::function<void()>& pause) = 0;
  virtual int64_t cache_bytes() const = 0;
  virtual std::string kernels() const { return "davinci"; }  // see EngineFacts
};

std::unique_ptr<Executor> MakeCpuExecutor(const Transformer* model, Executor::Options options);
// kFailedPrecondition where this library was built without CUDA.
Result<std::unique_ptr<Executor>> MakeCudaExecutor(const Transformer* model,
                                                   Executor::Options options);

}  // namespace davinci::model
