// Muon: a matrix of a layer moves by the orthogonal factor of its momentum, not by the momentum
// itself. K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024); its
// size is that of an AdamW update as in J. Liu et al., "Muon is Scalable for LLM Training" (arXiv
// 2502.16982), so both kinds of slots share one learning rate and weight decay.
#pragma once

#include <span>

#include "davinci/base/status.h"
#include "davinci/trainer/learner.h"
#include "davinci/trainer/torch/shards.h"
#include "davinci/trainer/torch/slot.h"

namespace davinci::trainer {

// Returns about U V^T of each of `matrices` [count, rows, columns] = U S V^T, by five quintic
// Newton-Schulz iterations in the tensor's type. Singular values end within 0.7 and 1.2.
at::Tensor Orthogonalised(const at::Tensor& matrices);

class Muon {
 public:
  // `shards` must outlive this.
  Muon(const AdamOptions& options, const Shards* shards) : options_(options), shards_(*shards) {}

  // Moves masters and momenta (`first`) of `slots`, which all have gradients. `scale`: of the
  // gradients (clipping). Collective: momenta are gathered in the type of the weights, and every
  // rank orthogonalises all of them.
  Status Update(std::span<Slot* const> slots, double scale, double learning_rate) const;

 private:
  const AdamOptions options_;
  const Shards& shards_;
};

}  // namespace davinci::trainer
