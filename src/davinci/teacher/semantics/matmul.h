// Matrix products and linear maps, which the library or a kernel of one's own computes, and their
// cheaper forms by structure.
#pragma once

#include "davinci/teacher/semantics/builder.h"

namespace davinci::teacher {

// a @ b. Diagonal matrices and the order of a chain make it cheaper, where rules allow that.
Result<Meaning> Matmul(Builder& b, Id left, Id right);
// F.linear, or the module at `module`: a vendor product that remembers its parts.
Result<Meaning> Linear(Builder& b, Id x, const Meaning& weight, const Meaning& bias,
                       const std::string& module);

}  // namespace davinci::teacher
