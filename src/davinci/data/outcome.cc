#include "davinci/data/outcome.h"

#include <array>
#include <utility>

namespace davinci {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 16> kOutcomes = {{
    {Outcome::kOk, "ok"},
    {Outcome::kCompileOnly, "compile_only"},
    {Outcome::kParseError, "parse_error"},
    {Outcome::kCompileError, "compile_error"},
    {Outcome::kLoadError, "load_error"},
    {Outcome::kLaunchError, "launch_error"},
    {Outcome::kRuntimeError, "runtime_error"},
    {Outcome::kTimeout, "timeout"},
    {Outcome::kOutOfMemory, "out_of_memory"},
    {Outcome::kWrongShape, "wrong_shape"},
    {Outcome::kWrongDtype, "wrong_dtype"},
    {Outcome::kMismatch, "mismatch"},
    {Outcome::kNondeterministic, "nondeterministic"},
    {Outcome::kInvalidTiming, "invalid_timing"},
    {Outcome::kPolicyViolation, "policy_violation"},
    {Outcome::kJudgeError, "judge_error"},
}};

}  // namespace

std::string_view OutcomeName(Outcome outcome) {
  for (const auto& [value, name] : kOutcomes)
    if (value == outcome) return name;
  return "unknown";
}

std::optional<Outcome> ParseOutcome(std::string_view name) {
  for (const auto& [value, known] : kOutcomes)
    if (known == name) return value;
  return std::nullopt;
}

}  // namespace davinci
