// Kernels in C++: loops of rows, of columns and of single elements. Internal.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/emit/c_writer.h"
#include "davinci/teacher/emit/cpp/index_ranges.h"

namespace davinci::teacher {

class CppWriter : private CWriter {
 public:
  CppWriter(Program* program, const Region& region, const KernelForm& form,
            const EmitOptions& options)
      : CWriter(program, region, form, options, "int64_t"), ranges_(program, &region, &form) {}
  KernelText Write();

 private:
  static constexpr int kLanes = 64;       // columns that one task reduces side by side
  static constexpr int kShortRow = 16;    // elements of a row that fill no vector register
  static constexpr int kFewestLanes = 8;  // rows side by side from which half a register is filled
  static constexpr size_t kMostParts = 16;    // of one loop
  static constexpr size_t kMostBranches = 9;  // copies of a kernel's inner loops

  std::string StoredType(DType type) override;
  std::string PrimitiveForm(const TensorValue& value) override;
  std::string AsFloat(Id, const std::string& text) const override { return text; }
  std::string IndexText(int axis) const override;
  std::string Scan(Id id) override;
  std::string Decided(Id id) const override;
  std::optional<Id> Chosen(Id id) const override;
  bool HoldsSize(const LoopAxis& axis) const override { return held_.contains(axis.size); }

  // Threads cost more than they bring below some tens of microseconds of work.
  std::string Parallel(const std::string& kind = "", const std::string& clause = "") const;
  static std::string Loop(const LoopAxis& axis);
  // Sizes that are numbers where the task is written become constants of the kernel: divisions of
  // indices become products, short loops are unrolled.
  void HoldSizes();
  // The size of an axis that the kernel holds.
  std::optional<int64_t> Held(const LoopAxis& axis) const;
  // The size of an axis that is a number where the task is written.
  std::optional<int64_t> Number(const LoopAxis& axis) const;
  void Pointwise();

  // Splits loops where borders, paddings and joins of tensors begin and end (cpp_parts.cc): within
  // a part nothing is clamped or chosen.
  using Body = std::function<void()>;
  // Writes `body` in a branch for each part of the axes, whose indices are known.
  void Branches(const std::vector<int>& axes, const Body& body, size_t at = 0,
                size_t most = kMostBranches);
  // Writes one loop over an axis for each of its parts.
  void LoopInParts(int axis, const std::string& pragma, const Body& body);
  // Finds the parts of the lanes' axis, and writes where they begin in the block.
  void FindLaneParts();
  void LaneLoop(const Body& body, bool simd = true);
  void InPart(int axis, IndexRanges::Range part, const Body& body);

  // A value per element that is costly and that several passes need stays in an output's memory,
  // or in a buffer for one row, between the first and the last of them: softmax computes its
  // exponentials once.
  struct Stored {
    Id value = -1;
    const KernelTensor* tensor = nullptr;  // null: the buffer
    std::string buffer;
    std::set<int> passes;  // that need it
    int First() const { return *passes.begin(); }
    int Last() const { return *passes.rbegin(); }
  };
  std::string StoredElement(const Stored& stored) const;
  bool IsCostly(Id id) const;
  void Needed(Id id, int pass, std::map<Id, std::set<int>>* needed) const;
  void PlanStored();
  bool Reads(Id value, Id operand) const;

  static std::string Clause(ReduceKind kind);
  static std::string Accumulate(ReduceKind kind, const std::string& sum, const std::string& what);
  // What a pass computes from one element.
  void ElementStatements(int pass, const std::vector<Id>& reduces,
                         const std::vector<std::string>& sums, const std::string& lane);
  // Where one row is computed at a time, a sum of what stands at one index is that element.
  bool IsPick(Id reduce) const;
  bool OneRow() const;
  // Of a pass: reductions that need its loop.
  std::vector<Id> LoopReduces(int pass) const;
  void Picks(int pass);
  // Sums of a pass, set to their neutral values; `clause` gets them for OpenMP.
  std::vector<std::string> Sums(const std::vector<Id>& reduces, const std::string& prefix,
                                std::string* clause);
  // Every pass over one row, or over all elements where `whole`.
  void RowPasses(bool whole);
  // What scans of a pass have gathered so far. Sums and products in double: PyTorch does so.
  void DeclareRuns(const std::vector<Id>& scans, bool lanes);
  // One row at a time; the innermost loop runs along the row.
  void Rows();
  void Whole();

  // Columns, and short rows of known length, are reduced many at a time.
  bool SideBySide() const;
  void LaneStatements(int after);
  // Many columns side by side: the innermost loop runs along the contiguous kept axis.
  void Columns();
  void ColumnPasses();  // over one block of lanes

  IndexRanges ranges_;
  std::vector<IndexRanges::Range> lane_parts_;
  std::map<std::string, int64_t> held_;  // sizes by their names
  int lane_axis_ = -1;
  int picked_axis_ = -1;  // whose index is `picked_index_`
  std::string picked_index_;
  std::vector<Stored> stored_;
  std::map<Id, std::string> runs_;  // of the scans of the pass
};

}  // namespace davinci::teacher
