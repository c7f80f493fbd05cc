// What the writers of both languages ask of a region and its form. Internal.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/regions/kernel_form.h"

namespace davinci::teacher {

class RegionReader {
 public:
  RegionReader(Program* program, const Region& region, const KernelForm& form)
      : p_(*program), program_(program), region_(region), form_(form) {}

 protected:
  // How often members read the value.
  size_t Uses(Id id) const {
    size_t uses = 0;
    for (const Id member : region_.members)
      uses += static_cast<size_t>(
          std::count(p_[member].operands.begin(), p_[member].operands.end(), id));
    return uses;
  }
  // The same, by values that are computed where members read them as well.
  size_t UsesInPlace(Id id) const {
    size_t uses = 0;
    std::set<Id> seen;
    const std::function<void(Id)> count = [&](Id reader) {
      for (const Id operand : p_[reader].operands) {
        uses += operand == id ? 1 : 0;
        if (p_[operand].virtual_ && seen.insert(operand).second) count(operand);
      }
    };
    for (const Id member : region_.members) count(member);
    return uses;
  }
  bool IsMember(Id id) const {
    return std::find(region_.members.begin(), region_.members.end(), id) != region_.members.end();
  }
  bool IsOutput(Id id) const {
    return std::any_of(form_.outputs.begin(), form_.outputs.end(),
                       [&](const KernelTensor& tensor) { return tensor.value == id; });
  }
  // The index along an axis of the region, of which several loop axes may be part.
  std::string IotaText(Id id, const std::function<std::string(int)>& index) const {
    std::string text;
    std::vector<int> seen;
    const auto placed = region_.placements.find(id);
    if (placed == region_.placements.end()) return "?";
    for (const int axis : placed->second.axes[static_cast<size_t>(p_[id].axes[0])]) {
      const int loop = form_.axis_of.at(axis);
      if (std::find(seen.begin(), seen.end(), loop) != seen.end()) continue;
      seen.push_back(loop);
      const std::string& size = form_.axes[static_cast<size_t>(loop)].size;
      text = text.empty() ? index(loop) : Bracketed(text) + " * " + size + " + " + index(loop);
    }
    return text.empty() ? "0" : text;
  }
  // Of a load: where in the source's memory, from the texts of its operands behind the source.
  static std::string LoadOffset(const std::vector<std::string>& operands,
                                const std::vector<int64_t>& strides = {}) {
    const size_t rank = (operands.size() + 1) / 2;
    std::string sum;
    for (size_t i = 0; i < strides.size(); ++i)
      if (strides[i] != 0)
        sum += (sum.empty() ? "" : " + ") + Bracketed(operands[i]) +
               (strides[i] == 1 ? "" : fmt::format(" * {}", strides[i]));
    if (!strides.empty()) return sum.empty() ? "0" : sum;
    std::string offset = operands[0];
    for (size_t i = 1; i < rank; ++i)
      offset = fmt::format("{} * {} + {}", Bracketed(offset), Bracketed(operands[rank + i - 1]),
                           operands[i]);
    return offset;
  }
  // The parameter of the kernel that holds a number known at run time.
  std::string ScalarName(Id id) const {
    for (const auto& [name, scalar] : form_.scalars)
      if (scalar == id) return name;
    return "?";
  }
  // The first member that reduces the same elements in the same way: with keepdim and without is
  // one sum.
  Id FirstAlike(Id reduce) const {
    const TensorValue& value = p_[reduce];
    for (const Id member : region_.members) {
      const TensorValue& other = p_[member];
      if (other.kind == TensorValue::Kind::kReduce && other.operands == value.operands &&
          other.reduce == value.reduce && other.axes == value.axes && other.dtype == value.dtype)
        return member;
    }
    return reduce;
  }
  // Reductions of a pass over the reduced elements, in order; `alike` as well those that equal
  // another one.
  std::vector<Id> Reduces(int pass, bool alike = false) const {
    std::vector<Id> reduces;
    for (const Id member : region_.members)
      if (p_[member].kind == TensorValue::Kind::kReduce && form_.pass.at(member) == pass + 1 &&
          (alike || FirstAlike(member) == member))
        reduces.push_back(member);
    return reduces;
  }
  bool HasMax() const {
    return std::any_of(region_.members.begin(), region_.members.end(), [&](Id id) {
      return p_[id].kind == TensorValue::Kind::kReduce && p_[id].reduce == ReduceKind::kMax;
    });
  }
  bool HasScan() const {
    return std::any_of(region_.members.begin(), region_.members.end(),
                       [&](Id member) { return p_[member].kind == TensorValue::Kind::kScan; });
  }
  // Scans that a pass computes.
  std::vector<Id> Scans(int pass) const {
    std::vector<Id> open, scans;
    for (const Id reduce : Reduces(pass)) open.push_back(p_[reduce].operands[0]);
    for (const KernelTensor* tensor : Stores(pass)) open.push_back(tensor->value);
    std::vector<Id> seen;
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      if (!IsMember(id) || p_[id].kind == TensorValue::Kind::kReduce ||
          std::find(seen.begin(), seen.end(), id) != seen.end())
        continue;
      seen.push_back(id);
      if (p_[id].kind == TensorValue::Kind::kScan) scans.push_back(id);
      open.insert(open.end(), p_[id].operands.begin(), p_[id].operands.end());
    }
    std::sort(scans.begin(), scans.end());
    return scans;
  }
  // Whether a maximum or minimum must be NaN where an element is. Not where it is only subtracted
  // from the elements before a sum, as in a softmax: the sum is NaN then.
  bool NanMatters(Id reduce) const {
    const TensorValue& value = p_[reduce];
    if (value.reduce != ReduceKind::kMax && value.reduce != ReduceKind::kMin) return false;
    bool subtracted = false;
    for (const Id alike : region_.members) {
      if (p_[alike].kind != TensorValue::Kind::kReduce || FirstAlike(alike) != FirstAlike(reduce))
        continue;
      if (IsOutput(alike)) return true;
      std::vector<Id> same = {alike};  // itself, and where it is finite
      for (const Id member : region_.members)
        if (p_[member].kind == TensorValue::Kind::kPoint &&
            p_[member].primitive->name == "finite_or_zero" && p_[member].operands[0] == alike)
          same.push_back(member);
      for (const Id member : region_.members) {
        const TensorValue& reader = p_[member];
        if (std::find(same.begin() + 1, same.end(), member) != same.end() ||
            std::none_of(reader.operands.begin(), reader.operands.end(), [&](Id operand) {
              return std::find(same.begin(), same.end(), operand) != same.end();
            }))
          continue;
        if (reader.kind != TensorValue::Kind::kPoint) return true;
        const bool difference =
            reader.primitive->name == "sub" && reader.operands[0] == value.operands[0];
        // log(sum of exponentials of the differences) + maximum
        const TensorValue& first = p_[reader.operands[0]];
        const bool with_log = reader.primitive->name == "add" &&
                              first.kind == TensorValue::Kind::kPoint &&
                              first.primitive->name == "log";
        if (!difference && !with_log) return true;
        subtracted = subtracted || difference;
      }
    }
    if (!subtracted) return true;
    // Every result must need the sum of what comes of the differences.
    const Id sum = SumBehind(reduce);
    return sum < 0 ||
           std::any_of(form_.outputs.begin(), form_.outputs.end(),
                       [&](const KernelTensor& out) { return !NeedsSum(out.value, sum); });
  }
  bool Needs(Id value, Id other) const {
    if (value == other) return true;
    if (!IsMember(value)) return false;
    return std::any_of(p_[value].operands.begin(), p_[value].operands.end(),
                       [&](Id operand) { return operand >= other && Needs(operand, other); });
  }
  // `sum` or one like it.
  bool NeedsSum(Id value, Id sum) const {
    for (const Id member : region_.members)
      if (p_[member].kind == TensorValue::Kind::kReduce && FirstAlike(member) == sum &&
          Needs(value, member))
        return true;
    return false;
  }
  // The first sum that needs a reduction, or one like it; -1: none.
  Id SumBehind(Id reduce) const {
    for (const Id member : region_.members) {
      if (p_[member].kind != TensorValue::Kind::kReduce || p_[member].reduce != ReduceKind::kSum)
        continue;
      for (const Id alike : region_.members)
        if (p_[alike].kind == TensorValue::Kind::kReduce &&
            FirstAlike(alike) == FirstAlike(reduce) && Needs(member, alike))
          return FirstAlike(member);
    }
    return -1;
  }
  // Outputs per element that a pass writes.
  std::vector<const KernelTensor*> Stores(int pass) const {
    std::vector<const KernelTensor*> stores;
    for (const KernelTensor& tensor : form_.outputs)
      if (region_.IsPerElement(tensor.value) && form_.pass.at(tensor.value) == pass)
        stores.push_back(&tensor);
    return stores;
  }

  const Program& p_;
  Program* program_;
  const Region& region_;
  const KernelForm& form_;
};

}  // namespace davinci::teacher
