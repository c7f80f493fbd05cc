// Storage to double (exact for every floating type) or int64, a chunk at a time so that the loops
// vectorise.
#pragma once

#include <cstdint>

#include "davinci/numerics/element_rules.h"

namespace davinci::numerics {

// `n` elements starting at element `begin`. Floating types only.
void LoadDoubles(const void* data, DType dtype, int64_t begin, int n, double* out);
// `n` f16 or bf16 as floats.
void LoadHalves(const u16* data, DType dtype, int n, float* out);
// Integers and bool. A bool that is neither 0 nor 1 reads as its byte value.
void LoadIntegers(const void* data, DType dtype, int64_t begin, int n, int64_t* out);

}  // namespace davinci::numerics
