"""Horner's rule in registers, double precision."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
extern "C" __global__ void Horner(const double* x, const double* coefficients, double* out,
                                  long long count, int num_coefficients) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double v = x[i];
  double y = coefficients[num_coefficients - 1];
  for (int k = num_coefficients - 2; k >= 0; --k) y = y * v + coefficients[k];
  out[i] = y;
}
"""

kernel = dv.cuda_module(SOURCE).get("Horner", "ptr ptr ptr i64 i32")


class ModelNew(nn.Module):
    def __init__(self, degree):
        super().__init__()
        self.coefficients = nn.Parameter(torch.randn(degree + 1, dtype=torch.float64))

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        blocks = (x.numel() + 255) // 256
        kernel[(blocks, 1, 1), (256, 1, 1)](
            x, self.coefficients, out, x.numel(), self.coefficients.numel()
        )
        return out
