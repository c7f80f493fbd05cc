#include "davinci/judge/roles/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

namespace davinci::judge {

using nlohmann::json;

namespace {

// What torch, numpy and Python say where the host has no such memory.
bool SaysNoMemory(std::string_view message) {
  for (const std::string_view words :
       {"can't allocate memory", "not enough memory", "Unable to allocate", "MemoryError"})
    if (message.find(words) != std::string_view::npos) return true;
  return false;
}

std::string SmallerSizes(const std::string& reference, const std::string& target) {
  const auto sidecar = std::filesystem::path(reference).replace_extension(".toml");
  return fmt::format("use smaller sizes ([sizes.{}] in {})", target, sidecar.string());
}

// `op`: of a request with a limit of its own, else empty.
std::string Late(std::string_view op, double timeout_seconds, const std::string& reference,
                 const std::string& smaller_sizes) {
  if (op == "load")
    return fmt::format(
        "{}: importing the reference did not finish within {:.3g} s; do less on import, or allow "
        "more (--load-timeout)",
        reference, timeout_seconds);
  return fmt::format("{}: the reference did not finish within {:.3g} s{}; {}{}", reference,
                     timeout_seconds, op == "describe" ? " for its first calls" : "", smaller_sizes,
                     op == "describe" ? ", or allow more (--call-timeout)" : "");
}

// Of {"error": …}.
Status StatusOf(const json& error, const std::string& smaller_sizes, bool* asserted) {
  std::string message = error.value("message", std::string("unknown"));
  const std::string kind = error.value("kind", std::string());
  if (kind == "device_assert") {
    *asserted = true;
    return Unavailable("the oracle lost its device: " + message);
  }
  if (kind == "judge_error") return Internal("oracle: " + message);
  if (kind == "out_of_memory" || kind == "too_large") return ResourceExhausted(std::move(message));
  if (kind != "reference_error") return InvalidArgument(std::move(message));
  // Its own calls, as it was written; what else is asked of it says so itself.
  const bool plain = error.value("op", "") == "load" || error.value("op", "") == "describe";
  if (SaysNoMemory(message))
    message += "; " + smaller_sizes;
  else if (plain)
    message += "; the reference has to run by itself, on what its get_inputs() returns";
  return InvalidArgument(std::move(message));
}

Status Send(worker::Process& process, const json& message, std::span<const int> fds) {
  const Status posted = process.Post(message, fds);
  return posted.ok() ? posted : Status(posted.code(), "the oracle ended: " + posted.message());
}

// Adds the seconds of an answer to those of its kind.
void Book(json* seconds, std::string_view op, const json& answer) {
  (*seconds)[op] = seconds->value(op, 0.0) + answer.value("seconds", 0.0);
}

}  // namespace

Status Oracle::AwaitReady(double timeout_seconds) {
  if (ready_) return Status::Ok();
  const Status ready = process_->AwaitReady(timeout_seconds).status();
  ready_ = ready.ok();
  return ready_ ? ready : Status(ready.code(), "the oracle did not start: " + ready.message());
}

Status Oracle::Post(const to_oracle::Request& request, std::span<const int> fds) {
  if (const auto* load = std::get_if<to_oracle::Load>(&request)) reference_ = load->path;
  return Send(*process_, ToJson(request), fds);
}

Result<worker::Process::Reply> Oracle::Await(std::string_view op,
                                             std::optional<double> timeout_seconds) {
  auto reply = timeout_seconds ? Receive(op, *timeout_seconds) : Receive("", timeout_seconds_);
  if (reply.ok()) Book(&seconds_, op, reply->ok);
  return reply;
}

Result<Oracle::Answers> Oracle::AskAll(const std::vector<to_oracle::Request>& requests) {
  DAVINCI_RETURN_IF_ERROR(Send(*process_, to_oracle::ToJson(requests), {}));
  DAVINCI_ASSIGN_OR_RETURN(auto reply, Receive("", timeout_seconds_));
  Answers answers;
  for (json& answer : reply.ok.at("answers")) {
    if (answers.ok.size() == requests.size()) break;
    Book(&seconds_, OpOf(requests[answers.ok.size()]), answer);
    answers.ok.push_back(std::move(answer));
  }
  if (const auto error = reply.ok.find("error"); error != reply.ok.end())
    answers.failure = StatusOf(*error, SmallerSizes(reference_, target_), &asserted_);
  else if (answers.ok.size() < requests.size())
    answers.failure = Internal("the oracle left a request without an answer");
  return answers;
}

Result<worker::Process::Reply> Oracle::Ask(const to_oracle::Request& request,
                                           std::span<const int> fds) {
  DAVINCI_RETURN_IF_ERROR(Post(request, fds));
  return Await(OpOf(request));
}

Result<worker::Process::Reply> Oracle::Receive(std::string_view op, double timeout_seconds) {
  auto reply = process_->Await(timeout_seconds);
  if (!reply.ok()) {
    if (reply.status().code() == StatusCode::kDeadlineExceeded) {
      process_->Kill();
      return InvalidArgument(
          Late(op, timeout_seconds, reference_, SmallerSizes(reference_, target_)));
    }
    const auto death = process_->WaitForDeath(1.0);
    // The kernel's out-of-memory killer reports only to its own log.
    const bool killed = death && !death->exited && death->signal == SIGKILL;
    return Unavailable(fmt::format(
        "{}: the oracle {}{}", reference_, death ? death->Describe() : "went silent",
        killed ? ", most likely for want of memory; " + SmallerSizes(reference_, target_) : ""));
  }
  if (reply->failed()) return StatusOf(reply->error, SmallerSizes(reference_, target_), &asserted_);
  return reply;
}

void Oracle::Rest() {
  seconds_ = json::object();
  timeout_seconds_ = kTimeoutSeconds;
}

}  // namespace davinci::judge
