// AdamW over slots, its state sharded over the ranks (ZeRO stage 1), or state and gradients (stage
// 2).
//
// The elements of a tensor, in memory order, are divided into as many equal shares as there are
// ranks; the last ones are shorter. A rank holds masters and moments of its share alone. An update:
// gradients are summed over the ranks, each getting its share (reduce-scatter); the norm of all
// shares together decides about clipping, and about skipping on every rank alike; each rank updates
// its share; the shares of the weights are gathered. With one rank a share is the whole tensor and
// nothing is sent.
//
// Stage 1 sums gradients over the ranks in Step(). Stage 2 does it in Reduce(), which a pass calls
// for each layer's slots as soon as they have their gradients: from then on a rank holds its share
// of them alone.
//
// With several ranks Step(), Reduce() and Whole() are collective: every rank calls them for the
// same slots in the same order.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "davinci/comm/communicator.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/torch/fused_adamw.h"
#include "davinci/trainer/torch/slot.h"

namespace davinci::trainer {

class Optimizer {
 public:
  // `ranks`: nullptr for one rank; must outlive this.
  Optimizer(const AdamOptions& options, comm::Communicator* ranks, int zero_stage)
      : options_(options), ranks_(ranks), shards_gradients_(ranks != nullptr && zero_stage == 2) {}
  // Updates by kernels of our own from now on. `ops` must outlive this.
  void UseKernels(const model::TrainOps* ops) {
    fused_ = std::make_unique<FusedAdamW>(ops, options_);
  }
  // Whether a slot's gradient may stay bf16 where one product made it.
  bool takes_half_gradients() const { return fused_ != nullptr; }

  // Makes the slot's masters from its weights.
  void Adopt(Slot* slot) const;
  // Stage 2: the slots' gradients become this rank's shares of their sums over the ranks, added to
  // those of passes before; ranks without gradients have zeros. Otherwise does nothing.
  Status Reduce(std::span<Slot* const> slots);
  bool shards_gradients() const { return shards_gradients_; }
  // Clips, updates, forgets the gradients.
  Result<Update> Step(std::vector<Slot>& slots, double learning_rate);

  // All elements in fp32, of the weights' shape. Gradients are summed over the ranks.
  Result<at::Tensor> Whole(const Slot& slot, StateKind kind) const;
  // Sets elements `begin`, … in memory order to `values` (fp32, flat) as far as this rank holds
  // them. Weights and moments.
  void Write(Slot* slot, StateKind kind, int64_t begin, const at::Tensor& values) const;

  int64_t updates = 0;
  int64_t skipped = 0;

 private:
  // Of the elements of a tensor.
  struct Share {
    int64_t begin = 0;
    int64_t size = 0;
    int64_t chunk = 0;  // of every rank, the missing elements of the last ones included
  };
  Share ShareOf(int64_t num_elements) const;
  // Tensors that travel in one call: in a buffer that holds, rank by rank, the chunks of all.
  struct Bucket {
    std::vector<Slot*> slots;
    int64_t chunk = 0;  // the sum of theirs
  };
  std::vector<Bucket> BucketsOf(std::span<Slot* const> slots) const;
  // One tensor in equal shares: its own memory is the buffer.
  bool IsWhole(const Bucket& bucket) const;
  // The pieces of the buffer `all` that hold each rank's elements of each tensor; `parts` gets the
  // same pieces of flat(slot), all elements in memory order. What is undefined is left out.
  std::vector<at::Tensor> PartsOf(const Bucket& bucket, const at::Tensor& all,
                                  const std::function<at::Tensor(const Slot&)>& flat,
                                  std::vector<at::Tensor>* parts) const;
  // Replaces the slots' gradients by this rank's shares of their sums over the ranks.
  Status ReduceScatter(std::span<Slot* const> slots) const;
  // The slots' weights from every rank's masters.
  Status GatherWeights(std::span<Slot* const> slots) const;
  // `squares` (fp64 [1]) becomes its sum over all ranks. `any`: whether this rank has gradients.
  Status SumSquares(const at::Tensor& squares, bool any) const;
  // Each updates the slots, which all have gradients, unless the norm is not finite; returns it.
  Result<double> StepWithKernels(std::span<Slot* const> slots, bool any, double learning_rate);
  Result<double> StepWithAten(std::span<Slot* const> slots, bool any, double learning_rate);
  // `whole`, contiguous, gets every rank's `share` of it.
  Status Gather(const at::Tensor& share, const at::Tensor& whole) const;

  const AdamOptions options_;
  comm::Communicator* const ranks_;
  const bool shards_gradients_;
  std::unique_ptr<FusedAdamW> fused_;  // null: ATen's
  bool reduced_any_ = false;           // this rank had gradients since the last update
};

}  // namespace davinci::trainer
