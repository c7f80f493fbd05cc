#include "davinci/base/interrupt.h"

#include <atomic>
#include <utility>

#include "davinci/base/cancel.h"

namespace davinci {
namespace {

constexpr double kPollSeconds = 0.1;

std::atomic<int> signals{0};

void OnSignal(int signal) {
  if (signals.fetch_add(1) == 0 || signal == SIGUSR1) return;
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

}  // namespace

InterruptWatch::InterruptWatch(std::function<void()> on_request) {
  signals = 0;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &previous_[i]);
  if (!on_request) return;
  thread_ = std::jthread([on_request = std::move(on_request)](const std::stop_token& ended) {
    while (SleepUnlessCancelled(kPollSeconds, ended))
      if (signals > 0) return on_request();
  });
}

InterruptWatch::~InterruptWatch() {
  thread_ = {};  // ended and joined
  for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &previous_[i], nullptr);
}

bool InterruptWatch::requested() const { return signals > 0; }

void InterruptWatch::Wait() const {
  while (!requested()) SleepUnlessCancelled(kPollSeconds, {});
}

}  // namespace davinci
