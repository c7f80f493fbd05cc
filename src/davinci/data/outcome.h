// Outcome: the closed set of ways in which a judgement ends, and their names in JSON.
#pragma once

#include <optional>
#include <string_view>

namespace davinci {

enum class Outcome {
  kOk,                // correct, and timed where the target allows it
  kCompileOnly,       // --target cuda without a GPU: compiled and interpreted; carries no time,
                      // never a speedup
  kParseError,        // the candidate is not valid Python, or lacks the entry class
  kCompileError,      // a compiler refused the kernel source
  kLoadError,         // importing the module or constructing the entry raised
  kLaunchError,       // the device refused a launch configuration
  kRuntimeError,      // forward raised, crashed or exited
  kTimeout,           // a stage outlived its limit
  kOutOfMemory,       // host or device memory limit exceeded
  kWrongShape,        // structure, rank or sizes differ from the reference
  kWrongDtype,        // element type differs from the reference
  kMismatch,          // values outside the tolerance
  kNondeterministic,  // same inputs, different answers, at least one of them wrong
  kInvalidTiming,     // clocks disagree, work outside the window, or faster than physics
  kPolicyViolation,   // a rule was broken; evidence names it
  kJudgeError,        // our failure, not the candidate's
};

std::string_view OutcomeName(Outcome outcome);
std::optional<Outcome> ParseOutcome(std::string_view name);

}  // namespace davinci
