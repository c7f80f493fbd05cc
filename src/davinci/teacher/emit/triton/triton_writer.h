// Kernels in Triton: the text of a value, masks, reductions of a tile, and the call. Internal.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "davinci/teacher/emit/region_writer.h"

namespace davinci::teacher {

class TritonWriter : protected RegionWriter {
 protected:
  TritonWriter(Program* program, const Region& region, const KernelForm& form,
               const EmitOptions& options)
      : RegionWriter(program, region, form, options, 4) {}

  // The text of a value where the cursor stands; emits lines for what it needs.
  std::string Text(Id id);
  std::string Assign(Id id, const std::string& text);
  // Whether the tensor has the innermost loop axis.
  bool HasLast(const KernelTensor& tensor) const;
  void Store(const KernelTensor& tensor);
  // All outputs, behind the values of steps in the order of the steps.
  void StoreAll();
  void StoreAt(const std::string& place, const std::string& value, const std::string& mask);
  // The text of the place where an element of the tensor lies.
  std::string OffsetOf(const KernelTensor& tensor) const;
  // The reduced index of all lanes, and `inside`.
  void Columns(const std::string& col, const std::string& cols, const std::string& lanes);
  // Indices of several axes from one flat index.
  void Decompose(const std::vector<int>& axes, const std::string& flat);
  // Of the tensors and numbers of the kernel: names, and what a call gives for them.
  std::vector<std::string> Parameters() const;
  std::vector<std::string> Arguments() const;
  // The same of the sizes of loop axes.
  void SizesOfAxes(std::vector<std::string>* parameters, std::vector<std::string>* arguments);
  // Division of 64-bit indices is slow, so only tensors that need them get them.
  std::string FirstProgram() const;
  static std::string Neutral(ReduceKind kind);
  // One value of those along a row.
  std::string Combine(ReduceKind kind, const std::string& what, bool nan = false);
  std::string Truth(Id id, const std::string& text) const;
  // What a reduction reads, without the elements behind the row's end.
  std::string Masked(Id reduce);
  // The reductions of rows that a tile holds.
  void ReduceInRegisters();
  // Adds a kernel of the lines so far, and its call.
  void Add(const std::string& name, const std::vector<std::string>& parameters,
           const std::vector<std::string>& arguments, const std::string& grid,
           const std::string& constants);

  bool one_row_ = false;            // brief: of a program, so no row lies outside
  bool windows_ = false;            // brief: one element of each row's window after the other
  bool flat_columns_ = false;       // `col` numbers the reduced elements
  bool planes_ = false;             // a block of reduced elements lies in a plane
  std::map<Id, std::string> runs_;  // of the scans of the pass, where a row is read in blocks

 private:
  // The prelude's reduction of the rows of a tile.
  static std::string RowHelper(ReduceKind kind);
  static std::string WithoutUnused(std::string body);
  static std::string WithoutParts(std::string body);
  void AddBrief(const std::string& name, const std::vector<std::string>& parameters,
                const std::vector<std::string>& arguments, const std::string& grid,
                const std::string& constants);
  // The body divides indices by the parameter, a size.
  bool Divides(const std::string& parameter) const;
  std::string Scalar(Id id) const;
  // `mask`: ", mask=…", or "" where all elements are there.
  std::string Load(const TensorValue& value, const std::string& place, const std::string& mask);
  std::string Scan(Id id);
  // The condition, as a name where loads behind it get it as a mask.
  std::string GuardLoads(Id selection, std::string condition);
  std::string MaskOf(const KernelTensor& tensor) const;
  std::map<Id, std::string> guards_;  // of loads
};

}  // namespace davinci::teacher
