// AdamW, or Muon for matrices of the layers (muon.h), over slots, the state sharded over the ranks
// (shards.h; ZeRO stage 1), or state and gradients (stage 2).
//
// A rank holds masters and moments of its share alone. An update: gradients are summed over the
// ranks, each getting its share; the norm of all shares together decides about clipping, and about
// skipping on every rank alike; each rank updates its share; the shares of the weights are
// gathered.
//
// Stage 1 sums gradients over the ranks in Step(). Stage 2 does it in Reduce(), which a pass calls
// for each layer's slots as soon as they have their gradients: from then on a rank holds its share
// of them alone.
//
// With several ranks Step(), Reduce() and Whole() are collective: every rank calls them for the
// same slots in the same order.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "davinci/comm/communicator.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/torch/fused_adamw.h"
#include "davinci/trainer/torch/muon.h"
#include "davinci/trainer/torch/shards.h"
#include "davinci/trainer/torch/slot.h"

namespace davinci::trainer {

class Optimizer {
 public:
  // `ranks`: nullptr for one rank; must outlive this.
  Optimizer(const AdamOptions& options, comm::Communicator* ranks, int zero_stage)
      : options_(options),
        shards_(ranks),
        shards_gradients_(ranks != nullptr && zero_stage == 2),
        muon_(options, &shards_) {}
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
  // Each updates the slots, which all have gradients, unless the norm is not finite; returns it.
  Result<double> StepWithKernels(std::span<Slot* const> slots, bool any, double learning_rate);
  Result<double> StepWithAten(std::span<Slot* const> slots, bool any, double learning_rate);
  // Returns the factor that clips gradients whose norm is `norm`.
  double ClipScale(double norm) const;
  // Does Muon's part of an update; AdamW's is done.
  Status StepMuon(std::span<Slot* const> slots, double scale, double learning_rate) const;

  const AdamOptions options_;
  const Shards shards_;
  const bool shards_gradients_;
  const Muon muon_;
  std::unique_ptr<FusedAdamW> fused_;  // null: ATen's
  bool reduced_any_ = false;           // this rank had gradients since the last update
};

}  // namespace davinci::trainer
