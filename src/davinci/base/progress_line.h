// ProgressLine: how far a command is, on one line of stderr.
//
//   terminal        Show() repaints the line, cut to the terminal's width
//   anything else   Show() writes a line once `plain_seconds` have passed since the last one
//
// Thread-compatible. Other text for the same terminal is written after Clear().
#pragma once

#include <cstdio>
#include <limits>
#include <string_view>

#include "davinci/base/clock.h"

namespace davinci {

class ProgressLine {
 public:
  static constexpr double kNeverPlain = std::numeric_limits<double>::infinity();

  explicit ProgressLine(double plain_seconds = kNeverPlain, std::FILE* to = stderr);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Is it a terminal?
  bool live() const { return live_; }
  void Show(std::string_view text);
  // Erases what Show() painted.
  void Clear();

 private:
  const double plain_seconds_;
  std::FILE* const to_;
  const bool live_;
  bool shown_ = false;
  Stopwatch since_plain_;
};

}  // namespace davinci
