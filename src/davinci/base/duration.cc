#include "davinci/base/duration.h"

#include <fmt/format.h>

#include <cmath>

namespace davinci {

std::string DurationText(double seconds) {
  if (seconds < 0 || !std::isfinite(seconds)) return "?";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < int64_t{48} * 3600)
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

std::string Eta::Text(int64_t done, double seconds) const {
  if (done <= before_ || done >= total_) return "";
  const double each = seconds / static_cast<double>(done - before_);
  return "  ETA " + DurationText(each * static_cast<double>(total_ - done));
}

}  // namespace davinci
