// RunnerLink: what is asked of a runner's process while it runs freely, and what it asks of us.
//
// Every problem is a Failure whose outcome is derived from what the kernel reports (death, signal,
// memory, deadline); what the process says about itself only refines it.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "davinci/base/unique_fd.h"
#include "davinci/judge/roles/compile_requests.h"
#include "davinci/judge/roles/failure.h"
#include "davinci/judge/roles/runner_requests.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

// Within which a process that was forked is ready.
inline constexpr double kReadyTimeoutSeconds = 60;

struct Answer {
  nlohmann::json ok;
  std::vector<UniqueFd> fds;
  std::optional<Failure> failure;
  int64_t cpu_ns = 0;       // that a frozen process used for it
  int64_t main_cpu_ns = 0;  // … its main thread
  int64_t wall_ns = 0;      // from BeginFrozen() to the answer
  int64_t stopped_ns = 0;   // … to where every thread had stopped
  int64_t others_ns = 0;    // … the part of it for which others had the core it waited for
};

class RunnerLink {
 public:
  RunnerLink(std::shared_ptr<worker::Process> process, worker::BuildHandler build);

  // Waits until the child is up; a Failure here is ours.
  std::optional<Failure> AwaitReady(double timeout_seconds);
  const nlohmann::json& sandbox_report() const { return sandbox_report_; }

  // `stage` is the outcome when the process dies: kLoadError while loading, kRuntimeError while
  // running.
  Answer Ask(const to_runner::Request& request, double timeout_seconds, Outcome stage,
             std::span<const int> fds = {});
  // The halves of Ask(). A message that could not be sent shows in what is awaited.
  void Post(const to_runner::Request& request, std::span<const int> fds = {});
  void Send(std::string_view frame, std::span<const int> fds = {});
  Answer Await(double timeout_seconds, Outcome stage);

  CompileRequests& compiles() { return compiles_; }
  worker::Process& process() { return *process_; }

 private:
  std::shared_ptr<worker::Process> process_;
  CompileRequests compiles_;
  nlohmann::json sandbox_report_;
  bool ready_ = false;
};

}  // namespace davinci::judge
