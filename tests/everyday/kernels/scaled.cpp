#include <cstdint>
extern "C" void scaled(const float* x, const float* w, float* out, int64_t rows, int64_t cols, float alpha) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c) {
      const float v = x[r * cols + c] * w[c];
      out[r * cols + c] = (v > 0 ? v : 0) * alpha;
    }
}
