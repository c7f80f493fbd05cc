// Views that kernels read where they lie, by the strides of the memory behind them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "davinci/teacher/program/program.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {

struct StridedShape {
  std::vector<int64_t> sizes, strides;
  bool operator==(const StridedShape&) const = default;

  static StridedShape Contiguous(std::vector<int64_t> sizes);
};

// The view that a text makes of the name `base`: transposes, parts, new axes, expansions, reshapes
// that need no copy. `sizes` are those of the text's result, or of each item where the text is a
// tuple and `item` says which; nothing: the text is no such view.
std::optional<StridedShape> ViewOf(const PythonExpression& text, const StridedShape& base,
                                   const std::vector<int64_t>& sizes, std::optional<int> item = {});

// Sets `strides` and `view_of` of the views that kernels can read in place: those of known sizes
// whose last axis lies side by side, or that stay in a core's cache.
void FindStrides(Program* program);

}  // namespace davinci::teacher
