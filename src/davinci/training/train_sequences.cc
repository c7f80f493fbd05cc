#include "davinci/training/train_sequences.h"

#include <numeric>

namespace davinci::training {

std::vector<TrainSequence> SequencesOf(const TrainingBatch& batch, rl::Packing* packing,
                                       bool rl::TrainingSample::*wanted) {
  std::vector<std::vector<const rl::TrainingSample*>> trajectories;
  std::vector<size_t> flat;  // the packing's sample index -> the batch's
  for (const TrainUnit& unit : batch.units) {
    auto& trajectory = trajectories.emplace_back();
    for (const size_t i : unit.samples) {
      trajectory.push_back(&batch.samples[i]);
      flat.push_back(i);
    }
  }
  rl::Packing found = rl::PackTrajectories(trajectories, wanted);
  std::vector<TrainSequence> sequences;
  for (const rl::PackedSequence& packed : found.sequences) {
    TrainSequence& sequence = sequences.emplace_back();
    sequence.tokens = packed.tokens;
    for (const rl::TurnSpan& span : packed.turns) {
      const size_t sample = flat[span.sample];
      if (!(batch.samples[sample].*wanted)) continue;
      for (size_t at = span.begin; at < span.end; ++at) {
        if (at == 0) continue;
        sequence.targets.push_back(static_cast<int32_t>(at));
        sequence.sources.emplace_back(sample, at - span.begin);
      }
    }
  }
  std::erase_if(sequences, [](const TrainSequence& sequence) { return sequence.targets.empty(); });
  if (packing != nullptr) *packing = std::move(found);
  return sequences;
}

std::vector<std::vector<size_t>> BinsOf(const std::vector<TrainSequence>& sequences,
                                        std::span<const size_t> members, int64_t tokens_per_pass) {
  std::vector<int64_t> lengths;
  for (const size_t i : members)
    lengths.push_back(static_cast<int64_t>(sequences[i].tokens.size()));
  auto bins = rl::PackBins(lengths, tokens_per_pass);
  for (auto& bin : bins)
    for (size_t& i : bin) i = members[i];
  return bins;
}

std::vector<trainer::SequenceView> ViewsOf(const std::vector<TrainSequence>& sequences,
                                           std::span<const size_t> bin) {
  std::vector<trainer::SequenceView> views;
  for (const size_t i : bin) views.push_back({sequences[i].tokens, sequences[i].targets});
  return views;
}

std::vector<size_t> AllOf(size_t count) {
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

}  // namespace davinci::training
