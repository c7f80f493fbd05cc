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

}  // namespace

void CandidateWriter::FindConstants() {
  const auto& from = task_.parts.imported;
  if (!from || from->base.empty() || HasOneOf(*from, kConstantNames)) return;
  for (size_t i = 0; i < p_.values.size(); ++i) {
    const TensorValue& value = p_.values[i];
    const auto id = static_cast<Id>(i);
    if (value.effect || value.own || value.what == "module" || value.what == "random" ||
        (value.kind != TensorValue::Kind::kOpaque && value.kind != TensorValue::Kind::kItem &&
         value.kind != TensorValue::Kind::kReshape))
      continue;
    bool constant = value.kind == TensorValue::Kind::kItem || Elements(id) <= kMostKept;
    for (size_t k = 0; constant && k < value.operands.size(); ++k) {
      const Id operand = value.operands[k];
      constant = constants_.contains(operand) || p_[operand].kind == TensorValue::Kind::kScalar ||
                 (value.kind == TensorValue::Kind::kOpaque &&
                  p_[operand].kind == TensorValue::Kind::kLeaf &&
                  !p_[operand].text.starts_with("self.") && ReadsDeviceAlone(value.text, k));
    }
    if (constant) constants_.insert(id);
  }
}

std::vector<std::string> CandidateWriter::ReadConstants() const {
  std::vector<std::string> names;
  const auto read = [&](const std::string& name) {
    return std::any_of(forward_.begin(), forward_.end(),
                       [&](const std::string& line) { return synth::HasWord(line, name); });
  };
  for (const Id id : constants_) {
    const std::string name = Variable(id);
    const bool made =
        std::any_of(constant_lines_.begin(), constant_lines_.end(),
                    [&](const std::string& line) { return line.starts_with(name + " = "); });
    const bool given = std::find(p_.outputs.begin(), p_.outputs.end(), id) != p_.outputs.end();
    if (made && (given || read(name))) names.push_back(name);
  }
  return names;
}

}  // namespace davinci::teacher
