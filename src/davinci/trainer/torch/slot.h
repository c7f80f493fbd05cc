// One tensor that is trained, and what this rank holds of its optimiser state.
#pragma once

#include <cstdint>
#include <vector>

#include "davinci/model/torch/weights.h"

namespace davinci::trainer {

struct Slot {
  std::vector<model::StoredPart> parts;
  int64_t layer = -1;
  at::Tensor compute;  // what the layers use; a leaf of every graph
  // Summed over passes; undefined: none yet. fp32, or bf16 as one product left it.
  at::Tensor gradient;
  bool decays = false;
  bool muon = false;  // updated by Muon, else by AdamW; every part is a matrix
  // Of this rank's share of the elements (optimizer.h). fp32.
  at::Tensor master;         // where `compute` is fp32 it is the same memory
  at::Tensor first, second;  // moments; undefined before the first update; Muon has the first alone
  at::Tensor reduced;        // ZeRO stage 2: gradients summed over ranks so far; undefined: none
};

}  // namespace davinci::trainer
