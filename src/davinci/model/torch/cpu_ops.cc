#include "davinci/model/torch/cpu_ops.h"

namespace davinci::model {
namespace {

using at::Tensor;

// Below so many multiplications waking the threads costs more than they save.
constexpr int64_t kWorthThreads = 1 << 16;

template <typename F>
void Spread(int64_t items, int64_t cost_per_item, const F& work) {
  const int64_t grain = std::max<int64_t>(1, kWorthThreads / std::max<int64_t>(1, cost_per_item));
  at::parallel_for(0, items, grain, work);
}

const void* DataOf(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

}  // namespace

Element ElementOf(const Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat ? Element::kFloat32 : Element::kBfloat16;
}

Tensor LinearOp(const Tensor& x_in, const Tensor& weight, const Tensor& bias) {
  const Tensor x = x_in.contiguous();
  const int64_t rows = x.size(0);
  const int64_t inner = weight.size(1);
  const int64_t out = weight.size(0);
  Tensor y = at::empty({rows, out}, x.options());
  const float* in = x.const_data_ptr<float>();
  auto* result = y.data_ptr<float>();
  const Element element = ElementOf(weight);
  const void* matrix = DataOf(weight);
  const void* offset = DataOf(bias);
  Spread((out + 3) / 4, 4 * inner * rows, [&](int64_t begin, int64_t end) {
    LinearRows(in, rows, inner, matrix, element, offset, result, out, begin * 4,
               std::min(end * 4, out));
  });
  return y;
}

Tensor NormOp(const Tensor& x_in, const Tensor& weight, double eps) {
  const Tensor x = x_in.contiguous();
  const int64_t width = x.size(-1);
  Tensor y = at::empty_like(x);
  const float* in = x.const_data_ptr<float>();
  auto* result = y.data_ptr<float>();
  Spread(x.numel() / width, width, [&](int64_t begin, int64_t end) {
    RmsNormRows(in, width, DataOf(weight), ElementOf(weight), eps, result, width, begin, end);
  });
  return y;
}

Tensor SiluMulOp(const Tensor& x_in) {
  const Tensor x = x_in.contiguous();
  const int64_t width = x.size(1) / 2;
  Tensor y = at::empty({x.size(0), width}, x.options());
  const float* in = x.const_data_ptr<float>();
  auto* result = y.data_ptr<float>();
  Spread(x.size(0), 16 * width,
         [&](int64_t begin, int64_t end) { SiluMulRows(in, result, width, begin, end); });
  return y;
}

void HeadsOp(Tensor qkv, int64_t heads, int64_t kv_heads, const Tensor& q_norm,
             const Tensor& k_norm, double eps, const Tensor& cos_sin, const Tensor& positions) {
  const int64_t dim = qkv.size(2);
  const int64_t stride = qkv.size(1) * dim;
  auto* data = qkv.data_ptr<float>();
  const float* table = cos_sin.const_data_ptr<float>();
  const int64_t* at = positions.const_data_ptr<int64_t>();
  Spread(qkv.size(0), 4 * stride, [&](int64_t begin, int64_t end) {
    if (q_norm.defined())
      for (int64_t row = begin; row < end; ++row) {
        float* q = data + row * stride;
        float* k = q + heads * dim;
        RmsNormRows(q, dim, DataOf(q_norm), ElementOf(q_norm), eps, q, dim, 0, heads);
        RmsNormRows(k, dim, DataOf(k_norm), ElementOf(k_norm), eps, k, dim, 0, kv_heads);
      }
    RotateRows(data, stride, heads + kv_heads, dim, table, at, begin, end);
  });
}

Tensor AttendOp(const CacheView& cache, const Tensor& q, const Tensor& k, const Tensor& v,
                const Tensor& at, const Tensor& starts, const Tensor& lengths, float scale,
                int64_t longest) {
  const int64_t rows = q.size(0);
  const int64_t heads = q.size(1);
  StoreRows(cache, k.const_data_ptr<float>(), v.const_data_ptr<float>(), k.stride(0),
            at.const_data_ptr<int64_t>(), 0, rows);
  Tensor out = at::empty({rows, heads * cache.head_dim}, q.options());
  const int64_t group = heads / cache.kv_heads;
  Spread(rows * cache.kv_heads, 4 * group * longest * cache.head_dim,
         [&](int64_t begin, int64_t end) {
           std::vector<float> scratch(static_cast<size_t>(group * longest));
           AttendRows(cache, q.const_data_ptr<float>(), q.stride(0), heads,
                      starts.const_data_ptr<int32_t>(), lengths.const_data_ptr<int32_t>(), scale,
                      out.data_ptr<float>(), scratch.data(), begin, end);
         });
  return out;
}

}  // namespace davinci::model
