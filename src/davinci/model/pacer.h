// Pacer: how long the device is held in one go, from measured times. Between two pieces of work it
// leaves the DeviceTurn when another process waits for it, or when one more piece as long as the
// longest of late might end behind the limit. How large a piece may be follows from the same
// measurement: large while none waits, small for a while after one did. One thread; no torch.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "davinci/model/engine.h"

namespace davinci::model {

class Pacer {
 public:
  using Clock = std::chrono::steady_clock;

  // `turn` may be null: nothing is held, and pieces have no limit. `synchronize` returns when the
  // device has done what it was given; called before the turn is left. `now` is replaced by tests.
  Pacer(std::shared_ptr<DeviceTurn> turn, double max_hold_ms, std::function<void()> synchronize,
        std::function<Clock::time_point()> now = Clock::now);

  void Take();
  void Leave();
  // Between two pieces of work. `work`: of the piece that follows, in any unit that is proportional
  // to its time; 0: unknown.
  void Between(double work = 0);

  // How many of `rows` the next piece may have, `work_per_row` each; a multiple of 8, or all.
  int64_t Rows(int64_t rows, double work_per_row) const;

  // Of all slices so far, milliseconds.
  double longest_hold_ms() const { return longest_hold_ms_; }
  // Starts longest_hold_ms() again.
  void Forget() { longest_hold_ms_ = 0; }
  // Milliseconds that a piece may take now.
  double slice_ms() const;

 private:
  double Since(Clock::time_point from) const;
  void EndPiece();

  const std::shared_ptr<DeviceTurn> turn_;
  const double max_hold_ms_;
  const std::function<void()> synchronize_;
  const std::function<Clock::time_point()> now_;
  bool holding_ = false;
  Clock::time_point held_since_, piece_since_, asked_, wanted_;
  double work_ = 0;              // of the piece under way
  double ms_per_work_ = 0;       // 0: not measured
  double longest_piece_ms_ = 0;  // of late: shrinks from piece to piece
  double longest_hold_ms_ = 0;
};

}  // namespace davinci::model
