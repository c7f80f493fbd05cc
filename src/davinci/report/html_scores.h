// Score tables. Internal.
#pragma once

#include <string>

#include "davinci/score/comparison.h"
#include "davinci/score/protocol.h"

namespace davinci::report {

std::string ScoreHtml(const score::ScoreReport& report);
std::string ComparisonHtml(const score::RunComparison& comparison);

}  // namespace davinci::report
