// What the writers of both languages ask of a region and its form. Internal.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "davinci/teacher/kernel_form.h"

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
  bool IsOutput(Id id) const {
    return std::any_of(form_.outputs.begin(), form_.outputs.end(),
                       [&](const KernelTensor& tensor) { return tensor.value == id; });
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
