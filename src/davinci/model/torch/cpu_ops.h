// cpu_kernels.h on tensors, spread over ATen's threads. No gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include "davinci/model/cpu_kernels.h"

namespace davinci::model {

Element ElementOf(const at::Tensor& tensor);

// x: fp32 [rows, in]; weight: fp32 or bf16 [out, in]; bias may be undefined. Returns fp32.
at::Tensor LinearOp(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
// A weight in the layout that oneDNN's product reads.
struct PackedWeight {
  at::Tensor matrix;     // undefined: none
  int64_t row_step = 0;  // in products of a multiple of so many rows, a row's bits are its own
};
// None where that product is not to be had for this type on this CPU, or where the bits of a row
// depend on the number of rows whatever the step (looked at once for each shape).
PackedWeight PackWeight(const at::Tensor& weight);
// The same product with a packed weight: x is rounded to the weight's type, the result to fp32.
at::Tensor PackedLinearOp(const at::Tensor& x, const PackedWeight& packed, const at::Tensor& bias);
at::Tensor NormOp(const at::Tensor& x, const at::Tensor& weight, double eps);
// [rows, 2 width] → [rows, width]
at::Tensor SiluMulOp(const at::Tensor& x);
// qkv: fp32 [rows, heads + 2 kv_heads, head_dim], dense; normalises q and k heads (undefined: not)
// and rotates them in place.
void HeadsOp(at::Tensor qkv, int64_t heads, int64_t kv_heads, const at::Tensor& q_norm,
             const at::Tensor& k_norm, double eps, const at::Tensor& cos_sin,
             const at::Tensor& positions);
// One position per row: stores k and v at the cache's positions `at` and attends (AttendRows).
at::Tensor AttendOp(const CacheView& cache, const at::Tensor& q, const at::Tensor& k,
                    const at::Tensor& v, const at::Tensor& at, const at::Tensor& starts,
                    const at::Tensor& lengths, float scale, int64_t longest);

}  // namespace davinci::model
