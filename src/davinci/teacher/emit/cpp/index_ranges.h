// The class IndexRanges knows the ranges of indices within a part of a kernel's loops, and finds
// where along an axis comparisons, clamps and choices between tensors change. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "davinci/teacher/regions/kernel_form.h"

namespace davinci::teacher {

class IndexRanges {
 public:
  struct Range {
    int64_t first = 0, last = 0;
    bool operator==(const Range&) const = default;
    bool IsOne() const { return first == last; }
  };

  IndexRanges(const Program* program, const Region* region, const KernelForm* form)
      : program_(program), region_(region), form_(form) {}

  // Sets the indices that a loop axis has from here on.
  void Set(int axis, Range range) {
    axes_[axis] = range;
    ranges_.clear();
    sums_.clear();
    chosen_.clear();
  }
  std::optional<Range> OfAxis(int axis) const;
  // Returns the range of an index, or of a truth value made of indices (0 and 1); nothing where it
  // is not known.
  std::optional<Range> Of(Id id) const;
  // Returns the text of an index that is a sum of loop axes, `index` naming that of an axis; "":
  // the value is no such sum.
  std::string TextOf(Id id, const std::function<std::string(int)>& index) const;
  // Returns the operand that a choice (where, and, or, a minimum or maximum of indices) equals
  // everywhere in the ranges; nothing: the value is no choice, or both operands are needed.
  std::optional<Id> Chosen(Id id) const;
  // Divides the range of an axis into parts, in each of which more is known than in all of it;
  // returns none where nothing is gained, or where more parts than `most` would be needed.
  std::vector<Range> Parts(int axis, size_t most) const;

 private:
  // A sum of loop axes with factors.
  struct Affine {
    int64_t constant = 0;
    std::map<int, int64_t> factors;
  };
  std::optional<Affine> AffineOf(Id id) const;
  std::optional<Affine> FindAffine(Id id) const;
  std::optional<Affine> AffineOfIota(Id id) const;
  std::optional<Affine> AffineOfQuotient(const TensorValue& value) const;
  // Returns the range of a - b, exact where both are affine.
  std::optional<Range> Difference(Id a, Id b) const;
  std::optional<Range> RangeOf(const Affine& sum) const;
  std::optional<Range> OfPoint(Id id) const;
  std::optional<Id> FindChosen(Id id) const;
  std::optional<Range> OfComparison(const TensorValue& value) const;
  // Returns whether the kernel computes the value, rather than reading it from memory.
  bool IsComputedHere(Id id) const;
  // Adds the places along an axis where what `id` needs changes.
  void Collect(Id id, int axis, std::set<Id>* seen, std::set<int64_t>* places) const;
  void Changes(const TensorValue& value, int axis, std::set<int64_t>* places) const;

  const Program* program_;
  const Region* region_;
  const KernelForm* form_;
  std::map<int, Range> axes_;
  // These hold what was found since the last change of `axes_`.
  mutable std::map<Id, std::optional<Range>> ranges_;
  mutable std::map<Id, std::optional<Affine>> sums_;
  mutable std::map<Id, std::optional<Id>> chosen_;
};

}  // namespace davinci::teacher
