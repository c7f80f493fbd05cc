// Label: the labels of an Evaluation, which qualify its number and never change its outcome. One
// table holds texts, meanings and sources; docs/labels.md shows it, and a test compares the two.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace davinci {

enum class Label {
  kTaskTag,
  kStochasticReference,
  kEvalMode,
  kBaselineOutsideTolerance,
  kSideEffectsNotCompared,
  kCompilesItself,
  kSmallerSizes,
  kCompileOnly,
  kWeightsReseeded,
  kVendorOperator,
  kVendorLibrary,
  kLowCoverage,
  kNotProfiled,
  kNoOwnKernel,
  kOnlyPyTorch,
  kNanNotPropagated,
  kNanAnsweredOtherwise,
  kFewerOperations,
  kInconclusive,
  kUnsteadyTiming,
  kDeviceSlowed,
  kWorkBetweenCalls,
  kChargedWindows,
  kUnevenCalls,
  kUnwrittenPages,
  kNotTimedAgainst,
  kPublishedProtocol,
  kImplausibleReport,
};

// The source of a label. kRunner is the candidate's process, whose word may be false.
enum class LabelSource { kTask, kOracle, kRunner, kKernel, kDriver, kClock, kJudge, kRun };
std::string_view LabelSourceName(LabelSource source);

struct LabelRow {
  Label label;
  std::string_view text;  // "<name>" stands for a value of the instance
  LabelSource source;
  std::string_view meaning;  // when it is set
};

// In the order of the enum.
std::span<const LabelRow> Labels();
const LabelRow& RowOf(Label label);

// The text with `values` for its names, one each and in order.
std::string LabelText(Label label, const std::vector<std::string>& values = {});
bool IsLabel(std::string_view text, Label label);
// The label whose text this is, the one with most fixed characters where several fit.
std::optional<Label> ParseLabel(std::string_view text);

}  // namespace davinci
