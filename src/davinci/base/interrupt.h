// InterruptWatch: signals that ask a command for an orderly end.
//
//   first SIGINT, SIGTERM or SIGUSR1   requested() is true, `on_request` is called
//   later SIGINT or SIGTERM            ends the process, as without a handler
//   later SIGUSR1                      no effect
//
// mpirun passes SIGUSR1 on to all ranks; Slurm can send it before a time limit.
#pragma once

#include <array>
#include <csignal>
#include <functional>
#include <thread>

namespace davinci {

// One at a time in a process. A new one has seen no signal; its end restores the handlers that it
// found.
class InterruptWatch {
 public:
  // `on_request` is called at most once, by a thread of this watch, up to 0.1 s after the signal:
  // a handler may not lock, this thread may. It may be empty.
  explicit InterruptWatch(std::function<void()> on_request = nullptr);
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  bool requested() const;
  // Returns once requested().
  void Wait() const;

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGUSR1};
  std::array<struct sigaction, kSignals.size()> previous_{};
  std::jthread thread_;
};

}  // namespace davinci
