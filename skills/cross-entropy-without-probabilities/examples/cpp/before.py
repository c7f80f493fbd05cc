"""Cross entropy by way of log-probabilities in memory."""
import torch
import torch.nn as nn

import davinci_runtime as dv

SOURCE = r"""
#include <cmath>
#include <cstdint>
#include <cstring>

// exp for x <= 0, relative error about 2e-7; 0 below -87. NaN stays NaN.
static inline float FastExp(float x) {
  const float clamped = x < -87.0f ? -87.0f : x;
  const float n = std::nearbyint(clamped * 1.44269504f);
  float r = clamped - n * 0.693359375f;
  r += n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, 4);
  return x < -87.0f ? 0.0f : p * scale;
}

extern "C" void LogSoftmax(const float* x, float* out, int64_t rows, int64_t cols) {
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * cols;
    float top = row[0];
#pragma omp simd reduction(max : top)
    for (int64_t j = 0; j < cols; ++j) top = row[j] > top ? row[j] : top;
    float total = 0.0f;
#pragma omp simd reduction(+ : total)
    for (int64_t j = 0; j < cols; ++j) total += FastExp(row[j] - top);
    const float shift = top + std::log(total);
#pragma omp simd
    for (int64_t j = 0; j < cols; ++j) out[r * cols + j] = row[j] - shift;
  }
}

extern "C" void PickMean(const float* logs, const int64_t* target, float* out, int64_t rows,
                         int64_t cols) {
  double sum = 0.0;
  for (int64_t r = 0; r < rows; ++r) sum -= logs[r * cols + target[r]];
  *out = static_cast<float>(sum / rows);
}
"""

module = dv.cpp_module(SOURCE)
log_softmax = module.get("LogSoftmax", "ptr ptr i64 i64")
pick_mean = module.get("PickMean", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def forward(self, logits, target):
        logits, target = logits.contiguous(), target.contiguous()
        rows, cols = logits.shape
        out = torch.empty((), dtype=logits.dtype)
        logs = torch.empty_like(logits)
        log_softmax(logits, logs, rows, cols)
        pick_mean(logs, target, out, rows, cols)
        return out
