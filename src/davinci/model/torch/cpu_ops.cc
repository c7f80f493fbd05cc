#include "davinci/model/torch/cpu_ops.h"

#include <map>
#include <mutex>

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

// Operators of ATen's oneDNN part; they are in its registry only.
struct OneDnn {
  using Reorder = Tensor(const Tensor&, std::optional<c10::SymInt>);
  using Linear = Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&,
                        std::string_view, c10::List<std::optional<at::Scalar>>,
                        std::optional<std::string_view>);
  c10::TypedOperatorHandle<Reorder> reorder;
  c10::TypedOperatorHandle<Linear> linear;

  // Null: this LibTorch has none.
  static const OneDnn* Get() {
    static const std::unique_ptr<OneDnn> found = []() -> std::unique_ptr<OneDnn> {
      try {
        auto& all = c10::Dispatcher::singleton();
        return std::make_unique<OneDnn>(
            OneDnn{all.findSchemaOrThrow("mkldnn::_reorder_linear_weight", "").typed<Reorder>(),
                   all.findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<Linear>()});
      } catch (const c10::Error&) {
        return nullptr;
      }
    }();
    return found.get();
  }

  // x and packed have the same type.
  Tensor Product(const Tensor& x, const Tensor& packed, const Tensor& bias) const {
    return linear.call(x, packed, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt,
                       "none", c10::List<std::optional<at::Scalar>>(), "");
  }
};

// Products have a multiple of `step` rows, because kernels for a remainder may add in another
// order, and few sizes, because oneDNN keeps the code of each.
int64_t PaddedRows(int64_t rows, int64_t step) {
  step = std::max<int64_t>(step, rows <= 32 ? 8 : rows <= 64 ? 16 : 32);
  return (rows + step - 1) / step * step;
}
// Rows that weights are packed for.
constexpr int64_t kRowsHint = 64;

// Whether rows have the same bits in products of any multiple of `step` rows, at any place, next to
// anything.
bool RowsAreIndependent(const OneDnn& one_dnn, const Tensor& packed, int64_t step) {
  const int64_t rows = 8 * step;
  const Tensor x = at::linspace(-3, 3, rows * packed.size(1), at::kFloat)
                       .sin_()
                       .view({rows, packed.size(1)})
                       .to(packed.scalar_type());
  const Tensor all = one_dnn.Product(x, packed, {});
  for (const int64_t some : {step, 2 * step, 3 * step, 5 * step}) {
    if (!at::equal(one_dnn.Product(x.narrow(0, rows - some, some), packed, {}),
                   all.narrow(0, rows - some, some)))
      return false;
  }
  const Tensor more = one_dnn.Product(at::cat({x.flip(0), x, x}), packed, {});
  return at::equal(more.narrow(0, 0, rows), all.flip(0)) &&
         at::equal(more.narrow(0, 2 * rows, rows), all);
}

// The smallest such step: kernels for wide registers and tiles work on blocks of rows. 0: none.
int64_t RowStep(const OneDnn& one_dnn, const Tensor& packed) {
  using Key = std::tuple<at::ScalarType, int64_t, int64_t, int>;
  static std::mutex mutex;
  static std::map<Key, int64_t> known;
  const Key key{packed.scalar_type(), packed.size(0), packed.size(1), at::get_num_threads()};
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  int64_t& step = known[key];
  for (const int64_t candidate : {8, 16, 32, 64})
    if (step == 0 && RowsAreIndependent(one_dnn, packed, candidate)) step = candidate;
  return step;
}

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

PackedWeight PackWeight(const Tensor& weight) {
  const OneDnn* one_dnn = OneDnn::Get();
  if (one_dnn == nullptr) return {};
#if defined(__x86_64__)
  // Without AVX-512 oneDNN emulates bf16.
  if (weight.scalar_type() != at::kFloat && !__builtin_cpu_supports("avx512f")) return {};
#endif
  try {
    PackedWeight packed{one_dnn->reorder.call(weight, c10::SymInt(kRowsHint))};
    packed.row_step = RowStep(*one_dnn, packed.matrix);
    return packed.row_step > 0 ? packed : PackedWeight();
  } catch (const c10::Error&) {
    return {};
  }
}

Tensor PackedLinearOp(const Tensor& x, const PackedWeight& packed, const Tensor& bias) {
  const int64_t rows = x.size(0);
  const int64_t padded = PaddedRows(rows, packed.row_step);
  Tensor in = x;
  if (padded != rows || x.scalar_type() != packed.matrix.scalar_type()) {
    in = at::empty({padded, x.size(1)}, x.options().dtype(packed.matrix.scalar_type()));
    in.narrow(0, 0, rows).copy_(x);
    if (padded != rows) in.narrow(0, rows, padded - rows).zero_();
  }
  return OneDnn::Get()->Product(in, packed.matrix, bias).narrow(0, 0, rows).to(at::kFloat);
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
