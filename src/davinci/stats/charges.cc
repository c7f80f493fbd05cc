#include "davinci/stats/charges.h"

#include <utility>

namespace davinci::stats {

void Charge(const Charges& charges, std::vector<PairedSample>* samples) {
  for (PairedSample& sample : *samples) {
    sample.baseline_seconds += charges.BaselineTotal();
    sample.candidate_seconds += charges.Total();
  }
}

PairedRatio WithDoubtOf(const Charges& charges, PairedRatio ratio, double candidate_seconds,
                        double band) {
  if (charges.arming_doubt > 0)
    ratio = WithCostlierCalls(std::move(ratio), candidate_seconds, charges.arming_doubt, band);
  if (charges.arming > 0)
    ratio = WithDoubtfulCharge(std::move(ratio), candidate_seconds, charges.arming, band);
  if (charges.host_pace.ratio_log_sd > 0)
    ratio = WithError(std::move(ratio), charges.host_pace.ratio_log_sd, band);
  if (charges.host_pace.with_one_pace != 1)
    ratio = WithDoubt(std::move(ratio), charges.host_pace.with_one_pace, band);
  // A call alone varies by some microseconds, so an honest kernel may be charged.
  if (charges.windows > 0)
    ratio = WithDoubtfulCharge(std::move(ratio), candidate_seconds, charges.windows, band);
  return ratio;
}

}  // namespace davinci::stats
