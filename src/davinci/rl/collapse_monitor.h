// Early warnings that a policy is falling apart (Kevin, arXiv 2507.11948: junk shows first as
// repetition in the last turn and as drift of the first token, fifteen steps before collapse).
//
// Per step a monitor sees the replies of one agent at one turn; alerts compare with the mean of its
// first `baseline_steps` steps. Pure: the caller owns time and output.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "davinci/rl/packing.h"

namespace davinci::rl {

struct ReplyView {
  std::span<const int32_t> tokens;
  double mean_entropy = -1;  // nats a token, of the sampling distribution; < 0: unknown
  AgentKind agent = AgentKind::kPolicy;
  int turn = 1;
};

struct CollapseOptions {
  int baseline_steps = 5;
  int repetition_gram = 8;         // n of the n-grams that repeat
  double repetition_alert = 0.25;  // share of repeated n-grams in the step's replies
  double first_token_alert = 0.3;  // share of replies that open unlike the habitual first token
  double entropy_alert = 0.3;      // of the baseline's: below it exploration has ended
  double length_alert = 2.0;       // times the baseline's mean length, or below its inverse
};

struct CollapseReading {
  double repetition = 0;  // share of n-grams seen before in the same reply, mean over replies
  double first_token_drift = 0;     // share of replies whose first token is not the habitual one
  double entropy = -1;              // mean; -1: unknown
  double mean_length = 0;           // tokens
  std::vector<std::string> alerts;  // one sentence each; empty while all is well
};

// Share of the reply's n-grams that occurred earlier in it; 0 for replies shorter than n + 1.
double RepetitionShare(std::span<const int32_t> tokens, int n);

// Memory of a monitor, for the state of a checkpoint.
struct CollapseMemory {
  int steps = 0;                            // that it has seen
  std::map<int32_t, int64_t> first_tokens;  // of the baseline steps
  double length = 0;                        // share of the baseline's mean that is known so far
  double entropy = 0;                       // sum over baseline steps …
  int entropy_steps = 0;                    // … whose entropy is known
  bool operator==(const CollapseMemory&) const = default;
};

// `replies`: of one agent at one turn.
CollapseReading ObserveReplies(std::span<const ReplyView> replies, const CollapseOptions& options,
                               CollapseMemory* memory);

// One memory for each agent and turn: replies of different agents, and of later turns, open and end
// differently, and junk shows first in the last turn.
class CollapseMonitor {
 public:
  using Memories = std::map<std::string, CollapseMemory>;

  explicit CollapseMonitor(const CollapseOptions& options) : options_(options) {}
  // Keys are agent and turn ("policy 1"). Those without a reply in this step are left out.
  std::map<std::string, CollapseReading> Observe(std::span<const ReplyView> replies);

  const Memories& memories() const { return memories_; }
  void Restore(Memories memories) { memories_ = std::move(memories); }

 private:
  CollapseOptions options_;
  Memories memories_;
};

}  // namespace davinci::rl
