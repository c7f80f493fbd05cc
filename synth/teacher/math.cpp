// Functions of one float for kernels in C++, each a section "// ---- Name: what it needs" that a
// kernel's file gets when its text calls it. Arithmetic alone, without branches or calls, so that
// loops vectorise. Errors are below 3 ulp, tests/teacher/check_math.py measures them.

// ---- Exp:
// 2^n e^r, the factor 2^n in two parts: the result overflows and vanishes where it should.
static inline float PowerOfTwo(int n) { return std::bit_cast<float>((n + 127) << 23); }
static inline float ExpOfRest(float r) {  // e^r - 1
  float p = 1.98756915e-4f;
  p = std::fma(p, r, 1.39819995e-3f);
  p = std::fma(p, r, 8.33345191e-3f);
  p = std::fma(p, r, 4.16657960e-2f);
  p = std::fma(p, r, 1.66666657e-1f);
  p = std::fma(p, r, 0.5f);
  return std::fma(p * r, r, r);
}
static inline float Exp(float x) {
  const bool gone = x < -104.0f;  // and no product becomes a denormal, which would be slow
  float c = gone ? 0.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const float n = std::rint(c * 1.44269504f);
  float r = std::fma(n, -0.693145752f, c);
  r = std::fma(n, -1.42860677e-6f, r);
  const int k = static_cast<int>(n);
  const int half = k >> 1;
  const float y = (ExpOfRest(r) + 1.0f) * PowerOfTwo(half) * PowerOfTwo(k - half);
  return gone ? 0.0f : y;
}

// ---- Exp2: Exp
static inline float Exp2(float x) {
  float c = x < -150.0f ? -150.0f : x;
  c = c > 129.0f ? 129.0f : c;
  const float n = std::rint(c);
  const int k = static_cast<int>(n);
  const int half = k >> 1;
  return (ExpOfRest((c - n) * 0.693147181f) + 1.0f) * PowerOfTwo(half) * PowerOfTwo(k - half);
}

// ---- Expm1: Exp
// e^x - 1 = 2^n (e^r - 1) + (2^n - 1), without cancellation.
static inline float Expm1(float x) {
  float c = x < -20.0f ? -20.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const float n = std::rint(c * 1.44269504f);
  float r = std::fma(n, -0.693145752f, c);
  r = std::fma(n, -1.42860677e-6f, r);
  const float y = ExpOfRest(r);
  const float half = PowerOfTwo(static_cast<int>(n) - 1);
  return n == 0.0f ? y : 2.0f * std::fma(y, half, half - 0.5f);
}

// ---- Sigmoid: Exp
static inline float Sigmoid(float x) { return 1.0f / (1.0f + Exp(-x)); }

// ---- Tanh: Expm1
static inline float Tanh(float x) {
  const float a = std::fabs(x);
  const float e = Expm1(a > 10.0f ? 20.0f : 2.0f * a);
  return std::copysign(e / (e + 2.0f), x);
}

// ---- Log:
// x = m 2^e with m between sqrt(1/2) and sqrt(2): log(x) = log(m) + e log(2).
static inline float LogOfMantissa(float x, float& exponent) {
  const bool tiny = x < 1.17549435e-38f;
  const int bits = std::bit_cast<int>(tiny ? x * 8388608.0f : x);
  const int e = (bits - 0x3f3504f3) >> 23;
  const float f = std::bit_cast<float>(bits - (e << 23)) - 1.0f;
  exponent = static_cast<float>(e) - (tiny ? 23.0f : 0.0f);
  float p = -0.0763442963f;
  p = std::fma(p, f, 0.127615497f);
  p = std::fma(p, f, -0.131601945f);
  p = std::fma(p, f, 0.142017618f);
  p = std::fma(p, f, -0.166233569f);
  p = std::fma(p, f, 0.200012267f);
  p = std::fma(p, f, -0.250008225f);
  p = std::fma(p, f, 0.333333313f);
  const float s = f * f;
  return std::fma(p * f, s, std::fma(-0.5f, s, f));
}
static inline float LogEdges(float x, float y) {
  y = x < 0.0f ? NAN : y;
  y = x == 0.0f ? -INFINITY : y;
  return x < INFINITY ? y : x;
}
static inline float Log(float x) {
  float e;
  const float m = LogOfMantissa(x, e);
  return LogEdges(x, std::fma(e, 0.693145752f, std::fma(e, 1.42860677e-6f, m)));
}

// ---- Log2: Log
static inline float Log2(float x) {
  float e;
  const float m = LogOfMantissa(x, e);
  return LogEdges(x, std::fma(m, 1.44269502f, std::fma(m, 1.92596303e-8f, e)));
}

// ---- Log1p: Log
// log(u) of the rounded u = 1 + x, corrected by what rounding lost.
static inline float Log1p(float x) {
  const float u = 1.0f + x;
  const float d = u - 1.0f;
  return Log(u) + (d == x ? 0.0f : (x - d) / u);
}

// ---- LogAdd: Exp Log
// log(e^a + e^b), the larger one apart.
static inline float LogAdd(float a, float b) {
  const float high = (a > b) | (a != a) ? a : b;
  const float low = (a < b) | (a != a) ? a : b;
  const float e = Exp(low - high);
  const float more = e < 0.000244140625f ? e - 0.5f * e * e : Log(1.0f + e);
  return high + (high == low ? 0.693147181f : more);
}

// ---- Atan:
// By tan(pi / 8): a series there, the rest by the sum of two angles.
static inline float Atan(float x) {
  const float a = std::fabs(x);
  const bool far = a > 2.41421366f, middle = a > 0.414213568f;
  const float shifted = (a - 1.0f) / (a + 1.0f), turned = -1.0f / a;
  const float t = far ? turned : middle ? shifted : a;
  const float s = t * t;
  float p = 0.0806030855f;
  p = std::fma(p, s, -0.138798505f);
  p = std::fma(p, s, 0.199779257f);
  p = std::fma(p, s, -0.333329558f);
  const float angle = far ? 1.57079637f : middle ? 0.785398185f : 0.0f;
  const float y = angle + std::fma(angle, -2.78275341e-8f, std::fma(p * s, t, t));
  return std::copysign(y, x);
}

// ---- Atan2: Atan
static inline float Atan2(float y, float x) {
  const float a = std::fabs(x), b = std::fabs(y);
  const float most = a > b ? a : b, least = a > b ? b : a;
  float t = Atan(most == 0.0f ? 0.0f : least / most);
  t = b > a ? 1.57079637f - (t + 4.37113883e-8f) : t;
  t = std::signbit(x) ? 3.14159274f - (t + 8.74227766e-8f) : t;
  return x != x || y != y ? x + y : std::copysign(t, y);
}

// ---- MultiplyAdd:
// As many floats as a register of the machine holds, and rows whose sums stay in registers.
#ifdef __AVX512F__
constexpr int kWide = 16, kTall = 8;
#else
constexpr int kWide = 8, kTall = 4;
#endif
typedef float Wide __attribute__((vector_size(4 * kWide), aligned(4), may_alias));
template <int kStrip>
__attribute__((optimize("fp-contract=fast"))) static void MultiplyAddStrip(
    const float* a, int64_t row, int64_t step, const float* b, int64_t ldb, float* c, int64_t ldc,
    int64_t rows, int64_t inner) {
  for (int64_t i = 0; i < rows; i += kTall) {
    Wide sum[kTall][kStrip];
    for (int r = 0; r < kTall; ++r)
      for (int s = 0; s < kStrip; ++s)
        sum[r][s] = *reinterpret_cast<const Wide*>(c + (i + r) * ldc + s * kWide);
    for (int64_t p = 0; p < inner; ++p)
      for (int s = 0; s < kStrip; ++s) {
        const Wide right = *reinterpret_cast<const Wide*>(b + p * ldb + s * kWide);
        for (int r = 0; r < kTall; ++r) sum[r][s] += a[(i + r) * row + p * step] * right;
      }
    for (int r = 0; r < kTall; ++r)
      for (int s = 0; s < kStrip; ++s)
        *reinterpret_cast<Wide*>(c + (i + r) * ldc + s * kWide) = sum[r][s];
  }
}
// c += a b; `rows` is a multiple of 8, `cols` of 16; a's element (i, p) is a[i row + p step].
static inline void MultiplyAdd(const float* a, int64_t row, int64_t step, const float* b,
                               int64_t ldb, float* c, int64_t ldc, int64_t rows, int64_t inner,
                               int64_t cols) {
  int64_t j = 0;
  for (; j + 2 * kWide <= cols; j += 2 * kWide)
    MultiplyAddStrip<2>(a, row, step, b + j, ldb, c + j, ldc, rows, inner);
  for (; j < cols; j += kWide)
    MultiplyAddStrip<1>(a, row, step, b + j, ldb, c + j, ldc, rows, inner);
}

// ---- Erf:
// x + x P(x^2) below 0.7, 1 - 2^Q(|x|) above: the power lies between 2^-26 and 1/3, so that its
// exponent is added to the bits of 2^r.
static inline float Erf(float x) {
  const float a = std::fabs(x);
  const float s = a * a;
  float p = 0.00428181188f;
  p = std::fma(p, s, -0.0264744945f);
  p = std::fma(p, s, 0.112769999f);
  p = std::fma(p, s, -0.376122206f);
  p = std::fma(p, s, 0.128379121f);
  const float c = a > 4.0f ? 4.0f : a;
  float q = 0.000311126641f;
  q = std::fma(q, c, -0.00465752278f);
  q = std::fma(q, c, 0.0330825374f);
  q = std::fma(q, c, -0.151946381f);
  q = std::fma(q, c, -0.91709286f);
  q = std::fma(q, c, -1.62810934f);
  q = std::fma(q, c, -4.20570905e-06f);
  const float n = std::rint(q);
  const float r = q - n;
  float e = 0.00132764713f;
  e = std::fma(e, r, 0.00967554096f);
  e = std::fma(e, r, 0.0555071309f);
  e = std::fma(e, r, 0.240221202f);
  e = std::fma(e, r, 0.693146944f);
  e = std::fma(e, r, 1.00000012f);
  e = std::bit_cast<float>(std::bit_cast<int>(e) + (static_cast<int>(n) << 23));
  return a < 0.7f ? std::fma(p, x, x) : std::copysign(1.0f - e, x);
}

// ---- Sin:
// The quarter turn that x lies in and the rest, in double precision: exact up to 2^50. A sum with
// 1.5 2^52 is rounded to a whole number, which its last bits hold.
static inline float QuarterTurns(float x, int& quarter) {
  const double wide = x;
  const double turns = std::fma(wide, 0.63661977236758134, 6755399441055744.0);
  const double n = turns - 6755399441055744.0;
  double r = std::fma(n, -1.5707963267948966, wide);
  r = std::fma(n, -6.123233995736766e-17, r);
  quarter = static_cast<int>(std::bit_cast<int64_t>(turns));
  return static_cast<float>(r);
}
static inline float SineOfQuarter(float r, int quarter) {
  const float s = r * r;
  float p = 2.71830413e-06f;
  p = std::fma(p, s, -0.000198393347f);
  p = std::fma(p, s, 0.00833332911f);
  p = std::fma(p, s, -0.166666672f);
  const float sine = std::fma(p * s, r, r);
  float q = 2.44383773e-05f;
  q = std::fma(q, s, -0.00138873665f);
  q = std::fma(q, s, 0.0416666456f);
  const float cosine = std::fma(q * s, s, std::fma(-0.5f, s, 1.0f));
  const float y = quarter & 1 ? cosine : sine;
  return quarter & 2 ? -y : y;
}
static inline float Sin(float x) {
  int quarter;
  const float r = QuarterTurns(x, quarter);
  return x < INFINITY ? SineOfQuarter(r, quarter) : x - x;
}

// ---- Cos: Sin
static inline float Cos(float x) {
  int quarter;
  const float r = QuarterTurns(x, quarter);
  return x < INFINITY ? SineOfQuarter(r, quarter + 1) : x - x;
}

// ---- Pow:
// 2^(y log2 x) in double precision, since y multiplies the error of the logarithm.
static inline float Pow(float x, float y) {
  const float a = std::fabs(x);
  const bool tiny = a < 1.17549435e-38f;
  const int bits = std::bit_cast<int>(tiny ? a * 8388608.0f : a);
  const int e = (bits - 0x3f3504f3) >> 23;
  const double m = std::bit_cast<float>(bits - (e << 23));
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 0.19335610605196918;
  p = std::fma(p, z, 0.17946346315141096);
  p = std::fma(p, z, 0.22227627651625914);
  p = std::fma(p, z, 0.28571378066789205);
  p = std::fma(p, z, 0.4000000014973817);
  p = std::fma(p, z, 0.6666666666665589);
  const double exponent = static_cast<double>(e) - (tiny ? 23.0 : 0.0);
  double t = std::fma(std::fma(p * z, s, 2.0 * s), 1.4426950408889634, exponent) * y;
  t = t < -200.0 ? -200.0 : t;
  t = t > 200.0 ? 200.0 : t;
  const double n = std::rint(t);
  const double r = (t - n) * 0.6931471805599453;
  double q = 2.4876315728536062e-05;
  q = std::fma(q, r, 0.00019899392283981703);
  q = std::fma(q, r, 0.0013888823903295735);
  q = std::fma(q, r, 0.008333298340857572);
  q = std::fma(q, r, 0.041666666854727384);
  q = std::fma(q, r, 0.1666666671932205);
  q = std::fma(q, r, 0.49999999999909406);
  const double power =
      std::bit_cast<double>((static_cast<int64_t>(static_cast<int>(n)) + 1023) << 52);
  float v = static_cast<float>((std::fma(q * r, r, r) + 1.0) * power);
  v = a == 0.0f ? (y < 0.0f ? INFINITY : 0.0f) : v;
  v = a == INFINITY ? (y < 0.0f ? 0.0f : a) : v;
  v = a != a ? a : v;
  const bool whole = y == std::floor(y);
  const bool odd = whole && y * 0.5f != std::floor(y * 0.5f);
  v = std::signbit(x) && odd ? -v : v;
  v = x < 0.0f && a < INFINITY && !whole ? NAN : v;
  return y == 0.0f || x == 1.0f ? 1.0f : v;
}

// ---- Maximum:
static inline float Maximum(float a, float b) { return (a > b) | (a != a) ? a : b; }

// ---- Minimum:
static inline float Minimum(float a, float b) { return (a < b) | (a != a) ? a : b; }

// ---- Bf16:
// A float's upper half, rounded to the nearest even.
struct Bf16 {
  uint16_t bits;
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  Bf16& operator=(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    const uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    bits = static_cast<uint16_t>(x != x ? 0x7fc0u : rounded);
    return *this;
  }
};

// ---- Fp16:
// The exponent moves by a product with 2^112 and back by a sum; small numbers are rounded by the
// sum with 0.5, whose last bit is 2^-24.
struct Fp16 {
  uint16_t bits;
  operator float() const {
    const uint32_t m = (bits & 0x7fffu) << 13;
    const uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(m) * 0x1p112f);
    const uint32_t u = m >= 0x0f800000u ? m | 0x7f800000u : scaled;
    return std::bit_cast<float>(u | ((bits & 0x8000u) << 16));
  }
  Fp16& operator=(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x), m = u & 0x7fffffffu;
    const uint32_t normal = (m - 0x38000000u + 0xfffu + ((m >> 13) & 1u)) >> 13;
    const uint32_t small = std::bit_cast<uint32_t>(std::bit_cast<float>(m) + 0.5f) - 0x3f000000u;
    const uint32_t finite = m < 0x38800000u ? small : normal;
    const uint32_t large = m > 0x7f800000u ? 0x7e00u : 0x7c00u;
    bits = static_cast<uint16_t>((m >= 0x477ff000u ? large : finite) | ((u >> 16) & 0x8000u));
    return *this;
  }
};
