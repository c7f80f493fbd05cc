#include "davinci/model/torch/cuda_layers.h"

#include <ATen/ATen.h>

namespace davinci::model {
namespace {

using at::Tensor;

// Weights of a product in a layer above which it is cuBLAS's.
constexpr int64_t kMostProjectedWeights = int64_t{8} << 20;

const void* AddressOf(const Tensor& x) { return x.defined() ? x.data_ptr() : nullptr; }

}  // namespace

void CudaFusedOps::Heads(const Tensor& qkv, const Tensor& q_norm, const Tensor& k_norm, double eps,
                         const Tensor& cos_sin, const Tensor& positions) const {
  CheckLaunch(kernels_.Heads(stream_, qkv.data_ptr(), AddressOf(q_norm), AddressOf(k_norm),
                             static_cast<float>(eps), cos_sin.const_data_ptr<float>(),
                             positions.const_data_ptr<int64_t>(), qkv.size(0)));
}

Tensor CudaFusedOps::Norm(const Tensor& x, const Tensor& weight, double eps) const {
  if (!x.is_contiguous() || !DecodeKernels::CanNorm(x.size(-1))) return {};
  Tensor out = at::empty_like(x);
  CheckLaunch(kernels_.Norm(stream_, x.data_ptr(), weight.data_ptr(), static_cast<float>(eps),
                            out.data_ptr(), x.numel() / x.size(-1), x.size(-1)));
  return out;
}

Tensor CudaFusedOps::SiluMul(const Tensor& both) const {
  const int64_t width = both.size(1) / 2;
  if (width % 8 != 0) return at::silu(both.narrow(1, 0, width)) * both.narrow(1, width, width);
  Tensor out = at::empty({both.size(0), width}, both.options());
  CheckLaunch(kernels_.SiluMul(stream_, both.data_ptr(), out.data_ptr(), both.size(0), width));
  return out;
}

bool DecodeLayers::Block(int64_t index, const Layer& layer, const Tensor& cos_sin,
                         const Tensor& positions, Tensor* x) const {
  if (!parts_.kernels->can_attend()) return false;
  for (const Linear* linear : {&layer.qkv, &layer.o, &layer.gate_up, &layer.down})
    if (!linear->low_rank.empty()) return false;
  const bool late = NormsLate(*x, layer.qkv, layer.qkv.weight.size(0));
  const Tensor qkv =
      late ? at::linear(*x, layer.qkv.weight) : NormLinear(*x, layer.input_norm, layer.qkv);
  const Tensor seen = at::empty({rows_, layer.o.weight.size(1)}, x->options());
  CheckLaunch(parts_.kernels->AttendWhole(
      parts_.stream, qkv.data_ptr(), late ? x->data_ptr() : nullptr, x->size(1),
      AddressOf(layer.q_norm), AddressOf(layer.k_norm), Eps(), cos_sin.const_data_ptr<float>(),
      positions.const_data_ptr<int64_t>(), parts_.cache->Keys(index).data_ptr(),
      parts_.cache->Values(index).data_ptr(), parts_.inputs->starts.const_data_ptr<int32_t>(),
      parts_.inputs->lengths.const_data_ptr<int32_t>(), static_cast<float>(parts_.cache->scale()),
      seen.data_ptr(), rows_));
  AddLinear(x, layer.o, seen);
  AddLinear(x, layer.down, NormGated(*x, layer.post_norm, layer.gate_up));
  return true;
}

bool DecodeLayers::Projects(const Linear& linear, int64_t width) const {
  return rows_ <= parts_.most_projected_rows && linear.weight.numel() <= kMostProjectedWeights &&
         DecodeKernels::CanProject(width, linear.weight.size(1));
}

// Whether the product behind a norm takes x as it is: one of cuBLAS, whose results are multiplied
// by the norm's factor where they are read.
bool DecodeLayers::NormsLate(const Tensor& x, const Linear& linear, int64_t width) const {
  return !Projects(linear, width) && !linear.bias.defined() && x.size(1) % 8 == 0;
}

Tensor DecodeLayers::Project(const Tensor& x, const Tensor& norm, const Linear& linear, bool gate,
                             const Tensor& residual) const {
  DecodeKernels::Projection p;
  p.rows = rows_;
  p.inner = linear.weight.size(1);
  p.width = linear.weight.size(0) / (gate ? 2 : 1);
  Tensor out = residual.defined() ? residual : at::empty({rows_, p.width}, x.options());
  p.x = x.data_ptr();
  p.norm = AddressOf(norm);
  p.weight = linear.weight.data_ptr();
  p.bias = AddressOf(linear.bias);
  p.residual = AddressOf(residual);
  p.out = out.data_ptr();
  p.eps = Eps();
  p.gate = gate;
  CheckLaunch(parts_.kernels->Project(parts_.stream, p));
  return out;
}

Tensor DecodeLayers::Normed(const Tensor& x, const Tensor& weight) const {
  Tensor out = parts_.fused->Norm(x, weight, parts_.config->rms_norm_eps);
  return out.defined() ? out : at::rms_norm(x, {x.size(1)}, weight, Eps());
}

Tensor DecodeLayers::NormLinear(const Tensor& x, const Tensor& norm, const Linear& linear) const {
  if (Projects(linear, linear.weight.size(0))) return Project(x, norm, linear, false, {});
  return at::linear(Normed(x, norm), linear.weight, linear.bias);
}

Tensor DecodeLayers::NormGated(const Tensor& x, const Tensor& norm, const Linear& linear) const {
  const int64_t width = linear.weight.size(0) / 2;
  if (Projects(linear, width)) return Project(x, norm, linear, true, {});
  if (!NormsLate(x, linear, width) || width % 8 != 0)
    return parts_.fused->SiluMul(at::linear(Normed(x, norm), linear.weight, linear.bias));
  const Tensor both = at::linear(x, linear.weight);
  Tensor out = at::empty({rows_, width}, x.options());
  CheckLaunch(parts_.kernels->NormedGate(parts_.stream, both.data_ptr(), x.data_ptr(), x.size(1),
                                         Eps(), out.data_ptr(), rows_, width));
  return out;
}

// *x += linear(y)
void DecodeLayers::AddLinear(Tensor* x, const Linear& linear, const Tensor& y) const {
  if (Projects(linear, linear.weight.size(0))) {
    Project(y, {}, linear, false, *x);
  } else if (linear.bias.defined()) {
    x->add_(at::linear(y, linear.weight, linear.bias));
  } else {
    x->addmm_(y, linear.weight.t());
  }
}

}  // namespace davinci::model
