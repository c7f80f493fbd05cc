// Oracle: the supervisor's hold on the process that owns reference, seeds, inputs, truth and
// comparison.
//
// It runs the user's reference, never a candidate. A failure here is the task's fault (bad input),
// or ours, or the device's memory ran out (kResourceExhausted).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/judge/roles/call.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

// What one shape variant of a task looks like; the runner builds its own from `init`.
struct VariantFacts {
  nlohmann::json raw;
  std::string init;                   // pickled constructor arguments, opaque
  std::string structure;              // of the output
  std::vector<OutputTensor> outputs;  // dtype, shape, stride expected
  nlohmann::json inputs;              // arena layout
  int64_t slot_bytes = 0;
  int num_slots = 0;
  bool stochastic = false;
  bool reseed_calls = false;
  // Of each output: whether it is lent, lying in an input's memory or in the module's or
  // overlapping itself, and numbers that those have in common which begin at one address, and
  // whose memory overlaps.
  std::vector<bool> lent;
  std::vector<int> begins;
  std::vector<int> regions;
  std::string mode;  // "", "train", "eval"
};

class Oracle {
 public:
  // `target`: whose sizes ("cpu", "cuda") a remedy names.
  Oracle(std::shared_ptr<worker::Process> process, std::string target)
      : process_(std::move(process)), target_(std::move(target)) {}

  Status AwaitReady(double timeout_seconds);
  // One request; failures of the reference are kInvalidArgument with file and line.
  Result<worker::Process::Reply> Ask(const nlohmann::json& message, std::span<const int> fds = {});
  // Several requests in one message, none with descriptors, done one after the other: the answers
  // up to the first that failed, and how it failed.
  struct Answers {
    std::vector<nlohmann::json> ok;
    Status failure;
  };
  Result<Answers> AskAll(const std::vector<nlohmann::json>& requests);
  // The halves of Ask(), for overlapping it with other processes; `op` names what was asked.
  Status Post(const nlohmann::json& message, std::span<const int> fds = {});
  Result<worker::Process::Reply> Await(const std::string& op);
  // Of "load", which imports the task file: that may take so long.
  Result<nlohmann::json> AwaitLoad(double timeout_seconds);
  // The first request that runs forward, some six times and twice of those in float64. All of it
  // may take so long.
  Result<VariantFacts> Describe(int variant, uint64_t seed, double timeout_seconds);
  // What Describe() may take where a call may take `call_seconds`: five minutes by default.
  static double DescribeSeconds(double call_seconds) { return 60 + 12 * call_seconds; }

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
  enum class Stage { kImport, kDescribe, kLater };
  Result<worker::Process::Reply> Receive() { return Receive(Stage::kLater, timeout_seconds_); }
  Result<worker::Process::Reply> Receive(Stage stage, double timeout_seconds);
  Status FromError(const nlohmann::json& error);
  std::string Late(Stage stage, double timeout_seconds) const;
  std::string SmallerSizes() const;
  void Book(const std::string& op, const nlohmann::json& answer);

  std::shared_ptr<worker::Process> process_;
  std::string target_;
  std::string reference_;  // the file loaded last
  nlohmann::json seconds_ = nlohmann::json::object();
  double timeout_seconds_ = kTimeoutSeconds;
  bool ready_ = false;
  bool asserted_ = false;
};

}  // namespace davinci::judge
