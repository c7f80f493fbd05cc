// AdamW over slots, its state sharded over the ranks (ZeRO stage 1).
//
// The elements of a tensor, in memory order, are divided into as many equal shares as there are
// ranks; the last ones are shorter. A rank holds masters and moments of its share alone. An update:
// gradients are summed over the ranks, each getting its share (reduce-scatter); the norm of all
// shares together decides about clipping, and about skipping on every rank alike; each rank updates
// its share; the shares of the weights are gathered. With one rank a share is the whole tensor and
// nothing is sent.
//
// With several ranks Step() and Whole() are collective: every rank calls them for the same slots.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "davinci/comm/communicator.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/torch/slot.h"

namespace davinci::trainer {

class Optimizer {
 public:
  // `ranks`: nullptr for one rank; must outlive this.
  Optimizer(const AdamOptions& options, comm::Communicator* ranks)
      : options_(options), ranks_(ranks) {}

  // Makes the slot's masters from its weights.
  void Adopt(Slot* slot) const;
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
  // The norm of all gradients; of several ranks from their shares.
  Result<at::Tensor> Norm(const std::vector<at::Tensor>& gradients, bool any) const;
  // `whole`, contiguous, gets every rank's `share` of it.
  Status Gather(const at::Tensor& share, const at::Tensor& whole) const;

  const AdamOptions options_;
  comm::Communicator* const ranks_;
};

}  // namespace davinci::trainer
