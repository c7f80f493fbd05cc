// The report as one HTML page: no network, no other file. Turns, speedups with intervals, lineage,
// code, skills, costs, stage times; light and dark by the reader's preference; readable without
// scripts (there are none: folding is <details>, plots are SVG, and a Content-Security-Policy
// forbids scripts and the network, so that a model's text can do nothing even if an escape were
// forgotten).
#pragma once

#include <string>
#include <vector>

#include "davinci/report/run_view.h"
#include "davinci/score/comparison.h"

namespace davinci::report {

struct HtmlInput {
  const RunView* run = nullptr;                      // required
  std::vector<score::ScoreReport> scores;            // tables at the end; the first also on top
  const score::RunComparison* comparison = nullptr;  // with another run, when there is one
};

// The whole page. Deterministic: the same input gives the same bytes.
std::string RenderHtml(const HtmlInput& input);

}  // namespace davinci::report
