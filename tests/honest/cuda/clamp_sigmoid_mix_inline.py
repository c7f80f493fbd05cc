"""Clamped sigmoid and convex mix in one kernel, launched without naming a stream."""
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CPP_SOURCE = r"""
torch::Tensor mix(torch::Tensor a, torch::Tensor b, torch::Tensor logits, double low, double high);
"""

CUDA_SOURCE = r"""
__global__ void mix_kernel(const float* a, const float* b, const float* logits, float* out,
                           float low, float high, int64_t count) {
  int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) {
    float w = 1.0f / (1.0f + expf(-logits[i]));
    w = w < low ? low : w;
    w = w > high ? high : w;
    out[i] = w * a[i] + (1.0f - w) * b[i];
  }
}

torch::Tensor mix(torch::Tensor a, torch::Tensor b, torch::Tensor logits, double low,
                  double high) {
  a = a.contiguous();
  b = b.contiguous();
  logits = logits.contiguous();
  auto out = torch::empty_like(a);
  const int64_t count = a.numel();
  mix_kernel<<<(count + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(),
                                           logits.data_ptr<float>(), out.data_ptr<float>(), low,
                                           high, count);
  return out;
}
"""

extension = load_inline(
    name="clamp_sigmoid_mix_cuda",
    cpp_sources=CPP_SOURCE,
    cuda_sources=CUDA_SOURCE,
    functions=["mix"],
)


class ModelNew(nn.Module):
    def __init__(self, low, high):
        super().__init__()
        self.low = low
        self.high = high

    def forward(self, a, b, logits):
        return extension.mix(a, b, logits, self.low, self.high)
