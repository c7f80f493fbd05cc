// A region as loops: axes that lie behind each other in every tensor become one, each tensor gets
// an offset, and values get the pass over the reduced elements in which they can be computed.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/program/precedence.h"
#include "davinci/teacher/regions/fusion.h"

namespace davinci::teacher {

struct LoopAxis {
  std::string size, index;  // names in the kernel
  DimId dim = synth::kNoDim;
  bool reduced = false;
};

struct KernelTensor {
  Id value = -1;
  std::string name;  // in the kernel, without "_ptr"
  std::string host;  // Python text at the call
  bool output = false;
  std::vector<int> axes;              // of the loop axes it has, outermost first
  std::vector<int64_t> strides = {};  // of `axes`; empty: contiguous
};

struct KernelForm {
  std::string name;
  std::vector<LoopAxis> axes;      // outermost first
  std::vector<int> kept, reduced;  // of `axes`
  std::vector<KernelTensor> inputs, outputs;
  std::vector<std::pair<std::string, Id>> scalars;  // numbers known at run time
  // Of members: the pass in which an element value, or the pass after which a row value, is there.
  std::map<Id, int> pass;
  int num_passes = 1;
  std::map<int, int> axis_of;  // axis of the region's space -> of `axes`
  // Sums of squares about a mean, and the sum of that mean: one pass gives both.
  std::map<Id, Id> variance_of;

  bool IsSize(const std::string& scalar) const;  // the name of a scalar is a loop axis' size
  bool Has(const KernelTensor& tensor, bool reduced_axes) const;
  // "i0 * (n1 * n2) + i2", with `index` naming the index of an axis.
  std::string Offset(const KernelTensor& tensor,
                     const std::function<std::string(int)>& index) const;
  // The offset with fewer products: "(i0 * n1 + i1) * n2 + i2".
  std::string Horner(const KernelTensor& tensor,
                     const std::function<std::string(int)>& index) const;
  DimId Product(Program* program, const std::vector<int>& which) const;
};

// `name_of` gives the Python name of a tensor at the call; no tensor gets a `reserved` name.
KernelForm MakeForm(Program* program, const Region& region, const std::string& name,
                    const std::function<std::string(Id)>& name_of,
                    const std::set<std::string>& reserved = {});

// Finds `variance_of`, which makes passes fewer.
void FindVariances(Program* program, const Region& region, KernelForm* form);

}  // namespace davinci::teacher
