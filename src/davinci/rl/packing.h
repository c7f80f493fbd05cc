// From turns to sequences that are trained.
//
// A turn is a prompt and the ids that were sampled behind it. Where turn t+1's prompt begins with
// all tokens of turn t (its prompt and its sampled reply), the turns share one sequence: nothing is
// computed twice, and every sampled id is trained exactly once, with its own advantage. Where
// history was shortened, a turn becomes a sequence of its own. Trained are the sampled ids and
// nothing else; an id is never made by encoding text again.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace davinci::rl {

enum class AgentKind { kPolicy, kSelection, kSummary };
std::string_view AgentKindName(AgentKind agent);  // "policy", "selection", "summary"
std::optional<AgentKind> ParseAgentKind(std::string_view name);

// One sampled reply with what training needs.
struct TrainingSample {
  std::string id;  // "task#s0r1t2", or of a selection or summary call
  AgentKind agent = AgentKind::kPolicy;
  int turn = 1;
  std::vector<int32_t> prompt;   // ids as they were fed
  std::vector<int32_t> output;   // ids as they were sampled
  std::vector<float> log_probs;  // of each output id under the sampling distribution
  double advantage = 0;          // agent weight included
  // With a critic: of each output token, agent weight included, in the place of `advantage`.
  std::vector<float> token_advantages;
  bool trained = true;  // false: masked (void, rejected); its tokens are context only
  // With a critic: its tokens have values, whether they are trained or not; `paid` is the reward
  // at its last token.
  bool valued = false;
  double paid = 0;
  int64_t policy_update = 0;  // which weights sampled it
};

struct TurnSpan {
  size_t sample = 0;  // index into the input
  size_t begin = 0;   // of its output ids in the sequence
  size_t end = 0;
};

struct PackedSequence {
  std::vector<int32_t> tokens;
  std::vector<TurnSpan> turns;  // ascending; ids in [begin, end) are the samples' outputs
};

struct Packing {
  std::vector<PackedSequence> sequences;
  int64_t num_tokens = 0;   // of all sequences
  int64_t num_twice = 0;    // prompt tokens that an earlier turn of the trajectory had too
  int64_t num_trained = 0;  // output ids of trained samples

  // Share of tokens computed twice; 0 for an empty packing.
  double twice_share() const;
};

// `trajectories`: the samples of each, in order of turns. A sequence without a trained sample is
// left out. A sample whose log_probs do not match its output has been corrupted: precondition.
// `wanted`: the flag by which samples count as trained; for a critic &TrainingSample::valued.
Packing PackTrajectories(std::span<const std::vector<const TrainingSample*>> trajectories,
                         bool TrainingSample::*wanted = &TrainingSample::trained);

// Bins of at most `max_tokens` (a longer sequence is a bin of its own), first fit by falling
// length: what one forward pass takes. Indices into `lengths`; deterministic.
std::vector<std::vector<size_t>> PackBins(std::span<const int64_t> lengths, int64_t max_tokens);

}  // namespace davinci::rl
