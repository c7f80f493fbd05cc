#include "davinci/data/rule.h"

#include <algorithm>
#include <array>

namespace davinci {
namespace {

constexpr auto kViolation = Outcome::kPolicyViolation;
constexpr auto kTimed = Outcome::kInvalidTiming;
constexpr auto kMemory = Outcome::kOutOfMemory;

// clang-format off
constexpr std::array<RuleRow, 23> kRules = {{
    {Rule::kControlChannel, "control_channel", RuleKind::kProcess, kViolation,
     "the candidate wrote to the judge's control channel, closed it, or forged how weights are "
     "handed over"},
    {Rule::kSandboxLock, "sandbox_lock", RuleKind::kProcess, kViolation,
     "the second filter of the sandbox is not on after the candidate was asked to lock it"},
    {Rule::kForbiddenSyscall, "forbidden_syscall", RuleKind::kProcess, kViolation,
     "the candidate made a system call that the sandbox forbids"},
    {Rule::kHelperProcess, "helper_process", RuleKind::kProcess, kViolation,
     "the candidate left a process running when calls are timed"},
    {Rule::kDiskLimit, "disk_limit", RuleKind::kLimit, kViolation,
     "the candidate wrote more to disk than it may"},
    {Rule::kMemoryLimit, "memory_limit", RuleKind::kLimit, kMemory,
     "the candidate's process exceeded its limit of host memory"},
    {Rule::kLargerThanDevice, "larger_than_device", RuleKind::kLimit, kMemory,
     "the candidate asked for more memory than the device has"},
    {Rule::kOutputLayout, "output_layout", RuleKind::kOutput, kViolation,
     "an output claims strides, a shape or a type that its memory cannot have"},
    {Rule::kUnreadableOutput, "unreadable_output", RuleKind::kOutput, kViolation,
     "an output has no readable memory behind it"},
    {Rule::kTensorSubclass, "tensor_subclass", RuleKind::kOutput, kViolation,
     "an output is a subclass of torch.Tensor"},
    {Rule::kSharedOutput, "shared_output", RuleKind::kOutput, kViolation,
     "an output shares memory with an input, itself or another output, or cannot be written to"},
    {Rule::kInputMutation, "input_mutation", RuleKind::kOutput, kViolation,
     "forward changed an input that the reference leaves as it is"},
    {Rule::kLateWrites, "late_writes", RuleKind::kTiming, kTimed,
     "outputs changed after forward returned"},
    {Rule::kWorkOutsideWindow, "work_outside_window", RuleKind::kTiming, kTimed,
     "the candidate used CPU time while it was stopped between calls"},
    {Rule::kFlushLeftOut, "flush_left_out", RuleKind::kTiming, kTimed,
     "cuda: the candidate's process did not write the buffer that cools the caches before a call"},
    {Rule::kWorkBetweenCalls, "work_between_calls", RuleKind::kTiming, kTimed,
     "cuda: the candidate takes longer than the baseline to be armed for a call"},
    {Rule::kBusyAfterDone, "busy_after_done", RuleKind::kTiming, kTimed,
     "cuda: the device is busy for longer after the candidate's calls than after the baseline's"},
    {Rule::kBusyBeforeGo, "busy_before_go", RuleKind::kTiming, kTimed,
     "cuda: the device is busy with the candidate's work before a call begins"},
    {Rule::kClockAgreement, "clock_agreement", RuleKind::kTiming, kTimed,
     "the candidate's own clock contradicts the judge's"},
    {Rule::kBelowRoofline, "below_roofline", RuleKind::kTiming, kTimed,
     "the time is shorter than moving the task's inputs and outputs takes"},
    {Rule::kOwnKernel, "own_kernel", RuleKind::kRun, kViolation,
     "the candidate only calls PyTorch, and the run asks for a kernel "
     "(`policy.require_own_kernel`)"},
    {Rule::kLanguage, "language", RuleKind::kRun, kViolation,
     "the candidate is written in another language than the run asks for "
     "(`policy.require_language`)"},
    {Rule::kKevin, "kevin", RuleKind::kRun, kViolation,
     "the source has `try`, `except`, `pass` or torch.nn in forward (`policy.static_rules`)"},
}};
// clang-format on

constexpr bool RulesInOrder() {
  for (size_t i = 0; i < kRules.size(); ++i)
    if (kRules[i].rule != static_cast<Rule>(i)) return false;
  return true;
}
static_assert(RulesInOrder());
static_assert(kRules.back().rule == Rule::kKevin);

}  // namespace

std::string_view RuleKindName(RuleKind kind) {
  switch (kind) {
    case RuleKind::kProcess:
      return "process";
    case RuleKind::kLimit:
      return "limit";
    case RuleKind::kOutput:
      return "output";
    case RuleKind::kTiming:
      return "timing";
    case RuleKind::kRun:
      return "run";
  }
  return "unknown";
}

std::span<const RuleRow> Rules() { return kRules; }

const RuleRow& RowOf(Rule rule) { return kRules[static_cast<size_t>(rule)]; }

std::optional<Rule> ParseRule(std::string_view name) {
  const auto row = std::ranges::find(kRules, name, &RuleRow::name);
  return row == kRules.end() ? std::nullopt : std::optional(row->rule);
}

}  // namespace davinci
