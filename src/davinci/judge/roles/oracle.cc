#include "davinci/judge/roles/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "davinci/judge/roles/output_arena.h"

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

}  // namespace

Status Oracle::FromError(const json& error) {
  std::string message = error.value("message", std::string("unknown"));
  const std::string kind = error.value("kind", std::string());
  if (kind == "device_assert") {
    asserted_ = true;
    return Unavailable("the oracle lost its device: " + message);
  }
  if (kind == "judge_error") return Internal("oracle: " + message);
  if (kind == "out_of_memory" || kind == "too_large") return ResourceExhausted(std::move(message));
  if (kind != "reference_error") return InvalidArgument(std::move(message));
  // Its own calls, as it was written; what else is asked of it says so itself.
  const bool plain = error.value("op", "") == "load" || error.value("op", "") == "describe";
  if (SaysNoMemory(message))
    message += "; " + SmallerSizes();
  else if (plain)
    message += "; the reference has to run by itself, on what its get_inputs() returns";
  return InvalidArgument(std::move(message));
}

Status Oracle::AwaitReady(double timeout_seconds) {
  if (ready_) return Status::Ok();
  const Status ready = process_->AwaitReady(timeout_seconds).status();
  ready_ = ready.ok();
  return ready_ ? ready : Status(ready.code(), "the oracle did not start: " + ready.message());
}

Status Oracle::Post(const json& message, std::span<const int> fds) {
  if (message.at("op") == "load") reference_ = message.at("path");
  const Status posted = process_->Post(message, fds);
  return posted.ok() ? posted : Status(posted.code(), "the oracle ended: " + posted.message());
}

Result<json> Oracle::AwaitLoad(double timeout_seconds) {
  DAVINCI_ASSIGN_OR_RETURN(auto reply, Receive(Stage::kImport, timeout_seconds));
  Book("load", reply.ok);
  return reply.ok;
}

Result<worker::Process::Reply> Oracle::Await(const std::string& op) {
  auto reply = Receive();
  if (reply.ok()) Book(op, reply->ok);
  return reply;
}

void Oracle::Book(const std::string& op, const json& answer) {
  seconds_[op] = seconds_.value(op, 0.0) + answer.value("seconds", 0.0);
}

Result<Oracle::Answers> Oracle::AskAll(const std::vector<json>& requests) {
  DAVINCI_RETURN_IF_ERROR(Post({{"op", "several"}, {"requests", requests}}));
  DAVINCI_ASSIGN_OR_RETURN(auto reply, Receive());
  Answers answers;
  for (json& answer : reply.ok.at("answers")) {
    if (answers.ok.size() == requests.size()) break;
    Book(requests[answers.ok.size()].at("op").get<std::string>(), answer);
    answers.ok.push_back(std::move(answer));
  }
  if (const auto error = reply.ok.find("error"); error != reply.ok.end())
    answers.failure = FromError(*error);
  else if (answers.ok.size() < requests.size())
    answers.failure = Internal("the oracle left a request without an answer");
  return answers;
}

Result<worker::Process::Reply> Oracle::Ask(const json& message, std::span<const int> fds) {
  DAVINCI_RETURN_IF_ERROR(Post(message, fds));
  return Await(message.at("op").get<std::string>());
}

std::string Oracle::SmallerSizes() const {
  const auto sidecar = std::filesystem::path(reference_).replace_extension(".toml");
  return fmt::format("use smaller sizes ([sizes.{}] in {})", target_, sidecar.string());
}

std::string Oracle::Late(Stage stage, double timeout_seconds) const {
  if (stage == Stage::kImport)
    return fmt::format(
        "{}: importing the reference did not finish within {:.3g} s; do less on import, or allow "
        "more (--load-timeout)",
        reference_, timeout_seconds);
  return fmt::format("{}: the reference did not finish within {:.3g} s{}; {}{}", reference_,
                     timeout_seconds, stage == Stage::kDescribe ? " for its first calls" : "",
                     SmallerSizes(),
                     stage == Stage::kDescribe ? ", or allow more (--call-timeout)" : "");
}

Result<worker::Process::Reply> Oracle::Receive(Stage stage, double timeout_seconds) {
  auto reply = process_->Await(timeout_seconds);
  if (!reply.ok()) {
    if (reply.status().code() == StatusCode::kDeadlineExceeded) {
      process_->Kill();
      return InvalidArgument(Late(stage, timeout_seconds));
    }
    const auto death = process_->WaitForDeath(1.0);
    // The kernel's out-of-memory killer reports only to its own log.
    const bool killed = death && !death->exited && death->signal == SIGKILL;
    return Unavailable(
        fmt::format("{}: the oracle {}{}", reference_, death ? death->Describe() : "went silent",
                    killed ? ", most likely for want of memory; " + SmallerSizes() : ""));
  }
  if (reply->failed()) return FromError(reply->error);
  return reply;
}

void Oracle::Rest() {
  seconds_ = json::object();
  timeout_seconds_ = kTimeoutSeconds;
}

Result<VariantFacts> Oracle::Describe(int variant, uint64_t seed, double timeout_seconds) {
  DAVINCI_RETURN_IF_ERROR(Post({{"op", "describe"}, {"variant", variant}, {"seed", seed}}));
  DAVINCI_ASSIGN_OR_RETURN(auto reply, Receive(Stage::kDescribe, timeout_seconds));
  Book("describe", reply.ok);
  const json& d = reply.ok;
  VariantFacts facts;
  facts.raw = d;
  facts.init = d.value("init", std::string());
  facts.structure = d.value("structure", std::string());
  for (const json& o : d.at("outputs")) {
    OutputTensor tensor;
    tensor.dtype = o.at("dtype").get<std::string>();
    tensor.shape = o.at("shape").get<std::vector<int64_t>>();
    tensor.stride = o.at("stride").get<std::vector<int64_t>>();
    facts.outputs.push_back(std::move(tensor));
  }
  facts.inputs = d.at("inputs");
  facts.slot_bytes = d.at("slot_bytes").get<int64_t>();
  facts.num_slots = d.at("slots").get<int>();
  facts.stochastic = d.value("stochastic", false);
  facts.reseed_calls = d.value("reseed_calls", false);
  facts.lent = d.at("lent").get<std::vector<bool>>();
  facts.begins = d.at("begins").get<std::vector<int>>();
  facts.regions = d.at("regions").get<std::vector<int>>();
  const size_t count = facts.outputs.size();
  if (facts.lent.size() != count || facts.begins.size() != count || facts.regions.size() != count)
    return Internal("the oracle described its outputs' memory in another number than its outputs");
  for (size_t i = 0; i < facts.outputs.size(); ++i)
    if (OverlapsItself(facts.outputs[i])) facts.lent[i] = true;
  if (d.at("mode").is_string()) facts.mode = d.at("mode").get<std::string>();
  return facts;
}

}  // namespace davinci::judge
