// What a candidate is timed against: one baseline, or several in one evaluation. The first is the
// one of `Evaluation::speedup`; all stand in evidence.speedups, a list of {"baseline", "median",
// "low", "high", "significant"}, or {"baseline", "error"} for one that could not be used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/data/evaluation.h"

namespace davinci::judge {

// "eager", "compile" (torch.compile), "compile-max-autotune".
const std::vector<std::string>& BaselineNames();

// "eager,compile" → both. InvalidArgument: an unknown name, one given twice, none.
Result<std::vector<std::string>> ParseBaselines(std::string_view text);

inline bool IsCompiled(std::string_view baseline) { return baseline.starts_with("compile"); }

// What every evaluation against several baselines carries of the first of them.
void BeginSpeedups(Evaluation* evaluation);
// Adds what judging the same candidate against `baseline` came to. A verdict that refuses the
// candidate replaces the whole evaluation; a baseline that cannot be used is named in a label.
void AddBaseline(const std::string& baseline, const Result<Evaluation>& judged,
                 Evaluation* evaluation);

}  // namespace davinci::judge
