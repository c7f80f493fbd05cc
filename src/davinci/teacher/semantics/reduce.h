// Reductions, means and the positions of extremes.
#pragma once

#include "davinci/teacher/semantics/builder.h"

namespace davinci::teacher {

// Over the axes that `dim` names; all where it is None.
Result<Meaning> Reduce(Builder& b, ReduceKind kind, Id x, const Meaning& dim, bool keepdim);
Result<Meaning> Mean(Builder& b, Id x, const Meaning& dim, bool keepdim);
// The pair of extreme value and its index, along one axis.
Result<Meaning> Extreme(Builder& b, ReduceKind kind, Id x, const Meaning& dim, bool keepdim);
// x[…, index, …] along `axis`: the sum of x where the position is the index. Index has x's shape
// without `axis`.
Result<Meaning> PickClass(Builder& b, Id x, Id index, size_t axis, bool keepdim);

}  // namespace davinci::teacher
