__global__ void scaled(const float* x, const float* w, float* out, int rows, int cols, float alpha) {
  for (int r = blockIdx.x; r < rows; r += gridDim.x)
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
      const float v = x[r * cols + c] * w[c];
      out[r * cols + c] = (v > 0 ? v : 0) * alpha;
    }
}
