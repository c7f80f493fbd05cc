// Charges: what is added to measured times of calls, because they do not show it. Pure.
//
//   arming     work between two calls, beyond what the baseline does there
//   windows    what windows of several calls hide: calls alone, from an idle queue, or the device
//              after DONE take longer
//   host_pace  the wait of a full queue for its host, of either side, where windows hold one call
//
// A charge is measured with noise, which an honest candidate has, too: the interval of the speedup
// reaches to where nothing is charged. The evidence has each of them.
#pragma once

#include <vector>

#include "davinci/stats/paired_ratio.h"
#include "davinci/stats/window_time.h"

namespace davinci::stats {

struct Charges {
  double arming = 0;  // seconds of every call of the candidate
  // … and so many more, if noise hid them.
  double arming_doubt = 0;
  double windows = 0;  // seconds of every call of the candidate
  HostPace host_pace;

  // Seconds of every call, of the candidate and of the baseline.
  double Total() const { return arming + windows + host_pace.candidate_seconds; }
  double BaselineTotal() const { return host_pace.baseline_seconds; }
};

// Adds them to measured samples.
void Charge(const Charges& charges, std::vector<PairedSample>* samples);

// `ratio` of charged samples, whose median call of the candidate is `candidate_seconds`, with an
// interval that knows how well the charges are known.
PairedRatio WithDoubtOf(const Charges& charges, PairedRatio ratio, double candidate_seconds,
                        double band);

}  // namespace davinci::stats
