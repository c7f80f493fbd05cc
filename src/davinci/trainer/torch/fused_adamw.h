// The update of all slots in two passes over memory by kernels of our own (kernels/train.cu): the
// sum of squares of the gradients, then clipping, AdamW and the rounded weights. CUDA.
#pragma once

#include <span>
#include <vector>

#include "davinci/model/torch/train_ops.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/torch/slot.h"

namespace davinci::trainer {

class FusedAdamW {
 public:
  // `ops` must outlive this.
  FusedAdamW(const model::TrainOps* ops, const AdamOptions& options)
      : ops_(*ops), options_(options) {}

  // Returns the sum of squares of the gradients of `slots`, fp64 [1] on the device. All slots have
  // gradients, fp32 or bf16; those of Muon come last.
  Result<at::Tensor> Squares(std::span<Slot* const> slots);
  // Updates the slots of the last Squares() but Muon's. `squares`: of all ranks together; where it
  // is not finite nothing changes, which the caller learns from its value.
  Status Update(const at::Tensor& squares, double learning_rate, int64_t step);

 private:
  const model::TrainOps& ops_;
  const AdamOptions options_;
  std::vector<int64_t> counts_;  // of the slots that blocks_ is for
  at::Tensor blocks_;            // int32 [blocks, 2]
  int64_t updated_ = 0;          // blocks of slots that Update() moves: the first
  at::Tensor table_;             // int64 [slots, kSlotWords]
};

}  // namespace davinci::trainer
