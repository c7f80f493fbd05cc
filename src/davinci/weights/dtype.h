// Element types of stored tensors, and what of them this program can read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "davinci/base/status.h"

namespace davinci::weights {

enum class DType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kF64,
  kI64,
  kI32,
  kI16,
  kI8,
  kU8,
  kBool,
  // Blocks of GGUF files; Dequantize() (dequantize.h) makes floats of them.
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ4_K,
  kQ6_K,
};

// "F32", "BF16", "Q4_K", … as safetensors and GGUF tools print them.
std::string_view DTypeName(DType dtype);
// Elements and bytes of the smallest addressable unit: {1, 4} for F32, {32, 34} for Q8_0.
struct Block {
  int64_t elements = 1;
  int64_t bytes = 1;
};
Block BlockOf(DType dtype);
inline bool IsQuantized(DType dtype) { return BlockOf(dtype).elements > 1; }
// F32, F16, BF16, F64 and all quantized types: what Dequantize() reads.
bool IsFloating(DType dtype);

// The type a safetensors header names, if known here ("F8_E4M3" is not).
std::optional<DType> DTypeFromSafetensors(std::string_view name);

// Elements of `shape`. InvalidArgument for a negative dimension or a product above 2^62.
Result<int64_t> NumElements(std::span<const int64_t> shape);
// Bytes of a tensor. InvalidArgument as above, and where the last dimension is not a whole number
// of blocks.
Result<int64_t> NumBytes(DType dtype, std::span<const int64_t> shape);

}  // namespace davinci::weights
