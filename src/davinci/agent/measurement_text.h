// An Evaluation in words, part by part, for feedback and summaries. Pure.
//
// Every function returns "" when the Evaluation does not hold what it would tell.
#pragma once

#include <string>

#include "davinci/data/evaluation.h"

namespace davinci::agent {

// "does not compile": what happened, to be read after "The candidate ".
std::string OutcomeText(Outcome outcome);

// "1.83 times as fast as the reference", "at least 1.4 times as fast as the reference": no number
// where the interval does not carry one (data/shown_interval.h).
std::string TimesAsFast(const Speedup& speedup);

// "0.412 ms per call; eager takes 1.03 ms. Speedup 2.50, 95 % interval 2.41 to 2.58." Says so when
// the interval does not exclude "no difference"; gives neither times nor a median where it is too
// wide for a number.
std::string TimingText(const Evaluation& evaluation);

// A table of the device kernels that took longest (cuda) or of the library operators (cpu), at most
// `max_rows`; launches of one name are added up.
std::string KernelsText(const Evaluation& evaluation, int max_rows);

// Which share of the time was spent in the candidate's own code.
std::string CoverageText(const Evaluation& evaluation);

// How near the time is to that of a perfect kernel on the device.
std::string RooflineText(const Evaluation& evaluation);

}  // namespace davinci::agent
