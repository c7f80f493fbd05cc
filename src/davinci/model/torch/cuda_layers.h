// The operations and layers of a pass that davinci's CUDA kernels do.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "davinci/model/decode_kernels.h"
#include "davinci/model/torch/cuda_cache.h"
#include "davinci/model/torch/cuda_step.h"
#include "davinci/model/torch/operations.h"

namespace davinci::model {

// `kernels` and `stream`, the current CUDA stream, outlive it.
class CudaFusedOps final : public FusedOps {
 public:
  CudaFusedOps(const DecodeKernels* kernels, void* stream) : kernels_(*kernels), stream_(stream) {}
  void Heads(const at::Tensor& qkv, const at::Tensor& q_norm, const at::Tensor& k_norm, double eps,
             const at::Tensor& cos_sin, const at::Tensor& positions) const override;
  at::Tensor Norm(const at::Tensor& x, const at::Tensor& weight, double eps) const override;
  at::Tensor SiluMul(const at::Tensor& both) const override;

 private:
  const DecodeKernels& kernels_;
  void* const stream_;
};

// The layers of a step of `rows`. With few rows and small products five launches: norm and qkv,
// attention, o, norm and gate and up, down. Otherwise products are cuBLAS's and norms are factors
// applied behind them (FoldNorms() has been called): six launches.
class DecodeLayers final : public LayerOps {
 public:
  struct Parts {  // outlive it
    const weights::ModelConfig* config = nullptr;
    const DecodeKernels* kernels = nullptr;
    const CudaFusedOps* fused = nullptr;
    const CudaCache* cache = nullptr;
    const StepInputs* inputs = nullptr;  // on the device
    void* stream = nullptr;
    int64_t most_projected_rows = 0;  // see EngineOptions
  };
  DecodeLayers(const Parts& parts, int64_t rows) : parts_(parts), rows_(rows) {}
  bool Block(int64_t index, const Layer& layer, const at::Tensor& cos_sin,
             const at::Tensor& positions, at::Tensor* x) const override;

 private:
  float Eps() const { return static_cast<float>(parts_.config->rms_norm_eps); }
  bool Projects(const Linear& linear, int64_t width) const;
  bool NormsLate(const at::Tensor& x, const Linear& linear, int64_t width) const;
  at::Tensor Project(const at::Tensor& x, const at::Tensor& norm, const Linear& linear, bool gate,
                     const at::Tensor& residual) const;
  at::Tensor Normed(const at::Tensor& x, const at::Tensor& weight) const;
  at::Tensor NormLinear(const at::Tensor& x, const at::Tensor& norm, const Linear& linear) const;
  at::Tensor NormGated(const at::Tensor& x, const at::Tensor& norm, const Linear& linear) const;
  void AddLinear(at::Tensor* x, const Linear& linear, const at::Tensor& y) const;

  const Parts parts_;
  const int64_t rows_;
};

}  // namespace davinci::model
