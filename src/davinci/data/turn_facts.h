// Several modules read these facts off a turn's verdict: whether it was accepted, coverage, whether
// the kernel is the candidate's own, and the published rewards. Each has one definition. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "davinci/data/evaluation.h"
#include "davinci/data/language.h"

namespace davinci {

// Correct, and nothing was objected to: kOk, or kCompileOnly with a correct result.
bool IsAccepted(const Evaluation& evaluation);

// Share of the candidate's time that is spent in its own kernels, from the judge's profile: of
// device time on cuda, on cpu what is not spent in PyTorch's operators. Nothing when it was not
// profiled. In [0, 1].
std::optional<double> Coverage(const Evaluation& evaluation);

// The candidate has no kernel of its own: its source builds none (`language`, DetectLanguage), or a
// device profile saw kernels and none of them was its own. A profile that saw no kernel at all is a
// fault of the profiler and is no decoy.
bool OnlyPyTorch(Language language, const Evaluation& evaluation);

// Accepted, with a kernel of its own. Every published reward pays a decoy (OnlyPyTorch) like a
// wrong answer.
bool EarnsReward(Language language, const Evaluation& evaluation);

// The rewards are 0 for what is not correct. A coverage is held within [0, 1], and the term is 0
// without one.
//
// 0.5 correct + 0.5 min(speedup, cap) + 0.5 coverage. The published system's cap is 6 in its
// flagship run; Dr. Kernel's code has the same reward with cap 3.
inline constexpr double kPublishedSpeedupCap = 6;
inline constexpr double kDrKernelSpeedupCap = 3;
double PublishedReward(bool correct, double speedup, std::optional<double> coverage,
                       double cap = kPublishedSpeedupCap);
// Dr. Kernel's paper: correct (1 + min(speedup, cap) + coverage).
double DrKernelPaperReward(bool correct, double speedup, std::optional<double> coverage,
                           double cap = kDrKernelSpeedupCap);
// Kevin: correct (0.3 + speedup).
double KevinReward(bool correct, double speedup);

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
