// Which samples are trained, and how much: mismatch between the engine that sampled and the trainer
// that differentiates, and kernels that hardly matter.
//
// log-ratio of a token: d = log p_trainer - log p_sampler (both under the distribution actually
// sampled from). Pure; draws come from a seeded stream that names the sample, so that the same
// sample is kept or dropped wherever and whenever it is asked about.
//
// Sources: MRS and veto as in daVinci-kernel's mismatch_helper.py, PRS as in its
// coverage_helper.py, TIS Yao et al. 2025 ("truncated importance sampling").
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace davinci::rl {

// --- MRS: mismatch rejection sampling ---

struct MismatchOptions {
  // The geometric mean of the token ratios, exp(mean d), must lie in the band.
  double low = 0.999;
  double high = 1.001;
  double veto_ratio = 1e-4;  // a sequence with any token below it is dropped; 0: no veto
};

enum class MismatchVerdict { kKept, kOutsideBand, kVetoed, kNoTokens };

struct Mismatch {
  MismatchVerdict verdict = MismatchVerdict::kKept;
  double geometric_ratio = 1;
  double least_ratio = 1;  // of a token
  double greatest_ratio = 1;
};

// Of one unit: a trajectory (all trained tokens of all its turns) for the band. A unit without
// trained tokens is kNoTokens: neither kept nor counted as dropped.
Mismatch AssessMismatch(std::span<const double> log_ratios, const MismatchOptions& options);

// --- TIS: importance weights instead of rejection ---

// min(exp(d), cap) per token, |d| clamped to 20 first.
std::vector<double> TokenImportanceWeights(std::span<const double> log_ratios, double cap = 2.0);

// --- PRS: profiling rejection sampling ---

struct ProfilingOptions {
  double start = 0.3;  // coverage at which keeping begins
  double width = 0.1;  // … and over which its probability rises to 1; 0: a hard threshold
  double always_keep_speedup = 0;  // at or above it a turn is always kept; 0: no such rule
};

// P(keep) of a correct turn; wrong ones are always kept (they carry the penalty), and so is a turn
// without a profile: an outage of the profiler accuses no kernel.
double KeepProbability(bool correct, std::optional<double> coverage, double speedup,
                       const ProfilingOptions& options);

// The uniform draw in [0, 1) of `sample` ("task#s0r1t2") under `seed`: keep when it is below the
// probability.
double SeededDraw(uint64_t seed, std::string_view sample);

}  // namespace davinci::rl
