// Do independent clocks tell the same story? The rule: two clocks agree when they differ by at most
// 5 % + 5 us.
//
// One clock is the clock of record (the supervisor's wall clock). The others watch the same
// interval from elsewhere: the device's events, the activity trace, the kernel's CPU time of the
// runner. Some cannot read more than the record (a device is busy for at most the whole interval),
// some cannot read less; only an equal one must match on both sides. Disagreement is evidence of a
// tampered clock or of work outside the window: the outcome is invalid_timing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "davinci/base/status.h"

namespace davinci::stats {

enum class ClockRelation {
  kEqual,    // measures the same interval as the record
  kAtMost,   // may read less than the record (it sees part of the work), never more
  kAtLeast,  // may read more (its window is wider), never less
};

struct ClockReading {
  std::string name;
  double seconds = 0;
  ClockRelation relation = ClockRelation::kEqual;  // to the record
  // What this clock is known to add (calibrated on an empty call); subtracted before comparing, not
  // below zero.
  double overhead_seconds = 0;
};

struct AgreementOptions {
  double relative = 0.05;  // of the larger reading
  double absolute_seconds = 5e-6;
};

struct ClockDisagreement {
  std::string first;
  std::string second;
  double first_seconds = 0;  // after overhead
  double second_seconds = 0;
  double difference_seconds = 0;
  double allowed_seconds = 0;
};

struct ClockAgreement {
  bool agree = false;
  std::vector<ClockDisagreement> disagreements;  // worst (difference / allowed) first
  std::vector<std::string>
      invalid;  // clocks whose reading is negative or not finite, or 0 for an equal one
  // "supervisor 1.203 ms, events 1.198 ms: agree" or the worst disagreement; for the verdict's
  // evidence.
  std::string evidence;
};

// readings[0] is the clock of record (its relation is ignored). Every other clock is compared with
// it, and equal clocks with each other. A reading that is no time at all makes the whole invalid:
// it never counts as fast. Fails when there are fewer than two clocks.
Result<ClockAgreement> CheckClockAgreement(std::span<const ClockReading> readings,
                                           const AgreementOptions& options = {});

}  // namespace davinci::stats
