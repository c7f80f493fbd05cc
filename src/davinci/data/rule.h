// Rule: the rules that a verdict can name in evidence.rule, or in evidence.policy.rule where a run
// and not the judge set it. One table holds names, meanings and the outcome of a broken rule;
// docs/judge.md shows it, and a test compares the two.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "davinci/data/outcome.h"

namespace davinci {

enum class Rule {
  kControlChannel,
  kSandboxLock,
  kForbiddenSyscall,
  kHelperProcess,
  kDiskLimit,
  kMemoryLimit,
  kLargerThanDevice,
  kOutputLayout,
  kUnreadableOutput,
  kTensorSubclass,
  kSharedOutput,
  kInputMutation,
  kLateWrites,
  kWorkOutsideWindow,
  kFlushLeftOut,
  kWorkBetweenCalls,
  kBusyAfterDone,
  kBusyBeforeGo,
  kClockAgreement,
  kBelowRoofline,
  kOwnKernel,
  kLanguage,
  kKevin,
};

// The subject of a rule.
enum class RuleKind { kProcess, kLimit, kOutput, kTiming, kRun };
std::string_view RuleKindName(RuleKind kind);

struct RuleRow {
  Rule rule;
  std::string_view name;
  RuleKind kind;
  Outcome outcome;  // of a candidate that broke it
  std::string_view meaning;
};

// In the order of the enum.
std::span<const RuleRow> Rules();
const RuleRow& RowOf(Rule rule);
inline std::string_view RuleName(Rule rule) { return RowOf(rule).name; }
std::optional<Rule> ParseRule(std::string_view name);

}  // namespace davinci
