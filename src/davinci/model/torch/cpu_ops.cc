#include "davinci/model/torch/cpu_ops.h"

#include <map>

#include "davinci/base/mutex.h"

namespace davinci::model {
namespace {

using at::Tensor;

// Multiplications below which waking the threads costs more than they save.
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
  static Mutex mutex;
  static std::map<Key, int64_t> known;
  const Key key{packed.scalar_type(), packed.size(0), packed.size(1), at::get_num_threads()};
  const MutexLock lock(mutex);
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

namespace {

PackedWeight PackPanelWeight(const Tensor& weight) {
  PackedWeight packed;
  packed.layout = PackedLayout::kPanels;
  packed.out = weight.size(0);
  packed.inner = weight.size(1);
  packed.matrix = at::empty({PanelsSize(packed.out, packed.inner)}, weight.options());
  const float* from = weight.const_data_ptr<float>();
  auto* to = packed.matrix.data_ptr<float>();
  at::parallel_for(0, NumPanels(packed.out), 1, [&](int64_t begin, int64_t end) {
    PackPanels(from, packed.out, packed.inner, to, begin, end);
  });
  return packed;
}

}  // namespace

PackedWeight PackWeight(const Tensor& weight) {
  if (weight.scalar_type() == at::kFloat) return PackPanelWeight(weight);
  const OneDnn* one_dnn = OneDnn::Get();
  if (one_dnn == nullptr) return {};
#if defined(__x86_64__)
  // Without AVX-512 oneDNN emulates bf16.
  if (!__builtin_cpu_supports("avx512f")) return {};
#endif
  try {
    PackedWeight packed;
    packed.matrix = one_dnn->reorder.call(weight, c10::SymInt(kRowsHint));
    packed.out = weight.size(0);
    packed.inner = weight.size(1);
    packed.row_step = RowStep(*one_dnn, packed.matrix);
    return packed.row_step > 0 ? packed : PackedWeight();
  } catch (const c10::Error&) {
    return {};
  }
}

PackedWeight PackTiledWeight(const Tensor& weight, TileOrder order) {
  const int64_t out = weight.size(0);
  const int64_t inner = weight.size(1);
  if (weight.scalar_type() != at::kBFloat16 || inner % kTileInner != 0 || !HasTiles()) return {};
  PackedWeight packed;
  packed.matrix = at::empty({TiledSize(out, inner, order) / inner, inner}, weight.options());
  packed.layout = PackedLayout::kTiles;
  packed.order = order;
  packed.out = out;
  packed.inner = inner;
  const auto* from = static_cast<const uint16_t*>(weight.const_data_ptr());
  auto* to = static_cast<uint16_t*>(packed.matrix.data_ptr());
  at::parallel_for(0, TileBlocks(out, order), 1, [&](int64_t begin, int64_t end) {
    PackTiles(from, inner, out, inner, order, to, begin, end);
  });
  return packed;
}

void TiledLinearOp(const Tensor& x, const PackedWeight& packed, const Tensor& bias, const Tensor& y,
                   bool add) {
  TileProduct product;
  product.x = static_cast<const uint16_t*>(x.const_data_ptr());
  product.rows = x.size(0);
  product.tiles = static_cast<const uint16_t*>(packed.matrix.const_data_ptr());
  product.out = packed.out;
  product.inner = packed.inner;
  product.bias = static_cast<const uint16_t*>(DataOf(bias));
  product.add = add;
  if (packed.order == TileOrder::kGated)
    product.gated = static_cast<uint16_t*>(y.data_ptr());
  else
    product.y = y.data_ptr<float>();
  Spread(TileBlocks(packed.out, packed.order), 32 * packed.inner * product.rows / 4,
         [&](int64_t begin, int64_t end) { MultiplyTiles(product, begin, end); });
}

void PanelLinearOp(const Tensor& x, const PackedWeight& packed, const Tensor& bias, const Tensor& y,
                   bool add) {
  PanelProduct all;
  all.x = x.const_data_ptr<float>();
  all.rows = x.size(0);
  all.panels = packed.matrix.const_data_ptr<float>();
  all.out = packed.out;
  all.inner = packed.inner;
  all.bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr;
  all.y = y.data_ptr<float>();
  all.add = add;
  const int64_t slabs =
      std::max<int64_t>(1, (all.rows + PanelSlabRows(all.inner) - 1) / PanelSlabRows(all.inner));
  const int64_t slab_rows = (all.rows + slabs - 1) / slabs;
  const int64_t panels = NumPanels(all.out);
  Spread(slabs * panels, kPanelColumns * all.inner * slab_rows, [&](int64_t begin, int64_t end) {
    for (int64_t next = begin; begin < end; begin = next) {
      const int64_t slab = begin / panels;
      next = std::min(end, (slab + 1) * panels);
      const int64_t row = slab * slab_rows;
      PanelProduct part = all;
      part.x += row * all.inner;
      part.y += row * all.out;
      part.rows = std::min(slab_rows, all.rows - row);
      if (part.rows > 0) MultiplyPanels(part, begin - slab * panels, next - slab * panels);
    }
  });
}

Tensor PackedEmbedOp(const PackedWeight& packed, const Tensor& tokens) {
  Tensor x = at::empty({tokens.size(0), packed.inner}, at::kFloat);
  const void* matrix = packed.matrix.const_data_ptr();
  const int64_t* rows = tokens.const_data_ptr<int64_t>();
  auto* to = x.data_ptr<float>();
  Spread(tokens.size(0), 8 * packed.inner, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      if (packed.layout == PackedLayout::kPanels)
        UnpackPanelRow(static_cast<const float*>(matrix), packed.inner, rows[i],
                       to + i * packed.inner);
      else
        UnpackTileRow(static_cast<const uint16_t*>(matrix), packed.inner, rows[i],
                      to + i * packed.inner);
  });
  return x;
}

Tensor RoundOp(const Tensor& x_in) {
  const Tensor x = x_in.contiguous();
  Tensor y = at::empty(x.sizes(), x.options().dtype(at::kBFloat16));
  const float* in = x.const_data_ptr<float>();
  auto* out = static_cast<uint16_t*>(y.data_ptr());
  Spread(x.numel(), 1,
         [&](int64_t begin, int64_t end) { RoundValues(in + begin, end - begin, out + begin); });
  return y;
}

Tensor RoundedNormOp(const Tensor& x_in, const Tensor& weight, double eps) {
  const Tensor x = x_in.contiguous();
  const int64_t width = x.size(1);
  Tensor y = at::empty(x.sizes(), x.options().dtype(at::kBFloat16));
  const float* in = x.const_data_ptr<float>();
  const auto* scale = static_cast<const uint16_t*>(weight.const_data_ptr());
  auto* out = static_cast<uint16_t*>(y.data_ptr());
  Spread(x.size(0), width, [&](int64_t begin, int64_t end) {
    RmsNormRounded(in, scale, eps, out, width, begin, end);
  });
  return y;
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

void HeadsOp(const Tensor& qkv, int64_t heads, int64_t kv_heads, const Tensor& q_norm,
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

void AttendPromptOp(const CacheView& cache, const Tensor& q, std::span<const PromptRows> prompts,
                    float scale, const Tensor& out) {
  const int64_t heads = q.size(1);
  const float* queries = q.const_data_ptr<float>();
  auto* to = static_cast<uint16_t*>(out.data_ptr());
  const auto items = static_cast<int64_t>(prompts.size()) * cache.kv_heads;
  at::parallel_for(0, items, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const PromptRows& rows = prompts[static_cast<size_t>(item / cache.kv_heads)];
      const int64_t kv = item % cache.kv_heads;
      AttendTiles(cache, rows.start, rows.position, rows.count, queries + rows.begin * q.stride(0),
                  q.stride(0), heads, scale, to + rows.begin * heads * cache.head_dim, kv, kv + 1);
    }
  });
}

}  // namespace davinci::model
