#include "davinci/data/label.h"

#include <algorithm>
#include <array>

namespace davinci {
namespace {

// clang-format off
constexpr std::array<LabelRow, 28> kLabels = {{
    {Label::kTaskTag, "task: <tag>", LabelSource::kTask,
     "the sidecar carries the tag, or task admission found it"},
    {Label::kStochasticReference, "task: stochastic reference, reseeded before every call",
     LabelSource::kOracle,
     "the reference answers differently when asked twice, and alike after the same seed"},
    {Label::kEvalMode, "task: not repeatable in training mode, judged in eval mode",
     LabelSource::kOracle,
     "the reference as constructed answers differently when asked twice, and alike in eval mode"},
    {Label::kBaselineOutsideTolerance, "task: baseline outside tolerance", LabelSource::kOracle,
     "the reference in its own precision fails the tolerance derived for it"},
    {Label::kSideEffectsNotCompared, "task: side effects not compared", LabelSource::kOracle,
     "the reference writes to its inputs and returns something else; `inplace = true` in the "
     "sidecar compares them"},
    {Label::kCompilesItself, "task: compiles itself", LabelSource::kOracle,
     "the reference calls `torch.compile`; the baseline is what that makes, also where it is "
     "called eager"},
    {Label::kSmallerSizes, "smaller sizes than the task's", LabelSource::kOracle,
     "without a GPU: the task's own size is too large here; `evidence.compile_only.shrunk` has "
     "the sizes used"},
    {Label::kCompileOnly, "compile_only", LabelSource::kJudge,
     "a candidate for cuda was judged on a machine without a GPU"},
    {Label::kWeightsReseeded, "weights: reseeded", LabelSource::kRunner,
     "the candidate's state could not take over the reference's weights; both keep those of one "
     "seed"},
    {Label::kVendorOperator, "vendor library: <operator>", LabelSource::kRunner,
     "at least 10 % of forward was spent in library operators, on any thread; names the largest"},
    {Label::kVendorLibrary, "vendor library: <family>", LabelSource::kKernel,
     "code of a BLAS, DNN or CUDA vendor library ran in the candidate's process: 128 KiB of its "
     "code are resident"},
    {Label::kLowCoverage, "low coverage", LabelSource::kRunner,
     "at least 70 % of forward was spent in library operators"},
    {Label::kNotProfiled, "not profiled", LabelSource::kRunner,
     "the candidate's process failed or took too long when one more call was to be recorded"},
    {Label::kNoOwnKernel, "no kernel of its own", LabelSource::kRunner,
     "cpu: nothing was compiled for it, and torch's operators take less than 10 % of its recorded "
     "forward"},
    {Label::kOnlyPyTorch, "only PyTorch", LabelSource::kRun,
     "the source builds no kernel, or a device profile saw kernels and none of the candidate's "
     "own"},
    {Label::kNanNotPropagated, "NaN not propagated", LabelSource::kOracle,
     "the reference answers NaN to a few NaN and infinities in the inputs, the candidate a number"},
    {Label::kNanAnsweredOtherwise, "NaN answered otherwise", LabelSource::kOracle,
     "to such inputs the candidate answers NaN where the reference has a number, or another flag "
     "or whole number"},
    {Label::kFewerOperations, "algorithmic: fewer operations than the reference",
     LabelSource::kClock,
     "the time is below half of what the reference's fp32 operations take at the device's best "
     "rate"},
    {Label::kInconclusive, "inconclusive: <low> to <high> x, busy machine", LabelSource::kClock,
     "the ends of the interval differ by more than a factor of 2: measure again on a quiet "
     "machine"},
    {Label::kUnsteadyTiming, "unsteady timing: <ratio> x", LabelSource::kClock,
     "the median call of a process took over 1.25 times its fastest tenth; the interval is wider "
     "by that"},
    {Label::kDeviceSlowed, "device slowed by: <reasons>", LabelSource::kDriver,
     "power or heat held the device's clocks down when timing ended; both sides alike"},
    {Label::kWorkBetweenCalls, "work between calls: <time> ms charged", LabelSource::kClock,
     "cpu: freeing outputs and making arguments takes so much longer than the baseline's; the "
     "time of record includes it"},
    {Label::kChargedWindows, "time that its own windows do not show: <time> ms charged",
     LabelSource::kClock,
     "cuda: calls alone, from an idle queue or after DONE take longer than windows say; the time "
     "of record includes it"},
    {Label::kUnevenCalls, "uneven calls: <median> x in the middle, <mean> x on average",
     LabelSource::kClock,
     "twice in a row the mean of all calls was slower than the median's interval; the speedup is "
     "the mean"},
    {Label::kUnwrittenPages, "<count> pages of the outputs are not written", LabelSource::kKernel,
     "cpu: memory of the outputs comes into being when the caller reads it; each page is charged "
     "0.5 µs"},
    {Label::kNotTimedAgainst, "not timed against <baseline>", LabelSource::kJudge,
     "a further baseline could not be made; `evidence.speedups` has the error"},
    {Label::kPublishedProtocol, "protocol: kernelbench", LabelSource::kJudge,
     "the published rule decided, not ours"},
    {Label::kImplausibleReport, "implausible report: <member>", LabelSource::kRunner,
     "the candidate's process says a time that cannot be; the member is left out"},
}};
// clang-format on

constexpr bool LabelsInOrder() {
  for (size_t i = 0; i < kLabels.size(); ++i)
    if (kLabels[i].label != static_cast<Label>(i)) return false;
  return true;
}
static_assert(LabelsInOrder());
static_assert(kLabels.back().label == Label::kImplausibleReport);

// Splits "a <name> b" into what stands before the first name and after its end; false: no name.
bool SplitAtName(std::string_view text, std::string_view* before, std::string_view* after) {
  const size_t open = text.find('<');
  const size_t close = open == std::string_view::npos ? open : text.find('>', open);
  if (close == std::string_view::npos) return false;
  *before = text.substr(0, open);
  *after = text.substr(close + 1);
  return true;
}

// Does `text` match a row's text, whose names match anything?
bool Matches(std::string_view text, std::string_view row) {
  std::string_view before;
  std::string_view after;
  if (!SplitAtName(row, &before, &after)) return text == row;
  if (!text.starts_with(before)) return false;
  for (size_t end = before.size() + 1; end <= text.size(); ++end)
    if (Matches(text.substr(end), after)) return true;
  return false;
}

size_t NumFixed(std::string_view row) {
  std::string_view before;
  std::string_view after;
  if (!SplitAtName(row, &before, &after)) return row.size();
  return before.size() + NumFixed(after);
}

}  // namespace

std::string_view LabelSourceName(LabelSource source) {
  switch (source) {
    case LabelSource::kTask:
      return "task";
    case LabelSource::kOracle:
      return "oracle";
    case LabelSource::kRunner:
      return "runner";
    case LabelSource::kKernel:
      return "kernel";
    case LabelSource::kDriver:
      return "driver";
    case LabelSource::kClock:
      return "clock";
    case LabelSource::kJudge:
      return "judge";
    case LabelSource::kRun:
      return "run";
  }
  return "unknown";
}

std::span<const LabelRow> Labels() { return kLabels; }

const LabelRow& RowOf(Label label) { return kLabels[static_cast<size_t>(label)]; }

std::string LabelText(Label label, const std::vector<std::string>& values) {
  std::string text;
  std::string_view rest = RowOf(label).text;
  std::string_view before;
  std::string_view after;
  for (size_t i = 0; i < values.size() && SplitAtName(rest, &before, &after); ++i) {
    text.append(before).append(values[i]);
    rest = after;
  }
  return text.append(rest);
}

bool IsLabel(std::string_view text, Label label) { return Matches(text, RowOf(label).text); }

std::optional<Label> ParseLabel(std::string_view text) {
  const LabelRow* best = nullptr;
  for (const LabelRow& row : kLabels)
    if (Matches(text, row.text) && (best == nullptr || NumFixed(row.text) > NumFixed(best->text)))
      best = &row;
  return best == nullptr ? std::nullopt : std::optional(best->label);
}

}  // namespace davinci
