#include <fmt/format.h>

#include <algorithm>

#include "davinci/teacher/emit/cpp/cpp_writer.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

std::string CppWriter::StoredElement(const Stored& stored) const {
  if (stored.tensor != nullptr) return Element(*stored.tensor);
  KernelTensor row;
  row.axes = form_.reduced;
  return fmt::format("{}[{}]", stored.buffer,
                     form_.Offset(row, [&](int axis) { return IndexText(axis); }));
}

bool CppWriter::IsCostly(Id id) const {
  const TensorValue& value = p_[id];
  if (std::find(region_.members.begin(), region_.members.end(), id) == region_.members.end() ||
      !region_.IsPerElement(id) || value.kind == Kind::kReduce)
    return false;
  if (value.kind == Kind::kPoint && value.primitive->cpp_rule) return true;
  return std::any_of(value.operands.begin(), value.operands.end(),
                     [&](Id operand) { return IsCostly(operand); });
}

void CppWriter::Needed(Id id, int pass, std::map<Id, std::set<int>>* needed) const {
  if (!form_.pass.contains(id) || !region_.IsPerElement(id) || p_[id].kind == Kind::kReduce) return;
  if (!(*needed)[id].insert(pass).second) return;
  for (const Stored& stored : stored_)
    if (stored.value == id && pass > stored.First()) return;  // loaded
  for (const Id operand : p_[id].operands) Needed(operand, pass, needed);
}

void CppWriter::PlanStored() {
  const bool one_row = OneRow();
  for (size_t i = region_.members.size(); i-- > 0;) {
    const Id id = region_.members[i];
    std::map<Id, std::set<int>> needed;
    for (int pass = 0; pass < form_.num_passes; ++pass) {
      for (const Id reduce : LoopReduces(pass)) Needed(p_[reduce].operands[0], pass, &needed);
      for (const KernelTensor* tensor : Stores(pass)) Needed(tensor->value, pass, &needed);
    }
    const auto found = needed.find(id);
    if (found == needed.end() || found->second.size() < 2 || p_[id].kind != Kind::kPoint ||
        p_[id].dtype != DType::kFloat || !IsCostly(id))
      continue;
    Stored fresh{id, nullptr, "", found->second};
    // Part of a stored value: needed where that one is computed alone.
    if (std::any_of(stored_.begin(), stored_.end(), [&](const Stored& other) {
          return other.First() <= fresh.First() && fresh.Last() <= other.Last() &&
                 Reads(other.value, id);
        }))
      continue;
    for (const KernelTensor& tensor : form_.outputs) {
      const bool own = tensor.value == id;
      bool fits = tensor.axes.size() == form_.axes.size() &&
                  p_[tensor.value].dtype == DType::kFloat &&
                  p_.graph.precision == synth::Precision::kFp32 &&
                  (own || (!IsOutput(id) && form_.pass.at(tensor.value) >= fresh.Last()));
      for (const Stored& other : stored_)
        fits = fits && (other.tensor != &tensor || fresh.Last() <= other.First() ||
                        other.Last() <= fresh.First());
      if (fits) fresh.tensor = &tensor;
    }
    if (fresh.tensor == nullptr && (!one_row || IsOutput(id))) continue;
    if (fresh.tensor == nullptr) fresh.buffer = fmt::format("kept{}", ++count_);
    stored_.push_back(std::move(fresh));
  }
}

bool CppWriter::Reads(Id value, Id operand) const {
  if (value == operand) return true;
  if (!form_.pass.contains(value)) return false;
  return std::any_of(p_[value].operands.begin(), p_[value].operands.end(),
                     [&](Id own) { return Reads(own, operand); });
}

}  // namespace davinci::teacher
