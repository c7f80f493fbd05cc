#include <fmt/format.h>

#include "davinci/teacher/emit/cpp/cpp_writer.h"

namespace davinci::teacher {

namespace {

constexpr int64_t kShortPart = 4;  // steps of a loop that gains nothing from vector registers

}  // namespace

std::string CppWriter::Decided(Id id) const {
  const TensorValue& value = p_[id];
  if (!rules_.Contains(Rule::kConstantSizes) || value.kind != TensorValue::Kind::kPoint ||
      (value.dtype != DType::kBool && !value.primitive->integer))
    return "";
  if (value.dtype != DType::kBool)
    return ranges_.TextOf(id, [&](int axis) { return IndexText(axis); });
  const auto range = ranges_.Of(id);
  return !range || !range->IsOne() ? "" : range->first != 0 ? "true" : "false";
}

std::optional<Id> CppWriter::Chosen(Id id) const {
  return rules_.Contains(Rule::kConstantSizes) ? ranges_.Chosen(id) : std::nullopt;
}

void CppWriter::InPart(int axis, IndexRanges::Range part, const Body& body) {
  const auto saved_ranges = ranges_;
  const auto saved = known_;
  ranges_.Set(axis, part);
  body();
  ranges_ = saved_ranges;
  known_ = saved;
  text_.used.Insert(Rule::kConstantSizes);
}

void CppWriter::Branches(const std::vector<int>& axes, const Body& body, size_t at, size_t most) {
  if (at == axes.size()) return body();
  const int axis = axes[at];
  std::vector<IndexRanges::Range> parts;
  if (rules_.Contains(Rule::kConstantSizes)) parts = ranges_.Parts(axis, most);
  if (parts.empty()) return Branches(axes, body, at + 1, most);
  for (size_t k = 0; k < parts.size(); ++k) {
    const std::string bound = fmt::format("if ({} < {})", IndexText(axis), parts[k].last + 1);
    Open(k == 0 ? bound : k + 1 < parts.size() ? "else " + bound : "else");
    InPart(axis, parts[k], [&] { Branches(axes, body, at + 1, most / parts.size()); });
    Close();
  }
}

void CppWriter::LoopInParts(int axis, const std::string& pragma, const Body& body) {
  const LoopAxis& loop = form_.axes[static_cast<size_t>(axis)];
  std::vector<IndexRanges::Range> parts;
  if (rules_.Contains(Rule::kConstantSizes)) parts = ranges_.Parts(axis, kMostParts);
  if (parts.empty()) {
    if (!pragma.empty()) Line(pragma);
    Open(Loop(loop));
    body();
    Close();
  }
  for (const IndexRanges::Range part : parts) {
    if (!pragma.empty() && part.last - part.first >= kShortPart) Line(pragma);
    Open(fmt::format("for (int64_t {0} = {1}; {0} < {2}; ++{0})", loop.index, part.first,
                     part.last + 1));
    InPart(axis, part, body);
    Close();
  }
}

void CppWriter::FindLaneParts() {
  lane_parts_.clear();
  if (!rules_.Contains(Rule::kConstantSizes)) return;
  lane_parts_ = ranges_.Parts(lane_axis_, kMostParts);
  const std::string& first = form_.axes[static_cast<size_t>(lane_axis_)].index;
  for (size_t k = 0; k + 1 < lane_parts_.size(); ++k)
    Line(fmt::format(
        "const int64_t part{0} = {1} < {2} ? 0 : {1} - {2} < lanes ? {1} - {2} : lanes;", k + 1,
        lane_parts_[k].last + 1, first));
}

void CppWriter::LaneLoop(const Body& body, bool simd) {
  if (lane_parts_.empty()) {
    if (simd) Line("#pragma omp simd");
    Open("for (int64_t l = 0; l < lanes; ++l)");
    body();
    Close();
  }
  for (size_t k = 0; k < lane_parts_.size(); ++k) {
    const IndexRanges::Range part = lane_parts_[k];
    if (simd && part.last - part.first >= kShortPart) Line("#pragma omp simd");
    Open(fmt::format("for (int64_t l = {}; l < {}; ++l)", k == 0 ? "0" : fmt::format("part{}", k),
                     k + 1 < lane_parts_.size() ? fmt::format("part{}", k + 1) : "lanes"));
    InPart(lane_axis_, part, body);
    Close();
  }
}

}  // namespace davinci::teacher
