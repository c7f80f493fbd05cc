// Executor: the model, its cache, and the three things a device is asked for: compute a piece of a
// prompt, take one step for a batch, draw tokens. Knows no requests and no queue. One thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "davinci/model/engine.h"
#include "davinci/model/pacer.h"
#include "davinci/model/pass.h"
#include "davinci/model/torch/weights.h"

namespace davinci::model {

class Executor {
 public:
  struct Options {
    int64_t cache_tokens = 0;
    int max_batch = 0;
    int64_t max_context = 0;
    bool deterministic = false;
    OwnKernels own_kernels = OwnKernels::kOverlapped;
    int most_projected_rows = 0;  // see EngineOptions
    Pacer* pacer = nullptr;       // outlives the executor; the CPU's passes give way by it
  };
  virtual ~Executor() = default;

  // Logits after each chunk whose `last` is set, [their number, vocabulary].
  virtual at::Tensor Prefill(std::span<const Chunk> chunks) = 0;
  // Draws a token for each row of `logits`.
  virtual void Draw(const at::Tensor& logits, std::span<const DrawRow> rows,
                    std::vector<Step>* steps) = 0;
  // Starts a step of at most max_batch rows. At most two are under way.
  virtual void Launch(std::span<const StepRow> rows) = 0;
  // Waits for the oldest step under way. Its rows' samplings must still be there.
  virtual void Collect(std::vector<Step>* steps) = 0;
  // Whether Launch() returns before the step is done, so that a second one is worth launching
  // ahead.
  virtual bool overlaps() const { return false; }
  // Whether a row of Prefill() has the same bits whatever else is in the pass, given its chunk.
  virtual bool rows_are_independent() const { return false; }
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

// Packs the weights where that pays (PackWeights).
std::unique_ptr<Executor> MakeCpuExecutor(Weights* weights, Executor::Options options);
// Folds the norms into the weights where its kernels use that (FoldNorms).
// kFailedPrecondition where this library was built without CUDA.
Result<std::unique_ptr<Executor>> MakeCudaExecutor(Weights* weights, Executor::Options options);
// Gives what LibTorch keeps for its next tensors back to the devices, for other processes.
void ReturnCudaMemory();

}  // namespace davinci::model
