// Oracle: the supervisor's hold on the process that owns reference, seeds, inputs, truth and
// comparison.
//
// It runs the user's reference, never a candidate. A failure here is the task's fault (bad input),
// or ours, or the device's memory ran out (kResourceExhausted).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/oracle_requests.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

class Oracle {
 public:
  // `target`: whose sizes ("cpu", "cuda") a remedy names.
  Oracle(std::shared_ptr<worker::Process> process, std::string target)
      : process_(std::move(process)), target_(std::move(target)) {}

  Status AwaitReady(double timeout_seconds);
  // One request; failures of the reference are kInvalidArgument with file and line.
  Result<worker::Process::Reply> Ask(const to_oracle::Request& request,
                                     std::span<const int> fds = {});
  // Several requests in one message, none with descriptors, done one after the other: the answers
  // up to the first that failed, and how it failed.
  struct Answers {
    std::vector<nlohmann::json> ok;
    Status failure;
  };
  Result<Answers> AskAll(const std::vector<to_oracle::Request>& requests);
  // The halves of Ask(), for overlapping it with other processes; `op` is the request's kOp. All of
  // it may take `timeout_seconds`, or what set_timeout() says.
  Status Post(const to_oracle::Request& request, std::span<const int> fds = {});
  Result<worker::Process::Reply> Await(std::string_view op,
                                       std::optional<double> timeout_seconds = std::nullopt);

  worker::Process& process() { return *process_; }
  // Seconds spent in each kind of request so far, for stage timings.
  const nlohmann::json& seconds() const { return seconds_; }
  // Between two trials: stage timings count for none, timeouts are the default.
  void Rest();
  // A device assertion of the reference failed, which ended this process' CUDA context. With
  // "domain_on_host" in the load request another oracle checks inputs on the host first.
  bool asserted() const { return asserted_; }
  void set_timeout(double seconds) { timeout_seconds_ = seconds; }

 private:
  static constexpr double kTimeoutSeconds = 300;
  // `op`: what has a limit of its own (--load-timeout, --call-timeout), else empty.
  Result<worker::Process::Reply> Receive(std::string_view op, double timeout_seconds);

  std::shared_ptr<worker::Process> process_;
  std::string target_;
  std::string reference_;  // the file loaded last
  nlohmann::json seconds_ = nlohmann::json::object();
  double timeout_seconds_ = kTimeoutSeconds;
  bool ready_ = false;
  bool asserted_ = false;
};

}  // namespace davinci::judge
