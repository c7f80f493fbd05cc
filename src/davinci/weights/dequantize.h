// Stored elements to floats and back. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/weights/dtype.h"

namespace davinci::weights {

// Makes fp32 of `data`, whole blocks of `dtype`, exactly as the formats define the values.
// InvalidArgument when the sizes do not fit each other or `dtype` is not floating.
Status Dequantize(DType dtype, std::span<const std::byte> data, std::span<float> out);

// The types Quantize() writes: F32, F16, BF16, Q8_0.
bool IsWritable(DType dtype);
// `values` as `dtype`, rounded to nearest (even on ties; Q8_0: scale = largest magnitude / 127 per
// 32 values, halves away from zero). The count must be a whole number of blocks.
Result<std::vector<std::byte>> Quantize(DType dtype, std::span<const float> values);

}  // namespace davinci::weights
