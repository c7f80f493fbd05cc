// What the writers of every language share: the text of a kernel in the making, and which values
// its lines already define. Internal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "davinci/teacher/emit/emitter.h"
#include "davinci/teacher/emit/region_reader.h"

namespace davinci::teacher {

class RegionWriter : protected RegionReader {
 protected:
  RegionWriter(Program* program, const Region& region, const KernelForm& form,
               const EmitOptions& options, size_t indent)
      : RegionReader(program, region, form),
        rules_(options.rules),
        brief_(options.brief),
        launch_(options.launch),
        names_(options.names),
        indent_(indent) {}

  void Line(const std::string& line) { body_ += std::string(indent_, ' ') + line + "\n"; }

  // The tensor that the kernel reads the value from; null: no input.
  const KernelTensor* Input(Id id) const {
    for (const KernelTensor& tensor : form_.inputs)
      if (tensor.value == id) return &tensor;
    return nullptr;
  }
  // The product of the sizes of loop axes: text in the kernel, Python text at the call, and the
  // number on the cuda target.
  std::string Multiplied(const std::vector<int>& axes) const {
    std::string product;
    for (const int axis : axes) {
      const std::string& size = form_.axes[static_cast<size_t>(axis)].size;
      product += product.empty() ? size : " * " + size;
    }
    return product.empty() ? "1" : product;
  }
  std::string HostSize(const std::vector<int>& axes) {
    return program_->SizeText(form_.Product(program_, axes));
  }
  double CudaSize(const std::vector<int>& axes) {
    return p_.At(form_.Product(program_, axes), synth::Binding::kCuda);
  }
  // Whether 32 bits count the elements of every tensor, on the cuda target.
  bool Counts32() const {
    constexpr double kMost = 2147483648.0;
    for (const auto* tensors : {&form_.inputs, &form_.outputs})
      for (const KernelTensor& tensor : *tensors)
        if (p_.Elements(tensor.value, synth::Binding::kCuda) >= kMost) return false;
    return true;
  }

  const RuleSet rules_;
  const bool brief_;
  const LaunchSettings launch_;
  const std::map<Id, std::string> names_;  // of the values of steps
  KernelText text_;
  std::string body_;
  size_t indent_;
  std::map<Id, std::string> known_;  // the text of values that are there
  int count_ = 0;                    // of names given
};

}  // namespace davinci::teacher
