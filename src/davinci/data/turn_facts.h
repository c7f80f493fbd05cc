// What several modules read off a turn's verdict: coverage, whether the kernel is the candidate's
// own, and the published reward. One definition each. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"

namespace davinci {

// Share of the candidate's time that is spent in its own kernels, from the judge's profile: of
// device time on cuda, on cpu what is not spent in PyTorch's operators. Nothing when it was not
// profiled. In [0, 1].
std::optional<double> Coverage(const Evaluation& evaluation);

inline constexpr std::string_view kOnlyPyTorchLabel = "only PyTorch";

// The candidate has no kernel of its own: its source builds none (`language`, DetectLanguage), or a
// device profile saw kernels and none of them was its own. A profile that saw no kernel at all is a
// fault of the profiler and is no decoy.
bool OnlyPyTorch(Language language, const Evaluation& evaluation);

// 0.5 correct + 0.5 min(speedup, cap) + 0.5 coverage, and 0 for what is not correct; without a
// coverage that term is 0. The published system's cap is 6 in its flagship run.
inline constexpr double kPublishedSpeedupCap = 6;
double PublishedReward(bool correct, double speedup, std::optional<double> coverage,
                       double cap = kPublishedSpeedupCap);

// Median speedups over PyTorch eager and over torch.compile, where the verdict carries them: its
// speedup of record and evidence.speedups, which a judge that compared with several baselines
// wrote.
struct BaselineSpeedups {
  std::optional<double> eager;
  std::optional<double> compile;
};
BaselineSpeedups SpeedupsOf(const Evaluation& evaluation);

// CUDA Agent's milestones: -1 wrong, 1 correct, 2 more than 5 % faster than eager, 3 more than 5 %
// faster than torch.compile as well. A speedup that was not measured is not faster.
inline constexpr double kMilestoneMargin = 1.05;
double MilestoneReward(bool correct, const BaselineSpeedups& over);

}  // namespace davinci
