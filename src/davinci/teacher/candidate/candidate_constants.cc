#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/candidate/imported_forward.h"

namespace davinci::teacher {

namespace {

// More elements than that are computed in every call instead of kept.
constexpr double kMostKept = 1 << 24;

// `text` reads the operand at `place` for its device alone.
bool ReadsDeviceAlone(const std::string& text, size_t place) {
  const std::string reference = fmt::format("{{{}}}", place), device = reference + ".device";
  for (size_t at = text.find(reference); at != std::string::npos;
       at = text.find(reference, at + reference.size()))
    if (text.compare(at, device.size(), device) != 0) return false;
  return true;
}

// Does the value, or a number that it reads, depend on a size that is read of an input?
bool ReadsSizes(const Program& program, const TensorValue& value) {
  const auto has_size = [](const TensorValue& one) {
    return one.text.find(".shape[") != std::string::npos;
  };
  return has_size(value) ||
         std::any_of(value.shape.begin(), value.shape.end(),
                     [&](DimId dim) { return !program.graph.dims.IsConstant(dim); }) ||
         std::any_of(value.operands.begin(), value.operands.end(), [&](Id operand) {
           return program[operand].kind == TensorValue::Kind::kScalar && has_size(program[operand]);
         });
}

}  // namespace

void CandidateWriter::FindConstants() {
  const auto& from = d_.task.parts.imported;
  if (!from || from->base.empty() || HasOneOf(*from, kConstantNames)) return;
  for (size_t i = 0; i < d_.program.values.size(); ++i) {
    const TensorValue& value = d_.program.values[i];
    const auto id = static_cast<Id>(i);
    if (value.effect || value.own || value.what == "module" || value.what == "random" ||
        (value.kind != TensorValue::Kind::kOpaque && value.kind != TensorValue::Kind::kItem &&
         value.kind != TensorValue::Kind::kReshape))
      continue;
    bool constant = value.kind == TensorValue::Kind::kItem || d_.Elements(id) <= kMostKept;
    // A graph of launches would go on with those of another shape.
    if (!from->symbols.empty() && ReadsSizes(d_.program, value)) constant = false;
    for (size_t k = 0; constant && k < value.operands.size(); ++k) {
      const Id operand = value.operands[k];
      constant =
          d_.constants.contains(operand) ||
          d_.program[operand].kind == TensorValue::Kind::kScalar ||
          (value.kind == TensorValue::Kind::kOpaque &&
           d_.program[operand].kind == TensorValue::Kind::kLeaf &&
           !d_.program[operand].text.starts_with("self.") && ReadsDeviceAlone(value.text, k));
    }
    if (constant) d_.constants.insert(id);
  }
}

}  // namespace davinci::teacher
