// Durations for people, and how long the rest of a counted work takes.
#pragma once

#include <cstdint>
#include <string>

#include "davinci/base/clock.h"

namespace davinci {

// "0.8 s", "42 s", "3 min 20 s", "2 h 5 min", "3 d 4 h"; "?" for what is no duration.
std::string DurationText(double seconds);

// The rest of `total` pieces at the pace since construction, when `before` of them were done.
class Eta {
 public:
  Eta(int64_t before, int64_t total) : before_(before), total_(total) {}
  // "  ETA 3 min 20 s"; "" while nothing is done since construction, and when all is.
  std::string Text(int64_t done) const { return Text(done, watch_.Seconds()); }
  std::string Text(int64_t done, double seconds) const;

 private:
  const int64_t before_;
  const int64_t total_;
  const Stopwatch watch_;
};

}  // namespace davinci
