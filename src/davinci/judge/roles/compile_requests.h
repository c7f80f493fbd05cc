// CompileRequests: what a runner asks to have compiled, within limits, and what came of it.
//
// Not thread-safe: one thread talks to a runner.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "davinci/judge/roles/failure.h"
#include "davinci/worker/process.h"

namespace davinci::judge {

// CompileLimits bound what a candidate may have compiled in all its life. While a compiler works
// the clock of a call or an import stands, so without these a stream of requests would hold it for
// ever. Waiting for other people's compilations and what comes out of the cache costs nothing of
// `seconds`.
struct CompileLimits {
  double seconds = 120;
  int requests = 256;
};

class CompileRequests {
 public:
  // `build` compiles; null: nothing is compiled for the runner.
  explicit CompileRequests(worker::BuildHandler build);
  // Before the candidate is loaded; the defaults hold otherwise.
  void set_limits(const CompileLimits& limits) { limits_ = limits; }

  bool offered() const { return build_ != nullptr; }
  // Answer() as a handler, which must not outlive this object; null where nothing is compiled.
  worker::BuildHandler handler();
  // The answer to a request; a refusal beyond the limits.
  nlohmann::json Answer(const nlohmann::json& request);
  // `failure` of a runner, with the outcome that its compilations explain: a candidate could not go
  // on without what was not compiled, or not in time.
  Failure Explained(Failure failure) const;
  // The list names what was compiled, {"path", "stage", "key"} each (build/request.h), in order.
  const std::vector<nlohmann::json>& built() const { return built_; }
  // For the next candidate of the same process; the limits stay.
  void Forget();

 private:
  worker::BuildHandler build_;
  CompileLimits limits_;
  double seconds_ = 0;  // of compilers at work
  int num_requests_ = 0;
  bool last_timed_out_ = false;
  std::vector<nlohmann::json> built_;
  std::string machine_lacks_;  // why the last one could not be tried; empty where it was
};

}  // namespace davinci::judge
