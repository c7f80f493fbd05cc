// How much faster: the median ratio of paired measurements and its 95 % interval.
//
// Input: pairs (baseline seconds, candidate seconds) in the order measured, A B B A A B B A ...:
// even pairs ran the baseline first, odd pairs the candidate. Two consecutive pairs form a block.
// The block's ratio is the geometric mean of its two pairs, which cancels drift that is linear over
// the four calls and whatever advantage the first or the second place gives; the blocks, not the
// pairs, are the independent samples. Where a pair is itself of many calls, each in a full queue of
// a device that nothing else uses, a block is one pair (pairs_per_block): an advantage of a place
// then widens the interval instead of being cancelled.
//
// Ratio = baseline / candidate: above 1 the candidate is faster. Point estimate: the median over
// blocks (preempted calls move a mean, not a median).
//
// Interval: percentile bootstrap of the median over blocks, with the percentiles widened for small
// samples (the t quantile and the factor sqrt(m / (m - 1)), "expanded percentile interval"). Not
// BCa: its acceleration comes from the jackknife, which is inconsistent for a median. Fewer than
// kMinBootstrapBlocks blocks cannot reach 95 % with order statistics, so the interval is then at
// least Student's interval of the log ratios; with one block it is unbounded. Below kAmpleBlocks it
// is at least a Student interval with robust spread: all of six blocks on one side happens too
// often.
//
// A second process of the same program runs systematically faster or slower (addresses, page
// colours, clocks). What its standard deviation is assumed to be widens the interval in quadrature:
// the blocks of one process cannot show it. Where the pairs come from several launches, their
// medians show it: the variance is then the mean of the assumed one, which counts as
// kAssumedFreedom launches beyond the first, and of the observed ones, and it widens the interval
// by that of a median over the launches.
//
// A neighbour on the machine can hit one process for the whole measurement (two threads of it
// placed on a core that another process uses): blocks are then no independent samples, and a kernel
// compared with itself comes out ten times faster. It shows in how far a process's median call is
// from its fastest tenth; what is beyond kSteady there counts as further spread between processes.
//
// Significance is decided with the same interval at 99.9 %: about one of a thousand comparisons of
// a kernel with itself is called a difference.
//
// Pure and deterministic: the same input and seed give the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::stats {

struct PairedSample {
  double baseline_seconds = 0;
  double candidate_seconds = 0;
  int launch = 0;  // which processes these are of; those of a block are of one launch
};

constexpr int kMinBootstrapBlocks = 6;  // 1 - 2 * 2^-6 is the first to exceed 95 %
constexpr int kAmpleBlocks = 12;
// Degrees of freedom that the assumed spread between processes is worth.
constexpr int kAssumedFreedom = 8;
// The median call of an undisturbed process over its fastest tenth is below this.
constexpr double kSteady = 1.25;

struct PairedRatioOptions {
  uint64_t seed = 1;
  int num_resamples = 2000;
  int pairs_per_block = 2;  // or 1
  // Assumed standard deviation of log(ratio) between launches of the same two processes. 0: unknown
  // or already contained in the pairs, whatever launches they name.
  double between_process_log_sd = 0;
  // The same in seconds of one call, for either side: what a process needs to wake, above all. Its
  // share of a short call is large.
  double between_process_seconds = 0;
  // What a call of the baseline launches one after the other: the gap at each varies by as much. A
  // candidate that takes a part of the time is taken to launch that part.
  int baseline_kernels = 1;
  // Multiplies the half widths (log scale) before the process spread is added; above 1 when the
  // number of pairs was chosen by looking at the interval.
  double half_width_factor = 1;
  // A difference inside [1 - band, 1 + band] is never called significant.
  double band = 0.02;
};

struct PairedRatio {
  double median = 1;
  double low = 0;  // 95 % interval; may be [0, inf]
  double high = 0;
  // 99.9 % interval: decides `significant`, and is the one that people read.
  double decided_low = 0;
  double decided_high = 0;
  bool significant = false;           // decided_low … decided_high lies outside the band
  int n = 0;                          // pairs used (an unpaired last one is left out)
  double block_log_sd = 0;            // robust spread of the blocks' log ratios, for reports
  std::vector<double> launches = {};  // the median ratio of each
  double unsteadiness = 1;  // median call over the fastest tenth, of the process where it is larger
};

// Fails when there are fewer than two pairs, a time is not positive and finite, or an option makes
// no sense.
Result<PairedRatio> ComputePairedRatio(std::span<const PairedSample> pairs,
                                       const PairedRatioOptions& options);

// For calls so uneven that their average differs from their median: callers pay the average.
PairedRatio AtAverage(PairedRatio ratio, double average, double band);

// Where `charge` of the `candidate_seconds` of a call was not measured in it but charged for what
// happened between two calls. That may be a neighbour's doing: the interval reaches to where
// nothing is charged.
PairedRatio WithDoubtfulCharge(PairedRatio ratio, double candidate_seconds, double charge,
                               double band);

// Where a call of the candidate may have cost `more` than its `candidate_seconds`, hidden by noise:
// the interval begins lower.
PairedRatio WithCostlierCalls(PairedRatio ratio, double candidate_seconds, double more,
                              double band);

// Multiplies the upper ends of the intervals by a `factor` above 1, the lower ends by one below 1.
PairedRatio WithDoubt(PairedRatio ratio, double factor, double band);

// Adds an error of the ratio in quadrature; `log_sd`: the standard deviation of its logarithm.
PairedRatio WithError(PairedRatio ratio, double log_sd, double band);

// Where calls were held up by other programs, by an unknown part of their waits: `ratio` with both
// ends as far out as those of `slowest` and `fastest`.
PairedRatio WithBounds(PairedRatio ratio, const PairedRatio& slowest, const PairedRatio& fastest,
                       double band);

// (high - low) / 2 / median; infinite for an unbounded interval.
double RelativeHalfWidth(const PairedRatio& ratio);

}  // namespace davinci::stats
