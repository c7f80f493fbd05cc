#include "davinci/judge/roles/runner_failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <string_view>

#include "davinci/base/utf8.h"
#include "davinci/judge/roles/untrusted_json.h"

namespace davinci::judge {
namespace {

using nlohmann::json;
using worker::Process;

constexpr double kDeathGraceSeconds = 0.3;
// A deadline is put off by the time without a core, by at most this many times itself …
constexpr double kMostPutOff = 9;
// … and not by less than this share of itself.
constexpr double kLeastPutOff = 0.01;
constexpr size_t kMessageBytes = 4000;
constexpr size_t kLastWordsBytes = 400;

// Without what is blank at the end of the text; a process may write any bytes.
std::string LastLine(std::string_view text) {
  const size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  return ValidUtf8(text.substr(text.rfind('\n') + 1));
}

}  // namespace

Failure FailureOf(Process& process, const Status& status, Outcome stage, double timeout_seconds) {
  Failure failure;
  failure.outcome = stage;
  if (status.code() == StatusCode::kDeadlineExceeded) {
    failure.outcome = Outcome::kTimeout;
    failure.message = fmt::format("{} did not finish within {:.3g} s and was stopped",
                                  stage == Outcome::kLoadError ? "loading the module" : "forward",
                                  timeout_seconds);
    process.Kill();
    return failure;
  }
  if (status.code() == StatusCode::kInvalidArgument) {
    process.Kill();
    return Broken(Rule::kControlChannel,
                  "the candidate wrote to the judge's control channel: " + status.message());
  }
  const auto death = process.WaitForDeath(kDeathGraceSeconds);
  if (!death) {
    process.Kill();
    return Broken(Rule::kControlChannel, "the candidate closed the judge's control channel");
  }
  const std::string tail = process.OutputTail();
  if (process.exceeded_memory()) {
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

Failure FailureSaid(const json& error, Outcome stage) {
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

double LongestWait(double timeout_seconds) { return (1 + kMostPutOff) * timeout_seconds; }

double PutOffFurther(const Process& process, const worker::CoreTimes& before,
                     double timeout_seconds, double put_off) {
  const int64_t waited = process.ReadCoreTimes().Since(before).waited_ns;
  const double more =
      std::min(1e-9 * static_cast<double>(waited), kMostPutOff * timeout_seconds) - put_off;
  return more < kLeastPutOff * timeout_seconds ? 0 : more;
}

}  // namespace davinci::judge
