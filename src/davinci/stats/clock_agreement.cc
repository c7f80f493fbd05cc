#include "davinci/stats/clock_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace davinci::stats {
namespace {

std::string FormatSeconds(double seconds) {
  if (!std::isfinite(seconds)) return fmt::format("{}", seconds);
  const double magnitude = std::abs(seconds);
  if (magnitude >= 1) return fmt::format("{:.4g} s", seconds);
  if (magnitude >= 1e-3) return fmt::format("{:.4g} ms", seconds * 1e3);
  return fmt::format("{:.4g} us", seconds * 1e6);
}

double Corrected(const ClockReading& reading) {
  return std::max(reading.seconds - reading.overhead_seconds, 0.0);
}

bool IsReading(const ClockReading& reading, bool must_be_positive) {
  return std::isfinite(reading.seconds) && std::isfinite(reading.overhead_seconds) &&
         reading.overhead_seconds >= 0 &&
         (must_be_positive ? reading.seconds > 0 : reading.seconds >= 0);
}

// How far `other` is on the wrong side of `record`.
double Excess(double record, double other, ClockRelation relation) {
  switch (relation) {
    case ClockRelation::kEqual:
      return std::abs(other - record);
    case ClockRelation::kAtMost:
      return other - record;
    case ClockRelation::kAtLeast:
      return record - other;
  }
  return std::abs(other - record);
}

}  // namespace

Result<ClockAgreement> CheckClockAgreement(std::span<const ClockReading> readings,
                                           const AgreementOptions& options) {
  if (readings.size() < 2)
    return InvalidArgument("clock agreement: needs the clock of record and at least one other");
  ClockAgreement agreement;
  for (size_t i = 0; i < readings.size(); ++i) {
    const bool must_be_positive = i == 0 || readings[i].relation == ClockRelation::kEqual;
    if (!IsReading(readings[i], must_be_positive)) agreement.invalid.push_back(readings[i].name);
  }
  const auto compare = [&](const ClockReading& a, const ClockReading& b, ClockRelation relation) {
    const double first = Corrected(a);
    const double second = Corrected(b);
    const double allowed = options.relative * std::max(first, second) + options.absolute_seconds;
    const double difference = Excess(first, second, relation);
    if (!(difference <= allowed))
      agreement.disagreements.push_back({a.name, b.name, first, second, difference, allowed});
  };
  if (agreement.invalid.empty()) {
    for (size_t i = 1; i < readings.size(); ++i)
      compare(readings[0], readings[i], readings[i].relation);
    for (size_t i = 1; i < readings.size(); ++i)
      for (size_t j = i + 1; j < readings.size(); ++j)
        if (readings[i].relation == ClockRelation::kEqual &&
            readings[j].relation == ClockRelation::kEqual)
          compare(readings[i], readings[j], ClockRelation::kEqual);
  }
  std::stable_sort(agreement.disagreements.begin(), agreement.disagreements.end(),
                   [](const auto& a, const auto& b) {
                     return a.difference_seconds * b.allowed_seconds >
                            b.difference_seconds * a.allowed_seconds;
                   });
  agreement.agree = agreement.invalid.empty() && agreement.disagreements.empty();

  for (const ClockReading& reading : readings)
    agreement.evidence += fmt::format("{}{} {}", agreement.evidence.empty() ? "" : ", ",
                                      reading.name, FormatSeconds(reading.seconds));
  if (!agreement.invalid.empty()) {
    agreement.evidence += fmt::format(": {} is not a time", agreement.invalid.front());
  } else if (!agreement.disagreements.empty()) {
    const ClockDisagreement& worst = agreement.disagreements.front();
    agreement.evidence +=
        fmt::format(": {} and {} differ by {}, allowed {}", worst.first, worst.second,
                    FormatSeconds(worst.difference_seconds), FormatSeconds(worst.allowed_seconds));
  } else {
    agreement.evidence += ": agree";
  }
  return agreement;
}

}  // namespace davinci::stats
