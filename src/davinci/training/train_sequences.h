// From a batch's samples to the sequences and passes that a learner is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "davinci/rl/packing.h"
#include "davinci/trainer/learner.h"
#include "davinci/training/training_batch.h"

namespace davinci::training {

// A sequence to differentiate, and for each of its targets which token of which sample it is.
struct TrainSequence {
  std::vector<int32_t> tokens;
  std::vector<int32_t> targets;
  std::vector<std::pair<size_t, size_t>> sources;
};

// Targets are the ids of samples whose flag `wanted` is set. `packing` (may be null): token counts.
std::vector<TrainSequence> SequencesOf(
    const TrainingBatch& batch, rl::Packing* packing,
    bool rl::TrainingSample::*wanted = &rl::TrainingSample::trained);

// `members` in passes of at most `tokens_per_pass`.
std::vector<std::vector<size_t>> BinsOf(const std::vector<TrainSequence>& sequences,
                                        std::span<const size_t> members, int64_t tokens_per_pass);

std::vector<trainer::SequenceView> ViewsOf(const std::vector<TrainSequence>& sequences,
                                           std::span<const size_t> bin);

// 0, 1, … `count` - 1.
std::vector<size_t> AllOf(size_t count);

// One number for each output token of each sample; empty for samples without any.
using TokenValues = std::vector<std::vector<float>>;

}  // namespace davinci::training
