// The lines of forward() between the kernels: calls that stay PyTorch's, and memory for results.
// Internal.
#pragma once

#include <set>
#include <string>

#include "davinci/teacher/candidate/draft.h"

namespace davinci::teacher {

class ForwardLines {
 public:
  explicit ForwardLines(Draft* draft) : d_(*draft) {}

  // Returns the name by which a launch reads the value.
  std::string Host(Id id);
  // Returns the name of an input in the order of its axes in memory; nothing is copied where it
  // lies as it was traced.
  std::string HostAsItLies(Id id);
  void Opaque(Id id);
  // Makes a value contiguous that a region reads.
  void MakeContiguous(Id id);
  void Allocate(const Region& region);

 private:
  // Kernels read the memory of an input through a view of it: it has to lie as it was traced.
  void ReadInput(Id id);
  // Returns whether a region reads the value, or a view of its memory.
  bool IsReadByRegion(Id id) const;
  // Returns whether the call is a layer of an imported module as it is; its text is
  // "self.conv(x)" in delta replies.
  bool IsLayer(const TensorValue& value) const;
  std::string LayerOf(const TensorValue& value) const;
  // Returns whether a tensor of PyTorch's may not be contiguous.
  bool IsStrided(Id id) const;
  // Returns whether kernels alone read the value, so that those of a delta reply may get the memory
  // that it is a view of.
  bool OnlyKernelsRead(Id id) const;
  // The fresh result of a vendor call that an output may overwrite: nothing else reads it, and the
  // kernel reads each of its elements where it writes. -1: none.
  Id Overwritten(const Region& region, Id output);
  bool DependsOn(const Region& region, Id output, Id operand) const;

  Draft& d_;
  std::set<std::string> turned_inputs_;
  std::set<Id> overwritten_;
  std::set<Id> strided_;  // reshapes of views
};

}  // namespace davinci::teacher
