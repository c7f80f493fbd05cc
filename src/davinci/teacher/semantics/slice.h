// Reads of a part of a tensor.
#pragma once

#include "davinci/teacher/semantics/builder.h"

namespace davinci::teacher {

// `size` elements along the axis, from `from` on.
Result<Meaning> Slice(Builder& b, Id x, size_t axis, DimId from, DimId size);
// x[:, …, index]: the index' axes take the place of `axis`.
Result<Meaning> Select(Builder& b, Id x, size_t axis, Id index);
// `index`, kept within an axis of this shape; whether it was within is and-ed to `inside`.
Result<Id> Clamped(Builder& b, Id index, const std::vector<DimId>& shape, size_t axis,
                   std::optional<Meaning>* inside);
// Makes `inside` the conjunction with `more`.
Status Narrow(Builder& b, const Meaning& more, std::optional<Meaning>* inside);

}  // namespace davinci::teacher
