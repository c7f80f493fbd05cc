#include "davinci/judge/roles/runner.h"

#include <fmt/format.h>
#include <sched.h>

#include <csignal>
#include <cstring>
#include <limits>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/base/utf8.h"
#include "davinci/judge/roles/untrusted_json.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

using nlohmann::json;
using worker::Process;

constexpr double kDeathGraceSeconds = 0.3;
// A deadline is put off by the time without a core, by at most this many times itself.
constexpr double kMostPutOff = 9;
// A call that lasts is looked after this often.
constexpr double kAskWhileSlowSeconds = 0.1;
// … and not by less than this share of itself.
constexpr double kLeastPutOff = 0.01;
constexpr size_t kMessageBytes = 4000;
constexpr size_t kLastWordsBytes = 400;
// Outputs and buffers of one call that are read: more than any network has.
constexpr size_t kMaxOutputs = 1 << 14;
constexpr size_t kMaxExports = 1 << 16;
// Bytes of a message that surely fit into a control socket, whose buffer has 208 KiB by default:
// whether sent by a process that is stopped next or to one that is stopped, all of it is there.
constexpr size_t kSentAtOnceBytes = 64 << 10;

// What the runner's exception says, as a Failure. Only outcomes a candidate may claim for itself
// are accepted.
Failure FromReply(const json& error, Outcome stage) {
  Failure failure;
  const auto claimed = ParseOutcome(TextIn(error, "kind"));
  failure.outcome = stage;
  if (claimed) {
    switch (*claimed) {
      case Outcome::kParseError:
      case Outcome::kCompileError:
      case Outcome::kLoadError:
      case Outcome::kLaunchError:
      case Outcome::kRuntimeError:
      case Outcome::kOutOfMemory:
        failure.outcome = *claimed;
        break;
      default:
        break;
    }
  }
  failure.message = ElideMiddle(TextIn(error, "message"), kMessageBytes);
  if (const auto line = error.find("line"); line != error.end() && line->is_number_integer())
    failure.message +=
        fmt::format("{}(line {})", failure.message.find('\n') == std::string::npos ? " " : "\n",
                    line->get<int64_t>());
  if (const std::string trace = TextIn(error, "traceback"); !trace.empty())
    failure.evidence.traceback = ElideMiddle(trace, kMessageBytes);
  if (FlagIn(error, "never_fits")) failure.evidence.rule = Rule::kLargerThanDevice;
  return failure;
}

// Without what is blank at the end of the text; a process may write any bytes.
std::string LastLine(std::string_view text) {
  const size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  return ValidUtf8(text.substr(text.rfind('\n') + 1));
}

std::vector<int64_t> Integers(const json& object, const char* key) {
  std::vector<int64_t> values;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return values;
  for (const json& item : *found)
    if (item.is_number_integer()) values.push_back(item.get<int64_t>());
  return values;
}

// JSON has no infinities: they come as "nan", "inf" and "-inf".
std::optional<double> Number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

void ReadOutputs(const json& done, CallResult* result) {
  result->structure = TextIn(done, "structure");
  if (const auto inner = done.find("inner_ns"); inner != done.end() && inner->is_number_integer())
    result->inner_ns = inner->get<int64_t>();
  const auto outputs = done.find("outputs");
  if (outputs == done.end() || !outputs->is_array()) return;
  for (const json& item : *outputs) {
    if (!item.is_object() || result->outputs.size() >= kMaxOutputs) break;
    OutputTensor tensor;
    if (const auto ptr = item.find("ptr"); ptr != item.end() && ptr->is_number_unsigned())
      tensor.address = ptr->get<uint64_t>();
    tensor.dtype = TextIn(item, "dtype");
    tensor.shape = Integers(item, "shape");
    tensor.stride = Integers(item, "stride");
    tensor.device = TextIn(item, "device");
    tensor.plain = FlagIn(item, "plain");
    if (const auto value = item.find("value"); value != item.end()) tensor.value = Number(*value);
    if (const auto ipc = item.find("ipc"); ipc != item.end()) tensor.ipc = *ipc;
    result->outputs.push_back(std::move(tensor));
  }
}

// While it lives and if `bind`, the calling thread runs on the last core it may use.
class LastCore {
 public:
  explicit LastCore(bool bind) {
    if (!bind || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    for (int core = CPU_SETSIZE; core-- > 0;) {
      if (!CPU_ISSET(core, &before_)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      bound_ = sched_setaffinity(0, sizeof one, &one) == 0;
      return;
    }
  }
  ~LastCore() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }
  LastCore(const LastCore&) = delete;
  LastCore& operator=(const LastCore&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

}  // namespace

Runner::Runner(std::shared_ptr<Process> process, worker::BuildHandler build)
    : process_(std::move(process)), build_(std::move(build)) {}

json Runner::Build(const json& request) {
  const auto refuse = [&](std::string why) {
    last_build_timed_out_ = true;
    return json{{"ok", false}, {"error", {{"kind", "timeout"}, {"message", std::move(why)}}}};
  };
  if (++num_builds_ > compile_limits_.requests)
    return refuse(
        fmt::format("the candidate asked for more than {} compilations", compile_limits_.requests));
  if (compile_seconds_ >= compile_limits_.seconds)
    return refuse(fmt::format("compiling for the candidate took more than {:.3g} s in all",
                              compile_limits_.seconds));
  json outcome = build_(request);
  if (!outcome.value("cached", false))
    for (const json& step : outcome.value("steps", json::array()))
      compile_seconds_ += step.value("seconds", 0.0);
  if (outcome.value("ok", false))
    built_.push_back({{"path", outcome.value("path", "")},
                      {"stage", outcome.value("stage", "")},
                      {"key", outcome.value("key", "")}});
  const auto error = outcome.find("error");
  const std::string kind = error == outcome.end() ? "" : TextIn(*error, "kind");
  last_build_timed_out_ = kind == "timeout";
  // A missing CUDA compiler is the candidate's failure; a missing C++ compiler is ours.
  const auto cuda_sources = request.find("cuda_sources");
  const bool wants_cuda = FlagIn(request, "with_cuda") || TextIn(request, "kind") == "cubin" ||
                          (cuda_sources != request.end() && !cuda_sources->empty());
  const bool ours = kind == "service" || (kind == "unavailable" && !wants_cuda);
  machine_lacks_ = ours ? TextIn(*error, "message") : "";
  return outcome;
}

// A candidate that could not go on without what was not compiled, or not in time.
Failure Runner::FromError(const json& error, Outcome stage) const {
  Failure failure = FromReply(error, stage);
  if (last_build_timed_out_ && failure.outcome == Outcome::kCompileError)
    failure.outcome = Outcome::kTimeout;
  if (!machine_lacks_.empty() && failure.outcome == Outcome::kCompileError)
    failure = {Outcome::kJudgeError, "the candidate could not be compiled: " + machine_lacks_, {}};
  return failure;
}

std::optional<Failure> Runner::AwaitReady(double timeout_seconds) {
  if (ready_) return std::nullopt;
  auto report = process_->AwaitReady(timeout_seconds);
  if (!report.ok()) {
    Failure failure;
    failure.message = report.status().ToString();
    return failure;
  }
  sandbox_report_ = report->value("sandbox", json::object());
  ready_ = true;
  return std::nullopt;
}

double Runner::LongestWait(double timeout_seconds) { return (1 + kMostPutOff) * timeout_seconds; }

double Runner::WithoutCoreSeconds(const worker::CoreTimes& before, double timeout_seconds) const {
  const int64_t waited = process_->ReadCoreTimes().Since(before).waited_ns;
  return std::min(1e-9 * static_cast<double>(waited), kMostPutOff * timeout_seconds);
}

Failure Runner::Classify(const Status& status, Outcome stage, double timeout_seconds) {
  Failure failure;
  failure.outcome = stage;
  if (status.code() == StatusCode::kDeadlineExceeded) {
    failure.outcome = Outcome::kTimeout;
    failure.message = fmt::format("{} did not finish within {:.3g} s and was stopped",
                                  stage == Outcome::kLoadError ? "loading the module" : "forward",
                                  timeout_seconds);
    process_->Kill();
    return failure;
  }
  if (status.code() == StatusCode::kInvalidArgument) {
    process_->Kill();
    return Broken(Rule::kControlChannel,
                  "the candidate wrote to the judge's control channel: " + status.message());
  }
  const auto death = process_->WaitForDeath(kDeathGraceSeconds);
  if (!death) {
    process_->Kill();
    return Broken(Rule::kControlChannel, "the candidate closed the judge's control channel");
  }
  const std::string tail = process_->OutputTail();
  if (process_->exceeded_memory()) {
    failure = Broken(Rule::kMemoryLimit, "the candidate exceeded its memory limit and was stopped");
  } else if (death->signal == SIGKILL) {
    failure.outcome = Outcome::kOutOfMemory;
    failure.message =
        "the candidate was killed by the system, most likely for using too much memory";
  } else if (death->signal == SIGSYS) {
    failure =
        Broken(Rule::kForbiddenSyscall, "the candidate made a system call the sandbox forbids");
  } else if (death->signal == SIGXFSZ) {
    failure = Broken(Rule::kDiskLimit, "the candidate wrote more to disk than it may");
  } else {
    failure.message = fmt::format("the candidate's process {} while {}", death->Describe(),
                                  stage == Outcome::kLoadError ? "loading" : "running forward");
    if (const std::string words = LastLine(tail); !words.empty())
      failure.message += fmt::format("; its last words: {}", ElideMiddle(words, kLastWordsBytes));
  }
  failure.evidence.death = death->Describe();
  if (!tail.empty()) failure.evidence.output_tail = ElideMiddle(tail, kMessageBytes);
  return failure;
}

void Runner::Post(const json& message, std::span<const int> fds) {
  Send(worker::EncodeFrame(message), fds);
}

void Runner::Send(std::string_view frame, std::span<const int> fds) {
  if (const Status sent = process_->SendFrame(frame, fds); !sent.ok()) post_error_ = sent;
}

Answer Runner::Await(double timeout_seconds, Outcome stage) {
  Answer answer;
  worker::BuildHandler build;
  if (build_) build = [this](const json& request) { return Build(request); };
  const worker::CoreTimes before = process_->ReadCoreTimes();
  auto reply = process_->Await(timeout_seconds, build);
  for (double put_off = 0; reply.status().code() == StatusCode::kDeadlineExceeded;) {
    const double more = WithoutCoreSeconds(before, timeout_seconds) - put_off;
    if (more < kLeastPutOff * timeout_seconds) break;
    put_off += more;
    reply = process_->Await(more, build);
  }
  if (!reply.ok()) {
    answer.failure = Classify(reply.status(), stage, timeout_seconds);
  } else if (reply->failed()) {
    answer.failure = FromError(reply->error, stage);
  } else if (!reply->ok.is_object()) {
    answer.failure = Classify(InvalidArgument("malformed reply"), stage, timeout_seconds);
  } else {
    answer.ok = std::move(reply->ok);
    answer.fds = std::move(reply->fds);
  }
  return answer;
}

Answer Runner::Ask(const json& message, double timeout_seconds, Outcome stage,
                   std::span<const int> fds) {
  Post(message, fds);
  return Await(timeout_seconds, stage);
}

std::optional<Failure> Runner::StartCalls() {
  if (const Status status = process_->Freeze(); !status.ok())
    return Classify(Unavailable(status.message()), Outcome::kRuntimeError, 0);
  frozen_ = true;
  cpu_when_frozen_ns_ = process_->CpuNs();
  return std::nullopt;
}

void Runner::EndCalls() {
  if (frozen_) (void)process_->Thaw();
  frozen_ = false;
}

bool Runner::Forget(double timeout_seconds) {
  const Answer answer = AskFrozen({{"op", "forget"}}, timeout_seconds);
  last_structure_.clear();
  last_outputs_.clear();
  exports_.clear();
  built_.clear();
  num_builds_ = 0;
  compile_seconds_ = 0;
  last_build_timed_out_ = false;
  machine_lacks_.clear();
  EndCalls();
  return !answer.failure && FlagIn(answer.ok, "clean");
}

CallResult Runner::Call(const CallOptions& options) {
  CallResult result;
  auto fail = [&](const Status& status) {
    result.failure = Classify(status, Outcome::kRuntimeError, options.timeout_seconds);
    return result;
  };
  armed_ = false;
  std::string go(worker::kGo);
  if (options.seed) go.append(reinterpret_cast<const char*>(&*options.seed), sizeof *options.seed);
  if (const Status status = process_->SendFrame(go); !status.ok()) return fail(status);
  const int64_t cpu_before = process_->CpuNs();
  result.outside_cpu_ns = cpu_before - cpu_when_frozen_ns_;

  const LastCore bound(options.bind_to_last_core);
  const worker::CoreTimes cores_before = process_->ReadCoreTimes();
  const int64_t own_wait_before = process_->OwnCoreWaitNs();
  const int64_t start = MonotonicNs();
  int64_t compiling_ns = 0;  // the clock of the deadline stands meanwhile
  double put_off = 0;
  bool slow = false;
  int num_gates = 0;
  if (const Status status = process_->Thaw(); !status.ok()) return fail(status);
  result.start_ns = start;
  if (options.on_thawed) options.on_thawed();
  while (true) {
    const double allowed = options.timeout_seconds + put_off -
                           1e-9 * static_cast<double>(MonotonicNs() - start - compiling_ns);
    if (allowed <= 0) return fail(DeadlineExceeded("the candidate only asked for compilations"));
    const bool seen = options.spin_seconds > 0 && process_->SpinUntilReadable(options.spin_seconds);
    const bool impatient = options.on_slow && !slow && options.patience_seconds < allowed;
    const bool asking = slow && options.while_slow && allowed > 2 * kAskWhileSlowSeconds;
    const double patience = impatient ? options.patience_seconds
                            : asking  ? kAskWhileSlowSeconds
                                      : allowed;
    const Status waited = seen ? Status::Ok() : process_->Wait(patience);
    if (impatient && waited.code() == StatusCode::kDeadlineExceeded) {
      slow = true;
      options.on_slow();
      continue;
    }
    if (asking && waited.code() == StatusCode::kDeadlineExceeded) {
      result.failure = options.while_slow();
      if (!result.failure) continue;
      process_->Kill();
      return result;
    }
    if (waited.code() == StatusCode::kDeadlineExceeded) {
      const double more = WithoutCoreSeconds(cores_before, options.timeout_seconds) - put_off;
      if (more >= kLeastPutOff * options.timeout_seconds) {
        put_off += more;
        continue;
      }
    }
    if (!waited.ok()) return fail(waited);
    // A longer reply is read while the process writes it, and the clock runs until all of it is
    // there.
    std::optional<Result<worker::Message>> early;
    if (process_->WaitingBytes() > kSentAtOnceBytes) early = process_->Receive(allowed);
    const int64_t done = MonotonicNs();
    const int64_t cpu_when_done = process_->CpuNs();
    const Status stopped = process_->Freeze();
    const int64_t frozen = MonotonicNs();
    if (!stopped.ok()) return fail(Unavailable(stopped.message()));
    cpu_when_frozen_ns_ = process_->CpuNs();
    result.wall_ns = done - start;
    result.cores = process_->ReadCoreTimes().Since(cores_before);
    result.core_wait_ns = result.cores.main_waited_ns + process_->OwnCoreWaitNs() - own_wait_before;
    result.freeze_ns = frozen - done;
    result.cpu_ns = cpu_when_frozen_ns_ - cpu_before;
    result.tail_cpu_ns = cpu_when_frozen_ns_ - cpu_when_done;

    auto message = early ? std::move(*early) : process_->Receive(0.05);
    if (!message.ok() && message.status().code() == StatusCode::kDeadlineExceeded) {
      result.failure =
          Broken(Rule::kControlChannel,
                 "the candidate wrote to the judge's control channel: an incomplete reply");
      process_->Kill();
      return result;
    }
    if (!message.ok()) return fail(message.status());
    if (!message->done.empty()) {
      if (!options.is_empty &&
          last_outputs_.size() * options.num_calls != worker::NumDonePointers(message->done))
        return fail(InvalidArgument("a short reply that fits no long one"));
      const char* next = message->done.data() + 1;
      std::memcpy(&result.inner_ns, next, sizeof result.inner_ns);
      if (options.is_empty) return result;
      for (size_t call = 0; call < options.num_calls; ++call) {
        result.structure = last_structure_;
        result.outputs = last_outputs_;
        for (OutputTensor& output : result.outputs) {
          next += sizeof output.address;
          std::memcpy(&output.address, next, sizeof output.address);
          if (!output.ipc.is_null()) output.ipc = exports_[output.address];
        }
        result.returned.push_back({result.structure, result.outputs});
      }
      return result;
    }
    const json& body = message->body;
    if (const auto request = body.find("build"); request != body.end() && build_) {
      result.compiled = true;
      const int64_t asked = MonotonicNs();
      const json outcome = Build(*request);
      compiling_ns += MonotonicNs() - asked;
      if (const Status sent = process_->Post({{"built", outcome}}); !sent.ok()) return fail(sent);
      if (const Status thawed = process_->Thaw(); !thawed.ok()) return fail(thawed);
      continue;
    }
    if (const auto gate = body.find("gate"); gate != body.end() && options.on_gate) {
      result.compiled = true;
      const int64_t asked = MonotonicNs();
      const bool gives_up = *gate == 0;
      if (num_gates++ < kMostGates) (gives_up ? options.on_compile : options.on_gate)();
      if (!gives_up) slow = false;
      compiling_ns += MonotonicNs() - asked;
      if (const Status sent = process_->Post({{"open", 1}}); !sent.ok()) return fail(sent);
      if (const Status thawed = process_->Thaw(); !thawed.ok()) return fail(thawed);
      continue;
    }
    if (const auto error = body.find("error"); error != body.end()) {
      result.failure =
          FromError(error->is_object() ? *error : json::object(), Outcome::kRuntimeError);
    } else if (const auto reply = body.find("done"); reply != body.end() && reply->is_object()) {
      const auto several = reply->find("several");
      const bool many = several != reply->end() && several->is_array();
      const size_t described = many ? several->size() : 1;
      if (options.is_empty) return result;
      if (described != options.num_calls)
        return fail(InvalidArgument("a reply that fits no window"));
      for (size_t i = 0; i < described; ++i) {
        const json& one = many ? (*several)[i] : *reply;
        result.outputs.clear();
        if (one.is_object()) ReadOutputs(one, &result);
        result.returned.push_back({result.structure, result.outputs});
        for (const OutputTensor& output : result.outputs)
          if (exports_.size() < kMaxExports) exports_[output.address] = output.ipc;
      }
      last_structure_ = result.structure;
      last_outputs_ = result.outputs;
    } else {
      return fail(InvalidArgument("malformed reply"));
    }
    return result;
  }
}

Answer Runner::AskFrozen(const json& message, double timeout_seconds, std::span<const int> fds) {
  BeginFrozen(message, fds);
  return FinishFrozen(timeout_seconds);
}

void Runner::BeginFrozen(const json& message, std::span<const int> fds) {
  armed_ = message.at("op") == "arm";
  const std::string frame = worker::EncodeFrame(message);
  // A stopped process reads nothing, so that a longer message would wait for it.
  const bool at_once = frame.size() <= kSentAtOnceBytes;
  if (at_once) Send(frame, fds);
  if (frozen_) {
    cores_when_asked_ = process_->ReadCoreTimes();
    own_wait_when_asked_ns_ = process_->OwnCoreWaitNs();
  }
  asked_ns_ = MonotonicNs();
  if (frozen_) (void)process_->Thaw();
  if (!at_once) Send(frame, fds);
}

Answer Runner::FinishFrozen(double timeout_seconds) {
  Answer answer = Await(timeout_seconds, Outcome::kRuntimeError);
  armed_ = armed_ && !answer.failure;
  answer.wall_ns = MonotonicNs() - asked_ns_;
  if (frozen_ && !process_->WaitForDeath()) {
    (void)process_->Freeze();
    answer.stopped_ns = MonotonicNs() - asked_ns_;  // a thread in the kernel works until it is left
    const worker::CoreTimes cores = process_->ReadCoreTimes().Since(cores_when_asked_);
    answer.main_cpu_ns = cores.main_ran_ns;
    answer.others_ns = cores.OthersNs() + process_->OwnCoreWaitNs() - own_wait_when_asked_ns_;
    answer.cpu_ns = process_->CpuNs() - cpu_when_frozen_ns_;
    cpu_when_frozen_ns_ += answer.cpu_ns;
  }
  return answer;
}

}  // namespace davinci::judge
