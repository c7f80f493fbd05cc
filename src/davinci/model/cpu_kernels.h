// What a decode step on the CPU is made of: a few rows through large matrices, and attention of one
// position over a cache. Plain C++, no torch.
//
// Every output row depends on its own input row alone, bit by bit, whatever the number of rows:
// sums run in an order that the inner size decides. That is what makes a request's tokens
// independent of its neighbours in a batch.
//
// All functions work on a range of their outputs, so that the caller decides about threads; ranges
// do not change a bit either.
#pragma once

#include <cstdint>

namespace davinci::model {

// The matrix's element type.
enum class Element { kFloat32, kBfloat16 };

// y[m][n] = sum_k x[m][k] w[n][k] + bias[n], for all m < rows and begin <= n < end. `bias` may be
// null; it has the weights' type. Row-major; strides are `inner` for x and w, `out` for y.
void LinearRows(const float* x, int64_t rows, int64_t inner, const void* w, Element element,
                const void* bias, float* y, int64_t out, int64_t begin, int64_t end);

// y = x / sqrt(mean(x²) + eps) * weight, row by row, begin <= row < end. In place is fine.
// x's rows are `x_stride` apart, y's `width`.
void RmsNormRows(const float* x, int64_t x_stride, const void* weight, Element element, double eps,
                 float* y, int64_t width, int64_t begin, int64_t end);

// y[r][i] = silu(x[r][i]) * x[r][width + i], begin <= r < end.
void SiluMulRows(const float* x, float* y, int64_t width, int64_t begin, int64_t end);

// Rotates `heads` heads of `head_dim` values of each row in place (first half with second half).
// `cos_sin`: a table of rows [cos (head_dim / 2), sin (head_dim / 2)], indexed by positions[row].
// Rows of x are `stride` apart.
void RotateRows(float* x, int64_t stride, int64_t heads, int64_t head_dim, const float* cos_sin,
                const int64_t* positions, int64_t begin, int64_t end);

// One layer's cache: keys and values of all positions of all requests,
// [position][kv_heads][head_dim].
struct CacheView {
  void* keys = nullptr;
  void* values = nullptr;
  Element element = Element::kFloat32;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
};

// Stores rows begin <= r < end of k and v ([rows][kv_heads][head_dim], rows `stride` apart) at
// cache positions at[r].
void StoreRows(const CacheView& cache, const float* k, const float* v, int64_t stride,
               const int64_t* at, int64_t begin, int64_t end);

// Attention of one query per request: request r sees cache positions starts[r] … starts[r] +
// lengths[r] - 1. Work items are (request, kv head) pairs: begin <= r * kv_heads + h < end.
// q: [rows][heads][head_dim], rows `q_stride` apart; out: [rows][heads][head_dim]. `scratch` has
// room for (heads / kv_heads) * longest length floats per caller.
void AttendRows(const CacheView& cache, const float* q, int64_t q_stride, int64_t heads,
                const int32_t* starts, const int32_t* lengths, float scale, float* out,
                float* scratch, int64_t begin, int64_t end);

}  // namespace davinci::model
