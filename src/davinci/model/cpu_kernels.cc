#include "davinci/model/cpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "davinci/model/cpu_lanes.h"

// Sanitizers are not initialised when indirect functions are resolved, so they get the plain
// version.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DV_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DV_CLONES
#endif

namespace davinci::model {
namespace {

// How x lies for Tile(): as it is for fp32 weights; for bf16 weights each whole group of 32 has its
// even elements first, so that a word of weights is split by a shift and a mask.
template <typename T>
constexpr int64_t kGroup = kLanes;
template <>
constexpr int64_t kGroup<uint16_t> = 2 * kLanes;

// kHalves vectors of a group of elements: for bf16 the even ones, then the odd ones.
template <typename T>
constexpr int kHalves = static_cast<int>(kGroup<T> / kLanes);
template <typename T>
DV_INLINE void LoadGroup(const T* from, F16 (&to)[kHalves<T>]) {
  if constexpr (sizeof(T) == sizeof(float)) {
    std::memcpy(&to[0], from, sizeof(F16));
  } else {
    U16 words;
    std::memcpy(&words, from, sizeof words);
    const U16 even = words << 16;
    const U16 odd = words & 0xffff0000U;
    std::memcpy(&to[0], &even, sizeof even);
    std::memcpy(&to[1], &odd, sizeof odd);
  }
}

// kRows rows of x times kColumns rows of w. The order of additions is that of one pair alone.
template <typename T, int kRows, int kColumns>
DV_INLINE void Tile(const float* x, const T* w, int64_t inner, float* sums) {
  F16 acc[kRows][kColumns] = {};
  const int64_t whole = inner / kGroup<T> * kGroup<T>;
  for (int64_t k = 0; k < whole; k += kGroup<T>) {
    F16 b[kColumns][kHalves<T>];
    for (int n = 0; n < kColumns; ++n) LoadGroup(w + n * inner + k, b[n]);
    for (int m = 0; m < kRows; ++m)
      for (int half = 0; half < kHalves<T>; ++half) {
        F16 a;
        std::memcpy(&a, x + m * inner + k + half * kLanes, sizeof a);
        for (int n = 0; n < kColumns; ++n) acc[m][n] += a * b[n][half];
      }
  }
  for (int m = 0; m < kRows; ++m)
    for (int n = 0; n < kColumns; ++n) {
      float sum = Sum(acc[m][n]);
      for (int64_t k = whole; k < inner; ++k)
        sum += x[m * inner + k] * Lanes<T>::One(w[n * inner + k]);
      sums[m * kColumns + n] = sum;
    }
}

template <typename T, int kRows, int kColumns>
DV_INLINE void Block(const float* x, int64_t inner, const T* w, const T* bias, float* y,
                     int64_t out, int64_t n) {
  float sums[kRows * kColumns];
  Tile<T, kRows, kColumns>(x, w + n * inner, inner, sums);
  for (int m = 0; m < kRows; ++m)
    for (int c = 0; c < kColumns; ++c)
      y[m * out + n + c] =
          sums[m * kColumns + c] + (bias == nullptr ? 0.0F : Lanes<T>::One(bias[n + c]));
}

// All columns of kRows rows; the weights pass once.
template <typename T, int kRows>
DV_INLINE void Rows(const float* x, int64_t inner, const T* w, const T* bias, float* y, int64_t out,
                    int64_t begin, int64_t end) {
  constexpr int kColumns = kRows > 4 ? 2 : 4;
  int64_t n = begin;
  for (; n + kColumns <= end; n += kColumns)
    Block<T, kRows, kColumns>(x, inner, w, bias, y, out, n);
  for (; n < end; ++n) Block<T, kRows, 1>(x, inner, w, bias, y, out, n);
}

template <typename T>
DV_INLINE void Linear(const float* x, int64_t rows, int64_t inner, const T* w, const T* bias,
                      float* y, int64_t out, int64_t begin, int64_t end) {
  // Columns in stretches that stay in the second-level cache while all rows pass over them.
  const int64_t stretch =
      rows <= 8 ? end - begin
                : std::max<int64_t>(4, (256 << 10) / (inner * static_cast<int64_t>(sizeof(T))));
  for (int64_t from = begin; from < end; from += stretch) {
    const int64_t to = std::min(from + stretch, end);
    int64_t m = 0;
    for (; m + 8 <= rows; m += 8)
      Rows<T, 8>(x + m * inner, inner, w, bias, y + m * out, out, from, to);
    const float* last = x + m * inner;
    float* target = y + m * out;
    if (rows - m >= 4) {
      Rows<T, 4>(last, inner, w, bias, target, out, from, to);
      m += 4;
      last += 4 * inner;
      target += 4 * out;
    }
    for (; m < rows; ++m, last += inner, target += out)
      Rows<T, 1>(last, inner, w, bias, target, out, from, to);
  }
}

DV_CLONES void LinearFloat(const float* x, int64_t rows, int64_t inner, const float* w,
                           const float* bias, float* y, int64_t out, int64_t begin, int64_t end) {
  Linear<float>(x, rows, inner, w, bias, y, out, begin, end);
}
DV_CLONES void LinearBfloat(const float* x, int64_t rows, int64_t inner, const uint16_t* w,
                            const uint16_t* bias, float* y, int64_t out, int64_t begin,
                            int64_t end) {
  Linear<uint16_t>(x, rows, inner, w, bias, y, out, begin, end);
}

template <typename T>
DV_INLINE float Dot(const float* a, const T* b, int64_t size) {
  F16 acc = {};
  int64_t k = 0;
  for (; k + kLanes <= size; k += kLanes) {
    F16 left, right;
    std::memcpy(&left, a + k, sizeof left);
    Lanes<T>::Load(b + k, &right);
    acc += left * right;
  }
  float sum = Sum(acc);
  for (; k < size; ++k) sum += a[k] * Lanes<T>::One(b[k]);
  return sum;
}

// kHeads queries, in the order of Tile(), over the same keys and values, whose positions are `step`
// elements apart.
template <typename T, int kHeads>
DV_INLINE void AttendHeads(const float* queries, const T* keys, const T* values, int64_t step,
                           int64_t length, int64_t dim, float scale, float* weights, float* out) {
  const int64_t whole = dim / kGroup<T> * kGroup<T>;
  for (int64_t i = 0; i < length; ++i) {
    const T* key = keys + i * step;
    F16 acc[kHeads] = {};
    for (int64_t d = 0; d < whole; d += kGroup<T>) {
      F16 k[kHalves<T>];
      LoadGroup(key + d, k);
      for (int g = 0; g < kHeads; ++g)
        for (int half = 0; half < kHalves<T>; ++half) {
          F16 q;
          std::memcpy(&q, queries + g * dim + d + half * kLanes, sizeof q);
          acc[g] += q * k[half];
        }
    }
    for (int g = 0; g < kHeads; ++g) {
      float sum = Sum(acc[g]);
      for (int64_t d = whole; d < dim; ++d) sum += queries[g * dim + d] * Lanes<T>::One(key[d]);
      weights[g * length + i] = sum * scale;
    }
  }
  float factor[kHeads];
  for (int g = 0; g < kHeads; ++g) {
    float* weight = weights + g * length;
    factor[g] = 1.0F / ExpSum(weight, length, Largest(weight, length));
  }
  for (int64_t d = 0; d < whole; d += kGroup<T>) {
    F16 acc[kHeads][kHalves<T>] = {};
    for (int64_t i = 0; i < length; ++i) {
      F16 v[kHalves<T>];
      LoadGroup(values + i * step + d, v);
      for (int g = 0; g < kHeads; ++g)
        for (int half = 0; half < kHalves<T>; ++half)
          acc[g][half] += v[half] * weights[g * length + i];
    }
    for (int g = 0; g < kHeads; ++g)
      for (int lane = 0; lane < kLanes; ++lane)
        for (int half = 0; half < kHalves<T>; ++half)
          out[g * dim + d + lane * kHalves<T> + half] = acc[g][half][lane] * factor[g];
  }
  for (int64_t d = whole; d < dim; ++d)
    for (int g = 0; g < kHeads; ++g) {
      float sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += Lanes<T>::One(values[i * step + d]) * weights[g * length + i];
      out[g * dim + d] = sum * factor[g];
    }
}

// queries: all of them, rows `q_stride` apart, in the order of Tile().
template <typename T>
DV_INLINE void Attend(const CacheView& cache, const float* q, int64_t q_stride, int64_t heads,
                      const int32_t* starts, const int32_t* lengths, float scale, float* out,
                      float* scratch, int64_t begin, int64_t end) {
  const int64_t group = heads / cache.kv_heads;
  const int64_t dim = cache.head_dim;
  const int64_t step = cache.kv_heads * dim;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t row = item / cache.kv_heads;
    const int64_t kv = item % cache.kv_heads;
    const T* keys = static_cast<const T*>(cache.keys) + starts[row] * step + kv * dim;
    const T* values = static_cast<const T*>(cache.values) + starts[row] * step + kv * dim;
    const float* queries = q + row * q_stride + kv * group * dim;
    float* target = out + (row * heads + kv * group) * dim;
    const auto some = [&]<int kHeads>(int64_t g) __attribute__((always_inline)) {
      AttendHeads<T, kHeads>(queries + g * dim, keys, values, step, lengths[row], dim, scale,
                             scratch, target + g * dim);
    };
    int64_t g = 0;
    for (; g + 4 <= group; g += 4) some.template operator()<4>(g);
    if (group - g == 3) some.template operator()<3>(g);
    if (group - g == 2) some.template operator()<2>(g);
    if (group - g == 1) some.template operator()<1>(g);
  }
}

DV_CLONES void AttendFloat(const CacheView& cache, const float* q, int64_t q_stride, int64_t heads,
                           const int32_t* starts, const int32_t* lengths, float scale, float* out,
                           float* scratch, int64_t begin, int64_t end) {
  Attend<float>(cache, q, q_stride, heads, starts, lengths, scale, out, scratch, begin, end);
}
DV_CLONES void AttendBfloat(const CacheView& cache, const float* q, int64_t q_stride, int64_t heads,
                            const int32_t* starts, const int32_t* lengths, float scale, float* out,
                            float* scratch, int64_t begin, int64_t end) {
  Attend<uint16_t>(cache, q, q_stride, heads, starts, lengths, scale, out, scratch, begin, end);
}

template <typename T>
void Store(const CacheView& cache, const float* k, const float* v, int64_t stride,
           const int64_t* at, int64_t begin, int64_t end) {
  const int64_t width = cache.kv_heads * cache.head_dim;
  for (int64_t row = begin; row < end; ++row) {
    T* keys = static_cast<T*>(cache.keys) + at[row] * width;
    T* values = static_cast<T*>(cache.values) + at[row] * width;
    for (int64_t i = 0; i < width; ++i) keys[i] = Lanes<T>::To(k[row * stride + i]);
    for (int64_t i = 0; i < width; ++i) values[i] = Lanes<T>::To(v[row * stride + i]);
  }
}

DV_CLONES void SiluMul(const float* x, float* y, int64_t width, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const float* gate = x + row * 2 * width;
    const float* up = gate + width;
    float* out = y + row * width;
    int64_t i = 0;
    for (; i + kLanes <= width; i += kLanes) {
      F16 g, u;
      std::memcpy(&g, gate + i, sizeof g);
      std::memcpy(&u, up + i, sizeof u);
      g = g / (1.0F + Exp(-g)) * u;
      std::memcpy(out + i, &g, sizeof g);
    }
    for (; i < width; ++i) out[i] = gate[i] / (1.0F + std::exp(-gate[i])) * up[i];
  }
}

template <typename T>
DV_INLINE void RmsNorm(const float* x, int64_t x_stride, const T* weight, double eps, float* y,
                       int64_t width, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    const float* in = x + row * x_stride;
    float* out = y + row * width;
    const float squares = Dot<float>(in, in, width);
    const float factor =
        1.0F / std::sqrt(squares / static_cast<float>(width) + static_cast<float>(eps));
    for (int64_t i = 0; i < width; ++i) out[i] = in[i] * factor * Lanes<T>::One(weight[i]);
  }
}

// A row as Tile() wants it for bf16 weights.
void EvenThenOdd(const float* from, int64_t size, float* to) {
  constexpr int64_t kWide = kGroup<uint16_t>;
  const int64_t whole = size / kWide * kWide;
  for (int64_t k = 0; k < whole; k += kWide)
    for (int64_t i = 0; i < kLanes; ++i) {
      to[k + i] = from[k + 2 * i];
      to[k + kLanes + i] = from[k + 2 * i + 1];
    }
  std::copy(from + whole, from + size, to + whole);
}

// Of this thread, for rows in that order; the contents are lost with the next call.
float* Reordered(int64_t size) {
  static thread_local std::vector<float> memory;
  if (static_cast<int64_t>(memory.size()) < size) memory.resize(static_cast<size_t>(size));
  return memory.data();
}

}  // namespace

void LinearRows(const float* x, int64_t rows, int64_t inner, const void* w, Element element,
                const void* bias, float* y, int64_t out, int64_t begin, int64_t end) {
  if (element == Element::kFloat32) {
    LinearFloat(x, rows, inner, static_cast<const float*>(w), static_cast<const float*>(bias), y,
                out, begin, end);
    return;
  }
  float* split = Reordered(rows * inner);
  for (int64_t m = 0; m < rows; ++m) EvenThenOdd(x + m * inner, inner, split + m * inner);
  LinearBfloat(split, rows, inner, static_cast<const uint16_t*>(w),
               static_cast<const uint16_t*>(bias), y, out, begin, end);
}

void RmsNormRows(const float* x, int64_t x_stride, const void* weight, Element element, double eps,
                 float* y, int64_t width, int64_t begin, int64_t end) {
  if (element == Element::kFloat32)
    RmsNorm(x, x_stride, static_cast<const float*>(weight), eps, y, width, begin, end);
  else
    RmsNorm(x, x_stride, static_cast<const uint16_t*>(weight), eps, y, width, begin, end);
}

void SiluMulRows(const float* x, float* y, int64_t width, int64_t begin, int64_t end) {
  SiluMul(x, y, width, begin, end);
}

void RotateRows(float* x, int64_t stride, int64_t heads, int64_t head_dim, const float* cos_sin,
                const int64_t* positions, int64_t begin, int64_t end) {
  const int64_t half = head_dim / 2;
  for (int64_t row = begin; row < end; ++row) {
    const float* cosines = cos_sin + positions[row] * head_dim;
    const float* sines = cosines + half;
    for (int64_t head = 0; head < heads; ++head) {
      float* first = x + row * stride + head * head_dim;
      float* second = first + half;
      for (int64_t i = 0; i < half; ++i) {
        const float a = first[i];
        const float b = second[i];
        first[i] = a * cosines[i] - b * sines[i];
        second[i] = b * cosines[i] + a * sines[i];
      }
    }
  }
}

void StoreRows(const CacheView& cache, const float* k, const float* v, int64_t stride,
               const int64_t* at, int64_t begin, int64_t end) {
  if (cache.element == Element::kFloat32)
    Store<float>(cache, k, v, stride, at, begin, end);
  else
    Store<uint16_t>(cache, k, v, stride, at, begin, end);
}

void AttendRows(const CacheView& cache, const float* q, int64_t q_stride, int64_t heads,
                const int32_t* starts, const int32_t* lengths, float scale, float* out,
                float* scratch, int64_t begin, int64_t end) {
  if (begin >= end) return;
  if (cache.element == Element::kFloat32) {
    AttendFloat(cache, q, q_stride, heads, starts, lengths, scale, out, scratch, begin, end);
    return;
  }
  const int64_t last = (end - 1) / cache.kv_heads;
  const int64_t width = heads * cache.head_dim;
  float* split = Reordered((last + 1) * width);
  for (int64_t row = begin / cache.kv_heads; row <= last; ++row)
    for (int64_t at = 0; at < width; at += cache.head_dim)
      EvenThenOdd(q + row * q_stride + at, cache.head_dim, split + row * width + at);
  AttendBfloat(cache, split, width, heads, starts, lengths, scale, out, scratch, begin, end);
}

}  // namespace davinci::model
