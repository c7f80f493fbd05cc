#include "davinci/worker/process.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>

namespace davinci::worker {

using nlohmann::json;

namespace {

// A thread that ran for less went back to sleep.
constexpr int64_t kWorkNs = 20'000;

}  // namespace

std::string Death::Describe() const {
  if (exited && exit_code == 128 + SIGABRT) return "was ended by abort() (SIGABRT)";
  if (exited) return fmt::format("exited with code {}", exit_code);
  const char* name = sigabbrev_np(signal);
  return fmt::format("was killed by SIG{} ({})", name != nullptr ? name : "?", strsignal(signal));
}

Status Process::Post(const json& message, std::span<const int> fds) {
  return SendFrame(EncodeFrame(message), fds);
}

Result<Process::Reply> Process::Request(const json& message, double timeout_seconds,
                                        std::span<const int> fds) {
  DAVINCI_RETURN_IF_ERROR(Post(message, fds));
  return Await(timeout_seconds);
}

CoreTimes CoreTimes::Since(const CoreTimes& before) const {
  const auto since = [](int64_t now, int64_t then) { return std::max(now - then, int64_t{0}); };
  CoreTimes times;
  times.main_ran_ns = since(main_ran_ns, before.main_ran_ns);
  times.ran_ns = since(ran_ns, before.ran_ns);
  times.waited_ns = times.main_waited_ns = since(main_waited_ns, before.main_waited_ns);
  for (const Thread& now : others) {
    const auto then = std::ranges::lower_bound(before.others, now.tid, {}, &Thread::tid);
    const Thread was = then != before.others.end() && then->tid == now.tid ? *then : Thread();
    if (now.ran_ns - was.ran_ns >= kWorkNs) times.waited_ns += since(now.waited_ns, was.waited_ns);
  }
  return times;
}

int64_t CoreTimes::OthersNs() const {
  return std::max(main_waited_ns - std::max(ran_ns - main_ran_ns, int64_t{0}), int64_t{0});
}

}  // namespace davinci::worker
