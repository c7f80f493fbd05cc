#include "davinci/judge/roles/run_call.h"

#include <sched.h>

#include <optional>
#include <string>
#include <utility>

#include "davinci/base/clock.h"
#include "davinci/judge/roles/runner_failure.h"
#include "davinci/worker/protocol.h"

namespace davinci::judge {
namespace {

using nlohmann::json;
using worker::Process;

// A call that lasts is looked after this often.
constexpr double kAskWhileSlowSeconds = 0.1;
// The rest of a short reply, once its beginning is there.
constexpr double kRestOfReplySeconds = 0.05;

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

// A step returns false where the call is over: result_ has all of it.
class CallUnderWay {
 public:
  CallUnderWay(RunnerLink& link, DoneReader& reader, int64_t& cpu_when_frozen_ns,
               const CallOptions& options)
      : process_(link.process()),
        compiles_(link.compiles()),
        reader_(reader),
        cpu_when_frozen_ns_(cpu_when_frozen_ns),
        options_(options) {}
  CallResult Run();

 private:
  bool SendGo();
  bool LetGo();
  // Until the process has written something.
  bool AwaitWord();
  // Stops the process and reads the clocks.
  bool Stop();
  // True where the process is let go on.
  bool Hear();
  bool HearDone(const json& body);
  bool AnswerBuild(const json& request);
  bool AnswerGate(const json& gate);
  bool GoOn(const json& answer);
  bool Fail(const Status& status);

  Process& process_;
  CompileRequests& compiles_;
  DoneReader& reader_;
  int64_t& cpu_when_frozen_ns_;
  const CallOptions& options_;
  CallResult result_;
  int64_t cpu_before_ = 0;
  worker::CoreTimes cores_before_;
  int64_t own_wait_before_ = 0;
  int64_t start_ = 0;
  int64_t compiling_ns_ = 0;  // the clock of the deadline stands meanwhile
  double put_off_ = 0;
  double allowed_ = 0;  // seconds that are left
  bool slow_ = false;
  int num_gates_ = 0;
  std::optional<Result<worker::Message>> early_;  // read before the process was stopped
};

CallResult CallUnderWay::Run() {
  if (!SendGo()) return std::move(result_);
  const LastCore bound(options_.bind_to_last_core);
  if (!LetGo()) return std::move(result_);
  while (AwaitWord() && Stop() && Hear()) {
  }
  return std::move(result_);
}

bool CallUnderWay::Fail(const Status& status) {
  result_.failure = FailureOf(process_, status, Outcome::kRuntimeError, options_.timeout_seconds);
  return false;
}

bool CallUnderWay::SendGo() {
  std::string go(worker::kGo);
  if (options_.seed)
    go.append(reinterpret_cast<const char*>(&*options_.seed), sizeof *options_.seed);
  if (const Status status = process_.SendFrame(go); !status.ok()) return Fail(status);
  cpu_before_ = process_.CpuNs();
  result_.outside_cpu_ns = cpu_before_ - cpu_when_frozen_ns_;
  return true;
}

bool CallUnderWay::LetGo() {
  cores_before_ = process_.ReadCoreTimes();
  own_wait_before_ = process_.OwnCoreWaitNs();
  start_ = MonotonicNs();
  if (const Status status = process_.Thaw(); !status.ok()) return Fail(status);
  result_.start_ns = start_;
  if (options_.on_thawed) options_.on_thawed();
  return true;
}

bool CallUnderWay::AwaitWord() {
  while (true) {
    allowed_ = options_.timeout_seconds + put_off_ -
               1e-9 * static_cast<double>(MonotonicNs() - start_ - compiling_ns_);
    if (allowed_ <= 0) return Fail(DeadlineExceeded("the candidate only asked for compilations"));
    const bool seen =
        options_.spin_seconds > 0 && process_.SpinUntilReadable(options_.spin_seconds);
    const bool impatient = options_.on_slow && !slow_ && options_.patience_seconds < allowed_;
    const bool asking = slow_ && options_.while_slow && allowed_ > 2 * kAskWhileSlowSeconds;
    const double patience = impatient ? options_.patience_seconds
                            : asking  ? kAskWhileSlowSeconds
                                      : allowed_;
    const Status waited = seen ? Status::Ok() : process_.Wait(patience);
    if (waited.ok()) return true;
    if (waited.code() != StatusCode::kDeadlineExceeded) return Fail(waited);
    if (impatient) {
      slow_ = true;
      options_.on_slow();
    } else if (asking) {
      result_.failure = options_.while_slow();
      if (!result_.failure) continue;
      process_.Kill();
      return false;
    } else {
      const double more =
          PutOffFurther(process_, cores_before_, options_.timeout_seconds, put_off_);
      if (more <= 0) return Fail(waited);
      put_off_ += more;
    }
  }
}

bool CallUnderWay::Stop() {
  // A longer reply is read while the process writes it, and the clock runs until all of it is
  // there.
  early_.reset();
  if (process_.WaitingBytes() > kSentAtOnceBytes) early_ = process_.Receive(allowed_);
  const int64_t done = MonotonicNs();
  const int64_t cpu_when_done = process_.CpuNs();
  const Status stopped = process_.Freeze();
  const int64_t frozen = MonotonicNs();
  if (!stopped.ok()) return Fail(Unavailable(stopped.message()));
  cpu_when_frozen_ns_ = process_.CpuNs();
  result_.wall_ns = done - start_;
  result_.cores = process_.ReadCoreTimes().Since(cores_before_);
  result_.core_wait_ns = result_.cores.main_waited_ns + process_.OwnCoreWaitNs() - own_wait_before_;
  result_.freeze_ns = frozen - done;
  result_.cpu_ns = cpu_when_frozen_ns_ - cpu_before_;
  result_.tail_cpu_ns = cpu_when_frozen_ns_ - cpu_when_done;
  return true;
}

bool CallUnderWay::Hear() {
  const auto message = early_ ? std::move(*early_) : process_.Receive(kRestOfReplySeconds);
  if (message.status().code() == StatusCode::kDeadlineExceeded) {
    result_.failure =
        Broken(Rule::kControlChannel,
               "the candidate wrote to the judge's control channel: an incomplete reply");
    process_.Kill();
    return false;
  }
  if (!message.ok()) return Fail(message.status());
  if (!message->done.empty()) {
    const Status read =
        reader_.ReadShort(message->done, options_.num_calls, options_.is_empty, &result_);
    return read.ok() ? false : Fail(read);
  }
  const json& body = message->body;
  if (const auto request = body.find("build"); request != body.end() && compiles_.offered())
    return AnswerBuild(*request);
  if (const auto gate = body.find("gate"); gate != body.end() && options_.on_gate)
    return AnswerGate(*gate);
  return HearDone(body);
}

bool CallUnderWay::HearDone(const json& body) {
  if (const auto error = body.find("error"); error != body.end()) {
    result_.failure = compiles_.Explained(
        FailureSaid(error->is_object() ? *error : json::object(), Outcome::kRuntimeError));
    return false;
  }
  const auto done = body.find("done");
  if (done == body.end() || !done->is_object()) return Fail(InvalidArgument("malformed reply"));
  const Status read = reader_.ReadLong(*done, options_.num_calls, options_.is_empty, &result_);
  return read.ok() ? false : Fail(read);
}

bool CallUnderWay::AnswerBuild(const json& request) {
  result_.compiled = true;
  const int64_t asked = MonotonicNs();
  const json outcome = compiles_.Answer(request);
  compiling_ns_ += MonotonicNs() - asked;
  return GoOn({{"built", outcome}});
}

bool CallUnderWay::AnswerGate(const json& gate) {
  result_.compiled = true;
  const int64_t asked = MonotonicNs();
  const bool gives_up = gate == 0;
  if (num_gates_++ < kMostGates) (gives_up ? options_.on_compile : options_.on_gate)();
  if (!gives_up) slow_ = false;
  compiling_ns_ += MonotonicNs() - asked;
  return GoOn({{"open", 1}});
}

bool CallUnderWay::GoOn(const json& answer) {
  if (const Status sent = process_.Post(answer); !sent.ok()) return Fail(sent);
  if (const Status thawed = process_.Thaw(); !thawed.ok()) return Fail(thawed);
  return true;
}

}  // namespace

CallResult RunCall(RunnerLink& link, DoneReader& reader, int64_t& cpu_when_frozen_ns,
                   const CallOptions& options) {
  return CallUnderWay(link, reader, cpu_when_frozen_ns, options).Run();
}

}  // namespace davinci::judge
