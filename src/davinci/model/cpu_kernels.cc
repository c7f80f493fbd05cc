#include "davinci/model/cpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Sanitizers are not initialised when indirect functions are resolved, so they get the plain
// version.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define DV_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DV_CLONES
#endif
#define DV_INLINE __attribute__((always_inline)) inline

namespace davinci::model {
namespace {

constexpr int64_t kLanes = 16;
typedef float F16 __attribute__((vector_size(64), aligned(4)));
typedef uint16_t H16 __attribute__((vector_size(32), aligned(2)));
typedef uint32_t U16 __attribute__((vector_size(64), aligned(4)));

template <typename T>
struct Lanes;
template <>
struct Lanes<float> {
  static DV_INLINE void Load(const float* from, F16* to) { std::memcpy(to, from, sizeof *to); }
  static DV_INLINE float One(float value) { return value; }
  static DV_INLINE float To(float value) { return value; }
};
template <>
struct Lanes<uint16_t> {  // bfloat16: the upper half of a float
  static DV_INLINE void Load(const uint16_t* from, F16* to) {
    H16 half;
    std::memcpy(&half, from, sizeof half);
    const U16 bits = __builtin_convertvector(half, U16) << 16;
    std::memcpy(to, &bits, sizeof *to);
  }
  static DV_INLINE float One(uint16_t value) {
    const uint32_t bits = static_cast<uint32_t>(value) << 16;
    float out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
  }
  static DV_INLINE uint16_t To(float value) {  // to nearest, ties to even
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<uint16_t>(bits >> 16 | 0x40);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
};

DV_INLINE float Sum(const F16& v) {
  float s[kLanes];
  std::memcpy(s, &v, sizeof s);
  for (int width = kLanes / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) s[i] += s[i + width];
  return s[0];
}

// kRows rows of x times kColumns rows of w. The order of additions is that of one pair alone.
template <typename T, int kRows, int kColumns>
DV_INLINE void Tile(const float* x, const T* w, int64_t inner, float* sums) {
  F16 acc[kRows][kColumns] = {};
  const int64_t whole = inner / kLanes * kLanes;
  for (int64_t k = 0; k < whole; k += kLanes) {
    F16 a[kRows];
    for (int m = 0; m < kRows; ++m) std::memcpy(&a[m], x + m * inner + k, sizeof(F16));
    for (int n = 0; n < kColumns; ++n) {
      F16 b;
      Lanes<T>::Load(w + n * inner + k, &b);
      for (int m = 0; m < kRows; ++m) acc[m][n] += a[m] * b;
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

template <typename T, int kColumns>
DV_INLINE void Columns(const float* x, int64_t rows, int64_t inner, const T* w, const T* bias,
                       float* y, int64_t out, int64_t n) {
  float sums[4 * kColumns];
  const auto store = [&](int64_t m0, int count) __attribute__((always_inline)) {
    for (int m = 0; m < count; ++m)
      for (int c = 0; c < kColumns; ++c)
        y[(m0 + m) * out + n + c] =
            sums[m * kColumns + c] + (bias == nullptr ? 0.0F : Lanes<T>::One(bias[n + c]));
  };
  int64_t m = 0;
  const T* block = w + n * inner;
  for (; m + 4 <= rows; m += 4) {
    Tile<T, 4, kColumns>(x + m * inner, block, inner, sums);
    store(m, 4);
  }
  if (rows - m == 3) {
    Tile<T, 3, kColumns>(x + m * inner, block, inner, sums);
    store(m, 3);
  } else if (rows - m == 2) {
    Tile<T, 2, kColumns>(x + m * inner, block, inner, sums);
    store(m, 2);
  } else if (rows - m == 1) {
    Tile<T, 1, kColumns>(x + m * inner, block, inner, sums);
    store(m, 1);
  }
}

template <typename T>
DV_INLINE void Linear(const float* x, int64_t rows, int64_t inner, const T* w, const T* bias,
                      float* y, int64_t out, int64_t begin, int64_t end) {
  int64_t n = begin;
  for (; n + 4 <= end; n += 4) Columns<T, 4>(x, rows, inner, w, bias, y, out, n);
  for (; n < end; ++n) Columns<T, 1>(x, rows, inner, w, bias, y, out, n);
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
  float sum;
  Tile<T, 1, 1>(a, b, size, &sum);
  return sum;
}

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
    const int64_t length = lengths[row];
    const T* keys = static_cast<const T*>(cache.keys) + starts[row] * step + kv * dim;
    const T* values = static_cast<const T*>(cache.values) + starts[row] * step + kv * dim;
    const float* queries = q + row * q_stride + kv * group * dim;
    float* target = out + (row * heads + kv * group) * dim;
    for (int64_t i = 0; i < length; ++i)
      for (int64_t g = 0; g < group; ++g)
        scratch[g * length + i] = Dot<T>(queries + g * dim, keys + i * step, dim) * scale;
    for (int64_t g = 0; g < group; ++g) {
      float* weight = scratch + g * length;
      float top = weight[0];
      for (int64_t i = 1; i < length; ++i) top = std::max(top, weight[i]);
      float total = 0;
      for (int64_t i = 0; i < length; ++i) {
        weight[i] = std::exp(weight[i] - top);
        total += weight[i];
      }
      float* sum = target + g * dim;
      std::fill(sum, sum + dim, 0.0F);
      for (int64_t i = 0; i < length; ++i) {
        const float share = weight[i];
        const T* value = values + i * step;
        int64_t d = 0;
        for (; d + kLanes <= dim; d += kLanes) {
          F16 v, s;
          Lanes<T>::Load(value + d, &v);
          std::memcpy(&s, sum + d, sizeof s);
          s += v * share;
          std::memcpy(sum + d, &s, sizeof s);
        }
        for (; d < dim; ++d) sum[d] += Lanes<T>::One(value[d]) * share;
      }
      for (int64_t d = 0; d < dim; ++d) sum[d] /= total;
    }
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

}  // namespace

void LinearRows(const float* x, int64_t rows, int64_t inner, const void* w, Element element,
                const void* bias, float* y, int64_t out, int64_t begin, int64_t end) {
  if (element == Element::kFloat32)
    LinearFloat(x, rows, inner, static_cast<const float*>(w), static_cast<const float*>(bias), y,
                out, begin, end);
  else
    LinearBfloat(x, rows, inner, static_cast<const uint16_t*>(w),
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
  for (int64_t row = begin; row < end; ++row) {
    const float* gate = x + row * 2 * width;
    const float* up = gate + width;
    for (int64_t i = 0; i < width; ++i)
      y[row * width + i] = gate[i] / (1.0F + std::exp(-gate[i])) * up[i];
  }
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
  if (cache.element == Element::kFloat32)
    AttendFloat(cache, q, q_stride, heads, starts, lengths, scale, out, scratch, begin, end);
  else
    AttendBfloat(cache, q, q_stride, heads, starts, lengths, scale, out, scratch, begin, end);
}

}  // namespace davinci::model
