#include "davinci/weights/dtype.h"

#include <fmt/format.h>

#include <array>

namespace davinci::weights {
namespace {

struct Row {
  std::string_view name;
  Block block;
};

// Rows in the order of DType. Block sizes of the GGUF types are part of that format.
constexpr std::array<Row, 17> kRows = {{{"F32", {1, 4}},
                                        {"F16", {1, 2}},
                                        {"BF16", {1, 2}},
                                        {"F64", {1, 8}},
                                        {"I64", {1, 8}},
                                        {"I32", {1, 4}},
                                        {"I16", {1, 2}},
                                        {"I8", {1, 1}},
                                        {"U8", {1, 1}},
                                        {"BOOL", {1, 1}},
                                        {"Q8_0", {32, 34}},
                                        {"Q4_0", {32, 18}},
                                        {"Q4_1", {32, 20}},
                                        {"Q5_0", {32, 22}},
                                        {"Q5_1", {32, 24}},
                                        {"Q4_K", {256, 144}},
                                        {"Q6_K", {256, 210}}}};
constexpr int64_t kLargest = int64_t{1} << 62;

}  // namespace

std::string_view DTypeName(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }
Block BlockOf(DType dtype) { return kRows[static_cast<size_t>(dtype)].block; }

bool IsFloating(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16 ||
         dtype == DType::kF64 || IsQuantized(dtype);
}

std::optional<DType> DTypeFromSafetensors(std::string_view name) {
  for (size_t i = 0; i <= static_cast<size_t>(DType::kBool); ++i)
    if (kRows[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

Result<int64_t> NumElements(std::span<const int64_t> shape) {
  int64_t elements = 1;
  for (const int64_t size : shape) {
    if (size < 0) return InvalidArgument(fmt::format("negative dimension {}", size));
    if (__builtin_mul_overflow(elements, size, &elements) || elements > kLargest)
      return InvalidArgument("the shape has more than 2^62 elements");
  }
  return elements;
}

Result<int64_t> NumBytes(DType dtype, std::span<const int64_t> shape) {
  DAVINCI_ASSIGN_OR_RETURN(const int64_t elements, NumElements(shape));
  const Block block = BlockOf(dtype);
  if (block.elements > 1 && (shape.empty() || shape.back() % block.elements != 0))
    return InvalidArgument(fmt::format("rows of {} must be a multiple of {} elements, this has {}",
                                       DTypeName(dtype), block.elements,
                                       shape.empty() ? 0 : shape.back()));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(elements / block.elements, block.bytes, &bytes) || bytes > kLargest)
    return InvalidArgument("the tensor has more than 2^62 bytes");
  return bytes;
}

}  // namespace davinci::weights
