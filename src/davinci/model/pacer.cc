#include "davinci/model/pacer.h"

#include <algorithm>
#include <cmath>

namespace davinci::model {
namespace {

// Pieces in units of the limit: short enough that several fit, long enough that asking costs
// little.
constexpr double kLargeSlice = 0.2;
constexpr double kSmallSlice = 0.05;
// Time in which a waiter waits again: a judge measures in many short turns.
constexpr double kSmallForMs = 500;
// The share of the limit in use; the rest is for a piece that takes longer than any of late.
constexpr double kUsable = 0.8;
constexpr double kPiecesAhead = 2;
// Asking opens a file (microseconds).
constexpr double kAskEveryMs = 0.3;
// A piece delayed by other processes is forgotten after some hundred pieces.
constexpr double kForget = 0.99;
constexpr double kPaceShare = 0.2;

}  // namespace

Pacer::Pacer(std::shared_ptr<DeviceTurn> turn, double max_hold_ms,
             std::function<void()> synchronize, std::function<Clock::time_point()> now)
    : turn_(std::move(turn)),
      max_hold_ms_(max_hold_ms),
      synchronize_(std::move(synchronize)),
      now_(std::move(now)) {}

double Pacer::Since(Clock::time_point from) const {
  return std::chrono::duration<double, std::milli>(now_() - from).count();
}

double Pacer::slice_ms() const {
  const bool small = wanted_ != Clock::time_point() && Since(wanted_) < kSmallForMs;
  return max_hold_ms_ * (small ? kSmallSlice : kLargeSlice);
}

int64_t Pacer::Rows(int64_t rows, double work_per_row) const {
  if (turn_ == nullptr || ms_per_work_ <= 0 || work_per_row <= 0) return rows;
  const double fit = slice_ms() / (ms_per_work_ * work_per_row);
  if (fit >= static_cast<double>(rows)) return rows;
  return std::min(rows, std::max<int64_t>(8, static_cast<int64_t>(fit) / 8 * 8));
}

void Pacer::Take() {
  if (turn_ == nullptr || holding_) return;
  turn_->Take();
  holding_ = true;
  held_since_ = piece_since_ = asked_ = now_();
  work_ = 0;
}

void Pacer::EndPiece() {
  const double ms = Since(piece_since_);
  longest_piece_ms_ = std::max(ms, longest_piece_ms_ * kForget);
  if (work_ > 0) {
    const double pace = ms / work_;
    ms_per_work_ += (pace - ms_per_work_) * (ms_per_work_ == 0 ? 1 : kPaceShare);
  }
  piece_since_ = now_();
}

void Pacer::Leave() {
  if (!holding_) return;
  if (synchronize_) synchronize_();
  EndPiece();
  longest_hold_ms_ = std::max(longest_hold_ms_, Since(held_since_));
  turn_->Leave();
  holding_ = false;
}

void Pacer::Between(double work) {
  if (!holding_) return;
  EndPiece();
  work_ = 0;
  bool leave = Since(held_since_) + kPiecesAhead * longest_piece_ms_ > max_hold_ms_ * kUsable;
  if (!leave && Since(asked_) >= kAskEveryMs) {
    asked_ = now_();
    if (turn_->IsWanted()) {
      leave = true;
      wanted_ = asked_;
    }
  }
  if (leave) {
    Leave();
    Take();
  }
  work_ = work;
}

}  // namespace davinci::model
