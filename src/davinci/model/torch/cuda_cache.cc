#include "davinci/model/torch/cuda_cache.h"

#include <ATen/ATen.h>

#include <cmath>

namespace davinci::model {

using at::Tensor;

CudaCache::CudaCache(const Weights& weights, int64_t positions, const DecodeKernels* kernels,
                     void* stream)
    : head_dim_(weights.config.head_dim),
      scale_(1.0 / std::sqrt(static_cast<double>(head_dim_))),
      half_(weights.dtype != at::kFloat),
      // Flash attention wants head sizes in steps of 8.
      pad_(half_ ? (8 - head_dim_ % 8) % 8 : 0),
      kernels_(kernels),
      stream_(stream),
      cache_(at::zeros({weights.config.num_layers, 2, positions + 1, weights.config.num_kv_heads,
                        head_dim_ + pad_},
                       at::TensorOptions().dtype(weights.dtype).device(weights.device))) {}

void CudaCache::Copy(int64_t from, int64_t to, int64_t count) {
  cache_.narrow(2, to, count).copy_(cache_.narrow(2, from, count));
}

Tensor CudaCache::Padded(const Tensor& x) const {
  return pad_ == 0 ? x : at::constant_pad_nd(x, {0, pad_});
}

void CudaCache::Keep(int64_t layer, const Tensor& at, const Tensor& k, const Tensor& v) {
  if (kernels_ != nullptr && pad_ == 0 && kernels_->can_keep() && k.stride(0) % 8 == 0) {
    CheckLaunch(kernels_->Keep(stream_, k.data_ptr(), v.data_ptr(), k.stride(0),
                               at.const_data_ptr<int64_t>(), Keys(layer).data_ptr(),
                               Values(layer).data_ptr(), k.size(0)));
    return;
  }
  Keys(layer).index_copy_(0, at, Padded(k));
  Values(layer).index_copy_(0, at, Padded(v));
}

Tensor CudaCache::Attend(int64_t layer, const Tensor& q, const Sequences& s) const {
  if (!half_) return AttendOneByOne(layer, q, s);
  const Tensor out = std::get<0>(at::_flash_attention_forward(
      Padded(q), Keys(layer), Values(layer), s.device_borders, s.device_starts, s.longest_query,
      s.longest, 0, /*is_causal=*/s.longest_query > 1, false, scale_, std::nullopt, std::nullopt,
      s.device_lengths));
  return (pad_ == 0 ? out : out.narrow(2, 0, head_dim_)).reshape({-1, q.size(1) * head_dim_});
}

Tensor CudaCache::AttendRows(int64_t layer, const Tensor& q, const StepInputs& inputs) const {
  if (kernels_ == nullptr || !kernels_->can_attend() || q.stride(0) % 8 != 0) return {};
  Tensor out = at::empty({q.size(0), q.size(1) * q.size(2)}, q.options());
  CheckLaunch(kernels_->Attend(stream_, q.data_ptr(), q.stride(0), Keys(layer).data_ptr(),
                               Values(layer).data_ptr(), inputs.starts.const_data_ptr<int32_t>(),
                               inputs.lengths.const_data_ptr<int32_t>(), static_cast<float>(scale_),
                               out.data_ptr(), q.size(0)));
  return out;
}

Tensor CudaCache::AttendOneByOne(int64_t layer, const Tensor& q, const Sequences& s) const {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < s.starts.size(); ++i) {
    const int64_t rows = s.borders[i + 1] - s.borders[i];
    const int64_t length = s.lengths[i];
    const auto split = [](const Tensor& x) { return x.transpose(0, 1).unsqueeze(0); };
    const Tensor mask = at::ones({rows, length}, q.options().dtype(at::kBool)).tril(length - rows);
    parts.push_back(
        at::scaled_dot_product_attention(split(q.narrow(0, s.borders[i], rows)),
                                         split(Keys(layer).narrow(0, s.starts[i], length)),
                                         split(Values(layer).narrow(0, s.starts[i], length)), mask,
                                         0, false, scale_, true)
            .squeeze(0)
            .transpose(0, 1)
            .reshape({rows, -1}));
  }
  return at::cat(parts);
}

PrefillAttention::PrefillAttention(CudaCache* cache, std::span<const Chunk> chunks, Tensor at)
    : cache_(*cache), at_(std::move(at)) {
  CudaCache::Sequences& s = sequences_;
  s.borders.push_back(0);
  for (const Chunk& chunk : chunks) {
    const auto count = static_cast<int64_t>(chunk.tokens.size());
    s.borders.push_back(s.borders.back() + count);
    s.starts.push_back(chunk.start);
    s.lengths.push_back(chunk.position + count);
    s.longest_query = std::max(s.longest_query, count);
    s.longest = std::max(s.longest, s.lengths.back());
  }
  const auto upload = [&](const std::vector<int64_t>& values) {
    return at::tensor(values, at::kInt).to(at_.device());
  };
  s.device_borders = upload(s.borders);
  std::vector<int64_t> padded = s.starts;
  padded.push_back(0);
  s.device_starts = upload(padded);
  s.device_lengths = upload(s.lengths);
}

Tensor PrefillAttention::Attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) {
  cache_.Keep(layer, at_, k, v);
  return cache_.Attend(layer, q, sequences_);
}

DecodeAttention::DecodeAttention(CudaCache* cache, const StepInputs& inputs, const StepInputs& host,
                                 int64_t rows, const Tensor& query_borders, int64_t max_context)
    : cache_(*cache), inputs_(inputs), at_(inputs.at.narrow(0, 0, rows)) {
  CudaCache::Sequences& s = sequences_;
  if (!cache->half()) {
    s.borders.push_back(0);
    for (int64_t i = 0; i < rows; ++i) {
      s.borders.push_back(i + 1);
      s.starts.push_back(host.starts.data_ptr<int32_t>()[i]);
      s.lengths.push_back(host.lengths.data_ptr<int32_t>()[i]);
    }
  }
  s.device_borders = query_borders.narrow(0, 0, rows + 1);
  s.device_starts = inputs.starts.narrow(0, 0, rows + 1);
  s.device_lengths = inputs.lengths.narrow(0, 0, rows);
  s.longest_query = 1;
  s.longest = max_context;
}

Tensor DecodeAttention::Attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v) {
  cache_.Keep(layer, at_, k, v);
  const Tensor out = cache_.AttendRows(layer, q, inputs_);
  return out.defined() ? out : cache_.Attend(layer, q, sequences_);
}

}  // namespace davinci::model
