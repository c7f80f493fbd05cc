#include "davinci/judge/roles/compile_requests.h"

#include <fmt/format.h>

#include <utility>

#include "davinci/judge/roles/untrusted_json.h"

namespace davinci::judge {

using nlohmann::json;

CompileRequests::CompileRequests(worker::BuildHandler build) : build_(std::move(build)) {}

worker::BuildHandler CompileRequests::handler() {
  if (!build_) return nullptr;
  return [this](const json& request) { return Answer(request); };
}

json CompileRequests::Answer(const json& request) {
  const auto refuse = [&](std::string why) {
    last_timed_out_ = true;
    return json{{"ok", false}, {"error", {{"kind", "timeout"}, {"message", std::move(why)}}}};
  };
  if (++num_requests_ > limits_.requests)
    return refuse(
        fmt::format("the candidate asked for more than {} compilations", limits_.requests));
  if (seconds_ >= limits_.seconds)
    return refuse(
        fmt::format("compiling for the candidate took more than {:.3g} s in all", limits_.seconds));
  json outcome = build_(request);
  if (!outcome.value("cached", false))
    for (const json& step : outcome.value("steps", json::array()))
      seconds_ += step.value("seconds", 0.0);
  if (outcome.value("ok", false))
    built_.push_back({{"path", outcome.value("path", "")},
                      {"stage", outcome.value("stage", "")},
                      {"key", outcome.value("key", "")}});
  const auto error = outcome.find("error");
  const std::string kind = error == outcome.end() ? "" : TextIn(*error, "kind");
  last_timed_out_ = kind == "timeout";
  // A missing CUDA compiler is the candidate's failure; a missing C++ compiler is ours.
  const auto cuda_sources = request.find("cuda_sources");
  const bool wants_cuda = FlagIn(request, "with_cuda") || TextIn(request, "kind") == "cubin" ||
                          (cuda_sources != request.end() && !cuda_sources->empty());
  const bool ours = kind == "service" || (kind == "unavailable" && !wants_cuda);
  machine_lacks_ = ours ? TextIn(*error, "message") : "";
  return outcome;
}

Failure CompileRequests::Explained(Failure failure) const {
  if (last_timed_out_ && failure.outcome == Outcome::kCompileError)
    failure.outcome = Outcome::kTimeout;
  if (!machine_lacks_.empty() && failure.outcome == Outcome::kCompileError)
    failure = {Outcome::kJudgeError, "the candidate could not be compiled: " + machine_lacks_, {}};
  return failure;
}

void CompileRequests::Forget() {
  seconds_ = 0;
  num_requests_ = 0;
  last_timed_out_ = false;
  built_.clear();
  machine_lacks_.clear();
}

}  // namespace davinci::judge
