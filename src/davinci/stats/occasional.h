// Occasional: how often something costly is done beside measurements.
#pragma once

#include <algorithm>

namespace davinci::stats {

// What is done in some pairs only: whenever it is due the first time, then as far as all of it will
// have taken no more than a fifth of the time so far, if it takes as long as its longest.
class Occasional {
 public:
  // `elapsed_seconds`: of everything, this included.
  bool Fits(double elapsed_seconds) const { return total_ + longest_ <= kShare * elapsed_seconds; }
  void Took(double seconds) {
    total_ += seconds;
    longest_ = std::max(longest_, seconds);
  }
  double total_seconds() const { return total_; }

 private:
  static constexpr double kShare = 0.2;
  double total_ = 0;
  double longest_ = 0;
};

}  // namespace davinci::stats
