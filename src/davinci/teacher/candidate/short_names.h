// Short names for a kernel's tensors, sizes and numbers, as delta replies have them. Internal.
#pragma once

#include "davinci/teacher/emit/emitter.h"

namespace davinci::teacher {

// `product`: the kernel computes a product, whose own tensors are x, y and z.
void NameShortly(Program* program, KernelForm* form, bool product);

}  // namespace davinci::teacher
