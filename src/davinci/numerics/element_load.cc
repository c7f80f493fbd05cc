#include "davinci/numerics/element_load.h"

#include "davinci/numerics/simd_clones.h"

namespace davinci::numerics {
namespace {

DV_SIMD_CLONES void LoadF16(const u16* in, int n, double* out) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<double>(FloatOfF16(in[i]));
}
DV_SIMD_CLONES void LoadBf16(const u16* in, int n, double* out) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<double>(FloatOfBf16(in[i]));
}
DV_SIMD_CLONES void LoadF32(const float* in, int n, double* out) {
  for (int i = 0; i < n; ++i) out[i] = static_cast<double>(in[i]);
}
void LoadF64(const double* in, int n, double* out) {
  for (int i = 0; i < n; ++i) out[i] = in[i];
}

DV_SIMD_CLONES void F16AsFloats(const u16* in, int n, float* out) {
  for (int i = 0; i < n; ++i) out[i] = FloatOfF16(in[i]);
}
DV_SIMD_CLONES void Bf16AsFloats(const u16* in, int n, float* out) {
  for (int i = 0; i < n; ++i) out[i] = FloatOfBf16(in[i]);
}

template <typename T>
void Widen(const void* data, int64_t begin, int n, int64_t* out) {
  const T* in = static_cast<const T*>(data) + begin;
  for (int i = 0; i < n; ++i)
    out[i] =
        static_cast<int64_t>(in[i]);  // NOLINT(bugprone-signed-char-misuse): an int8 is a number
}

}  // namespace

void LoadDoubles(const void* data, DType dtype, int64_t begin, int n, double* out) {
  switch (dtype) {
    case DType::kF16:
      LoadF16(static_cast<const u16*>(data) + begin, n, out);
      break;
    case DType::kBf16:
      LoadBf16(static_cast<const u16*>(data) + begin, n, out);
      break;
    case DType::kF32:
      LoadF32(static_cast<const float*>(data) + begin, n, out);
      break;
    case DType::kF64:
      LoadF64(static_cast<const double*>(data) + begin, n, out);
      break;
    default:
      break;
  }
}

void LoadHalves(const u16* data, DType dtype, int n, float* out) {
  if (dtype == DType::kF16) {
    F16AsFloats(data, n, out);
  } else {
    Bf16AsFloats(data, n, out);
  }
}

void LoadIntegers(const void* data, DType dtype, int64_t begin, int n, int64_t* out) {
  switch (dtype) {
    case DType::kI8:
      Widen<int8_t>(data, begin, n, out);
      break;
    case DType::kU8:
    case DType::kBool:
      Widen<uint8_t>(data, begin, n, out);
      break;
    case DType::kI16:
      Widen<int16_t>(data, begin, n, out);
      break;
    case DType::kI32:
      Widen<int32_t>(data, begin, n, out);
      break;
    case DType::kI64:
      Widen<int64_t>(data, begin, n, out);
      break;
    default:
      break;
  }
}

}  // namespace davinci::numerics
