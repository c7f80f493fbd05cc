// Early warnings that a policy is falling apart (Kevin, peers.md 1.1: junk shows first as
// repetition in the last turn and as drift of the first token, fifteen steps before collapse).
//
// Per step the monitor sees the replies of the step; alerts compare with the mean of the first
// `baseline_steps` steps. Pure: the caller owns time and output.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace davinci::rl {

struct ReplyView {
  std::span<const int32_t> tokens;
  double mean_entropy = 0;  // nats a token, of the sampling distribution; < 0: unknown
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

class CollapseMonitor {
 public:
  explicit CollapseMonitor(const CollapseOptions& options) : options_(options) {}
  CollapseReading Observe(std::span<const ReplyView> replies);

 private:
  CollapseOptions options_;
  int steps_ = 0;
  std::map<int32_t, int64_t> first_tokens_;  // of the baseline steps
  double baseline_length_ = 0;
  double baseline_entropy_ = 0;
  int entropy_steps_ = 0;
};

}  // namespace davinci::rl
