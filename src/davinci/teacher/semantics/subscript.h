// The meaning of x[…]: items of a sequence, parts of a tensor, new axes, rows that an index names.
#pragma once

#include <functional>

#include "davinci/teacher/semantics/builder.h"
#include "davinci/teacher/semantics/python_expression.h"

namespace davinci::teacher {

using EvaluatePart = std::function<Result<Meaning>(const PythonExpression&)>;

// `subscript`: x[…] as a whole, whose x is `value`.
Result<Meaning> Subscript(Builder& b, const Meaning& value, const PythonExpression& subscript,
                          const EvaluatePart& evaluate);

}  // namespace davinci::teacher
