"""Realistic load_inline sources: how people and models write them. Each case says which build stage may serve it.

CPU cases carry a check that compares with torch; CUDA cases must compile and link (no device needed).
"""

import os

import torch


def close(a, b, tol=1e-5):
    assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
    assert torch.allclose(a, b, rtol=tol, atol=tol), (a - b).abs().max()


def raises(kind, call, text=""):
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
        return
    raise AssertionError(f"{kind.__name__} was not raised")


FAST = ["-O3", "-march=native", "-fopenmp"]
CASES = []


def case(name, cpp="", cuda="", functions=None, stage="compat", cflags=(), cuda_cflags=(), check=None, **more):
    CASES.append(dict(name=name, cpp=cpp, cuda=cuda, functions=functions, stage=stage, cflags=list(cflags),
                      cuda_cflags=list(cuda_cflags), check=check, **more))


def check_number(m):
    made = m.number(torch.rand(3))
    assert made.shape == () and made.dtype is torch.float32 and made.item() == 2.5, made


case("torch_tensor_of_a_number", cpp=r"""
#include <torch/extension.h>
torch::Tensor number(torch::Tensor x) { return torch::tensor(2.5); }
""", functions=["number"], stage="full", check=check_number, slow=True)


def check_conversions(m):
    x = torch.rand(50)
    close(m.flip(x, 1), -x)
    close(m.flip(x, 0), x)
    close(m.flip(x, None), x)
    raises(TypeError, lambda: m.flip(x, "yes"), "incompatible function arguments")
    close(m.total(w for w in (x, x, x)), 3 * x)
    close(m.total((x, x)), 2 * x)
    raises(TypeError, lambda: m.total({0: x}), "incompatible function arguments")
    close(m.power(x, 2), x + 2)
    close(m.power(x, 2.5), x * 2.5)


case("pybind_conversions", cpp=r"""
#include <torch/extension.h>
torch::Tensor flip(torch::Tensor x, bool negative) { return negative ? -x : x; }
torch::Tensor total(const std::vector<torch::Tensor>& parts) {
  auto sum = torch::zeros_like(parts[0]);
  for (auto& part : parts) sum = sum + part;
  return sum;
}
torch::Tensor scale(torch::Tensor x, double by) { return x * by; }
torch::Tensor shift(torch::Tensor x, int64_t by) { return x + by; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("flip", &flip);
  m.def("total", &total);
  m.def("power", &scale, py::arg("x"), py::arg("by"));
  m.def("power", &shift, py::arg("x"), py::arg("by"));  // an int is for this one, although it comes second
}
""", check=check_conversions)


def check_add_relu(m):
    a, b = torch.randn(1000), torch.randn(1000)
    close(m.add_relu(a, b), torch.relu(a + b))
    raises(RuntimeError, lambda: m.add_relu(a, b[:10]), "same number of elements")
    raises(TypeError, lambda: m.add_relu(a), "add_relu")
    raises(TypeError, lambda: m.add_relu(a, 3), "incompatible function arguments")
    raises(RuntimeError, lambda: m.add_relu(a.double(), b.double()), "expected scalar type Float but found Double")


case("elementwise_omp", """
torch::Tensor add_relu(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.numel() == b.numel(), "a and b must have the same number of elements, got ", a.numel(), " and ", b.numel());
  auto out = torch::empty_like(a);
  const float* x = a.data_ptr<float>();
  const float* y = b.data_ptr<float>();
  float* z = out.data_ptr<float>();
  const int64_t n = a.numel();
  #pragma omp parallel for
  for (int64_t i = 0; i < n; ++i) z[i] = std::max(0.0f, x[i] + y[i]);
  return out;
}
""", functions=["add_relu"], cflags=FAST, check=check_add_relu)

case("reduction_dispatch", """
#include <torch/extension.h>
#include <cmath>
at::Tensor row_sum(const at::Tensor& input) {
  TORCH_CHECK(input.dim() == 2, "expected a matrix");
  auto x = input.contiguous();
  auto out = at::zeros({x.size(0)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "row_sum", ([&] {
    const scalar_t* p = x.data_ptr<scalar_t>();
    scalar_t* o = out.data_ptr<scalar_t>();
    for (int64_t r = 0; r < x.size(0); ++r) {
      scalar_t s = 0;
      for (int64_t c = 0; c < x.size(1); ++c) s += p[r * x.size(1) + c];
      o[r] = s;
    }
  }));
  return out;
}
""", functions={"row_sum": "sums rows \"quickly\""}, check=lambda m: (
    close(m.row_sum(torch.ones(4, 5).t()), torch.full((5,), 4.0)),
    close(m.row_sum(torch.ones(4, 5, dtype=torch.float64)), torch.full((4,), 5.0, dtype=torch.float64)),
    raises(NotImplementedError, lambda: m.row_sum(torch.ones(2, 2, dtype=torch.int64)), "not implemented for 'Long'")))

case("cpp20", """
#include <concepts>
#include <span>
template <typename T>
concept Number = std::floating_point<T>;
template <Number T>
T total(std::span<const T> values) {
  T sum = 0;
  for (T value : values) sum += value;
  return sum;
}
torch::Tensor sum(torch::Tensor x) {
  auto out = torch::empty({1}, x.options());
  *out.data_ptr<float>() = total(std::span<const float>(x.data_ptr<float>(), x.numel()));
  return out;
}
""", functions=["sum"], check=lambda m: close(m.sum(torch.ones(64)), torch.full((1,), 64.0)))

case("cuda_cpp20", "torch::Tensor fill(torch::Tensor x);", """
#include <torch/extension.h>
#include <concepts>
template <std::floating_point T>
__global__ void fill_kernel(T* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = T(1);
}
torch::Tensor fill(torch::Tensor x) {
  const int n = x.numel();
  fill_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), n);
  return x;
}
""", functions=["fill"])

case("cuda_with_python", "", """
#include <torch/extension.h>
__global__ void fill_kernel(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;
}
torch::Tensor fill(torch::Tensor x) {
  const int n = x.numel();
  fill_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), n);
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("fill", &fill, "ones"); }
""")

case("accessor", """
torch::Tensor trace_all(torch::Tensor x) {
  auto a = x.accessor<float, 3>();
  auto out = torch::zeros({x.size(0)}, torch::kFloat32);
  auto o = out.accessor<float, 1>();
  for (int b = 0; b < a.size(0); b++)
    for (int i = 0; i < a.size(1); i++) o[b] += a[b][i][i];
  return out;
}
""", functions=["trace_all"], check=lambda m: (lambda x: close(
    m.trace_all(x), x.diagonal(dim1=1, dim2=2).sum(-1)))(torch.randn(3, 4, 4)))

case("vector_return", """
#include <vector>
std::vector<torch::Tensor> split_sign(torch::Tensor x) {
  auto pos = torch::clamp_min(x, 0);
  auto neg = torch::clamp_max(x, 0);
  return {pos, neg};
}
""", functions=["split_sign"], check=lambda m: (lambda x: (
    close(m.split_sign(x)[0], x.clamp(min=0)), close(m.split_sign(x)[1], x.clamp(max=0))))(torch.randn(7)))

case("tuple_return", """
std::tuple<torch::Tensor, torch::Tensor, int64_t> stats(const torch::Tensor& x, double eps) {
  auto mean = x.mean(-1, /*keepdim=*/true);
  auto var = (x - mean).pow(2).mean(-1, true);
  return std::make_tuple(mean, torch::rsqrt(var + eps), x.size(-1));
}
""", functions=["stats"], check=lambda m: (lambda x: (
    close(m.stats(x, 1e-5)[0], x.mean(-1, True)),
    close(m.stats(x, 1e-5)[1], torch.rsqrt(x.var(-1, unbiased=False, keepdim=True) + 1e-5), 1e-4),
    m.stats(x, 1e-5)[2] == 9))(torch.randn(3, 9)))

case("optional_tensor", """
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& w, c10::optional<torch::Tensor> bias) {
  auto y = torch::matmul(x, w.t());
  if (bias.has_value()) y += bias.value();
  return y;
}
torch::Tensor scale(torch::Tensor x, std::optional<double> s) { return x * s.value_or(3.0); }
""", functions=["linear", "scale"], check=lambda m: (lambda x, w, b: (
    close(m.linear(x, w, None), x @ w.t()), close(m.linear(x, w, b), x @ w.t() + b),
    close(m.scale(x, None), x * 3), close(m.scale(x, 0.5), x * 0.5)))(
        torch.randn(4, 8), torch.randn(5, 8), torch.randn(5)))

case("torch_ops_inside", """
torch::Tensor attention(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
  auto scores = torch::matmul(q, k.transpose(-2, -1)) / std::sqrt((double)q.size(-1));
  auto weights = torch::softmax(scores, -1);
  return torch::matmul(weights, v).contiguous().view({q.size(0), q.size(1), -1});
}
""", functions=["attention"], check=lambda m: (lambda q, k, v: close(
    m.attention(q, k, v), torch.softmax(q @ k.transpose(-2, -1) / 4.0, -1) @ v))(
        torch.randn(2, 5, 16), torch.randn(2, 5, 16), torch.randn(2, 5, 16)))

case("parallel_for", """
#include <ATen/Parallel.h>
at::Tensor gelu(at::Tensor x) {
  at::Tensor out = at::empty_like(x);
  const float* in = x.const_data_ptr<float>();
  float* o = out.mutable_data_ptr<float>();
  at::parallel_for(0, x.numel(), 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) o[i] = 0.5f * in[i] * (1.0f + erff(in[i] * 0.70710678f));
  });
  return out;
}
""", functions="gelu", cflags=FAST, check=lambda m: (lambda x: close(
    m.gelu(x), torch.nn.functional.gelu(x)))(torch.randn(100000)))

case("own_module_block", """
#include <torch/extension.h>
#include <pybind11/pybind11.h>
namespace py = pybind11;
torch::Tensor axpy(torch::Tensor x, torch::Tensor y, double alpha, bool negate) {
  return negate ? y - alpha * x : y + alpha * x;
}
int64_t count(const std::vector<int64_t>& sizes, const std::string& how) {
  int64_t n = how == "sum" ? 0 : 1;
  for (auto s : sizes) { if (how == "sum") n += s; else n *= s; }
  return n;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "axpy";
  m.def("axpy", &axpy, "y + alpha x", py::arg("x"), py::arg("y"), py::arg("alpha") = 2.0, py::arg("negate") = false);
  m.def("count", &count);
  m.def("twice", [](torch::Tensor t) { return t + t; });
}
""", check=lambda m: (lambda x, y: (
    close(m.axpy(x, y), y + 2 * x), close(m.axpy(x, y=y, negate=True, alpha=3), y - 3 * x),
    close(m.twice(x), 2 * x), m.count([2, 3], "sum") == 5 or raises(AssertionError, lambda: None),
    raises(TypeError, lambda: m.axpy(x, y, beta=1))))(torch.randn(3), torch.randn(3)))

case("softmax_rows", """
torch::Tensor softmax_rows(torch::Tensor input) {
  CHECK_INPUT(input);
  auto output = torch::empty(input.sizes(), input.options());
  auto rows = input.size(0), cols = input.size(1);
  const float* in = input.data_ptr<float>();
  float* out = output.data_ptr<float>();
  #pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < rows; ++r) {
    float m = -std::numeric_limits<float>::infinity();
    for (int64_t c = 0; c < cols; ++c) m = std::max(m, in[r * cols + c]);
    float s = 0.f;
    for (int64_t c = 0; c < cols; ++c) { float e = std::exp(in[r * cols + c] - m); out[r * cols + c] = e; s += e; }
    for (int64_t c = 0; c < cols; ++c) out[r * cols + c] /= s;
  }
  return output;
}
""".replace("torch::Tensor softmax_rows", """#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_FLOAT(x) TORCH_CHECK(x.dtype() == torch::kFloat32, #x " must be float32, not ", x.dtype())
#define CHECK_INPUT(x) CHECK_CONTIGUOUS(x); CHECK_FLOAT(x)
torch::Tensor softmax_rows""", 1), functions=["softmax_rows"], cflags=FAST, check=lambda m: (
    (lambda x: close(m.softmax_rows(x), x.softmax(-1)))(torch.randn(5, 33)),
    raises(RuntimeError, lambda: m.softmax_rows(torch.randn(3, 3).double()), "must be float32, not double")))

case("layer_norm_options", """
torch::Tensor layer_norm(torch::Tensor x, torch::Tensor gamma, torch::Tensor beta, double eps) {
  auto opts = torch::TensorOptions().dtype(torch::kFloat64).device(x.device());
  auto acc = torch::zeros({x.size(0), 2}, opts);
  auto y = torch::empty_like(x);
  int n = x.size(0), d = x.size(1);
  float *px = x.data_ptr<float>(), *py = y.data_ptr<float>(), *g = gamma.data_ptr<float>(), *b = beta.data_ptr<float>();
  double* a = acc.data_ptr<double>();
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < d; j++) a[2 * i] += px[i * d + j];
    a[2 * i] /= d;
    for (int j = 0; j < d; j++) { double t = px[i * d + j] - a[2 * i]; a[2 * i + 1] += t * t; }
    double inv = 1.0 / sqrt(a[2 * i + 1] / d + eps);
    for (int j = 0; j < d; j++) py[i * d + j] = (px[i * d + j] - a[2 * i]) * inv * g[j] + b[j];
  }
  return y;
}
""", functions=["layer_norm"], check=lambda m: (lambda x, g, b: close(
    m.layer_norm(x, g, b, 1e-5), torch.nn.functional.layer_norm(x, (16,), g, b), 1e-4))(
        torch.randn(4, 16), torch.randn(16), torch.randn(16)))

case("half_bfloat16", """
at::Tensor square(at::Tensor x) {
  auto out = at::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "square", [&] {
    auto* in = x.data_ptr<scalar_t>();
    auto* o = out.data_ptr<scalar_t>();
    for (int64_t i = 0; i < x.numel(); ++i) o[i] = static_cast<scalar_t>(static_cast<float>(in[i]) * static_cast<float>(in[i]));
  });
  return out;
}
float first_half(at::Tensor x) { return static_cast<float>(x.data_ptr<at::Half>()[0]); }
""", functions=["square", "first_half"], check=lambda m: (
    (lambda x: (close(m.square(x), x * x, 1e-3), m.first_half(x)))(torch.randn(10).half()),
    (lambda x: close(m.square(x), x * x, 1e-2))(torch.randn(10).bfloat16())))

case("inplace_and_index", """
void relu_(torch::Tensor& x) { x.clamp_min_(0); }
torch::Tensor pick(torch::Tensor x, int i) { auto row = x[i]; return row.unsqueeze(0).expand({2, row.size(0)}).clone(); }
torch::Tensor zero_row(torch::Tensor x, int64_t i) { auto y = x.clone(); y[i] = 0; return y; }
""", functions=["relu_", "pick", "zero_row"], check=lambda m: (lambda x: (
    m.relu_(y := x.clone()), close(y, x.relu()), close(m.pick(x, 1), x[1].expand(2, 4)),
    close(m.zero_row(x, 0)[0], torch.zeros(4))))(torch.randn(3, 4)))

case("list_argument", """
torch::Tensor concat(std::vector<torch::Tensor> parts, int64_t dim) {
  TORCH_CHECK(!parts.empty(), "nothing to concatenate");
  return torch::cat(parts, dim);
}
torch::Tensor reshaped(torch::Tensor x, at::IntArrayRef shape) { return x.reshape(shape).to(torch::kFloat64); }
""", functions=["concat", "reshaped"], check=lambda m: (lambda x: (
    close(m.concat([x, x], 1), torch.cat([x, x], 1)), close(m.reshaped(x, [4, 2]), x.reshape(4, 2).double()),
    raises(RuntimeError, lambda: m.concat([], 0), "nothing to concatenate")))(torch.randn(2, 4)))

case("conv_via_at", """
#include <ATen/ATen.h>
at::Tensor conv_relu(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) {
  return at::relu(at::conv2d(x, w, b, {1, 1}, {1, 1}));
}
at::Tensor pool(const at::Tensor& x) { return at::max_pool2d(x, {2, 2}); }
std::tuple<at::Tensor, at::Tensor> top(const at::Tensor& x) { return x.max(1); }
""", functions=["conv_relu", "pool", "top"], check=lambda m: (lambda x, w, b: (
    close(m.conv_relu(x, w, b), torch.conv2d(x, w, b, padding=1).relu(), 1e-4),
    close(m.pool(x), torch.max_pool2d(x, 2)), close(m.top(x)[0], x.max(1)[0])))(
        torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3), torch.randn(4)))

case("template_tiled_matmul", """
#include <algorithm>
template <int TILE>
static void matmul_tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  std::fill(C, C + (size_t)M * N, 0.f);
  #pragma omp parallel for collapse(2)
  for (int i0 = 0; i0 < M; i0 += TILE)
    for (int j0 = 0; j0 < N; j0 += TILE)
      for (int k0 = 0; k0 < K; k0 += TILE)
        for (int i = i0; i < std::min(i0 + TILE, M); ++i)
          for (int k = k0; k < std::min(k0 + TILE, K); ++k)
            for (int j = j0; j < std::min(j0 + TILE, N); ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];
}
torch::Tensor matmul(torch::Tensor a, torch::Tensor b) {
  auto c = torch::empty({a.size(0), b.size(1)}, a.options());
  matmul_tiled<32>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), a.size(0), b.size(1), a.size(1));
  return c;
}
""", functions=["matmul"], cflags=FAST, check=lambda m: (lambda a, b: close(
    m.matmul(a, b), a @ b, 1e-3))(torch.randn(70, 50), torch.randn(50, 90)))

case("avx_intrinsics", """
#include <immintrin.h>
torch::Tensor scale(torch::Tensor x, double s) {
  auto y = torch::empty_like(x);
  const float* in = x.data_ptr<float>(); float* out = y.data_ptr<float>();
  int64_t n = x.numel(), i = 0;
#ifdef __AVX2__
  __m256 v = _mm256_set1_ps((float)s);
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_loadu_ps(in + i), v));
#endif
  for (; i < n; ++i) out[i] = in[i] * (float)s;
  return y;
}
""", functions=["scale"], cflags=FAST, check=lambda m: (lambda x: close(m.scale(x, 2.5), x * 2.5))(torch.randn(1003)))

case("class_and_std", """
#include <unordered_map>
#include <memory>
struct Histogram {
  std::unordered_map<int64_t, int64_t> counts;
  void add(int64_t v) { counts[v]++; }
};
torch::Tensor bincount(torch::Tensor x, int64_t bins) {
  auto h = std::make_unique<Histogram>();
  auto xi = x.to(torch::kInt64).contiguous();
  auto* p = xi.data_ptr<int64_t>();
  for (int64_t i = 0; i < xi.numel(); ++i) h->add(p[i]);
  auto out = torch::zeros({bins}, torch::dtype(torch::kInt64));
  for (auto& [k, v] : h->counts) if (k >= 0 && k < bins) out.data_ptr<int64_t>()[k] = v;
  return out;
}
""", functions=["bincount"], check=lambda m: (lambda x: close(m.bincount(x, 5), torch.bincount(x, minlength=5)))(
    torch.randint(0, 5, (100,))))

case("item_and_scalar", """
double total(torch::Tensor x) { return x.sum().item<double>(); }
torch::Tensor shift(torch::Tensor x, at::Scalar s) { return torch::add(x, s); }
bool all_positive(const torch::Tensor& x) { return (x > 0).all().item<bool>(); }
torch::Tensor make(int64_t n) { return torch::arange(n, torch::kInt64) * 2 + torch::ones({n}, torch::kInt64); }
torch::Tensor same_as(torch::Tensor x, torch::Tensor like) { return torch::where(x > like, x, like).to(like.device(), torch::kFloat); }
""", functions=["total", "shift", "all_positive", "make", "same_as"], check=lambda m: (lambda x: (
    close(torch.tensor(m.total(x)), x.sum().double().float() if False else torch.tensor(x.sum().item())),
    close(m.shift(x, 2), x + 2), close(m.shift(x, 0.5), x + 0.5), m.all_positive(x.abs() + 1),
    close(m.make(4), torch.arange(4) * 2 + 1), close(m.same_as(x, -x), torch.maximum(x, -x))))(torch.randn(6)))

case("irange_and_error", """
#include <c10/util/irange.h>
#include <stdexcept>
torch::Tensor cumsum(torch::Tensor x) {
  if (x.dim() != 1) throw std::runtime_error("cumsum: one dimension only");
  auto y = x.clone();
  auto* p = y.data_ptr<float>();
  for (const auto i : c10::irange(1, y.numel())) p[i] += p[i - 1];
  return y;
}
""", functions=["cumsum"], check=lambda m: (lambda x: (close(m.cumsum(x), x.cumsum(0)), raises(
    RuntimeError, lambda: m.cumsum(x.view(2, 5)), "one dimension only")))(torch.randn(10)))

case("no_grad_guard", """
torch::Tensor f(torch::Tensor x) { torch::NoGradGuard guard; return x.sigmoid() * x; }
""", functions=["f"], stage="slim", check=lambda m: (lambda x: close(m.f(x), torch.nn.functional.silu(x)))(torch.randn(6)))

case("index_slice", """
using namespace torch::indexing;
torch::Tensor half(torch::Tensor x) { return x.index({Slice(0, x.size(0) / 2), "..."}) + 0; }
""", functions=["half"], stage="slim", check=lambda m: (lambda x: close(m.half(x), x[:3]))(torch.randn(6, 2)))

case("complex_dispatch", """
torch::Tensor neg(torch::Tensor x) {
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(x.scalar_type(), "neg", [&] {
    for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<scalar_t>()[i] = -x.data_ptr<scalar_t>()[i];
  });
  return y;
}
""", functions=["neg"], stage="slim", check=lambda m: (
    (lambda x: close(m.neg(x), -x))(torch.randn(6)), (lambda x: close(m.neg(x), -x))(torch.randn(6, dtype=torch.complex64))))

case("torch_nn_functional", """
torch::Tensor f(torch::Tensor x) { return torch::nn::functional::gelu(x); }
""", functions=["f"], stage="full", slow=True, check=lambda m: (lambda x: close(m.f(x), torch.nn.functional.gelu(x)))(torch.randn(6)))

# ---- CUDA: compiled and linked, not run ----

case("cuda_relu", "torch::Tensor relu(torch::Tensor x);", """
__global__ void relu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaxf(x[i], 0.f);
}
torch::Tensor relu(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  relu_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
""", functions=["relu"])

case("cuda_template_shared", "torch::Tensor row_max(torch::Tensor x);", """
#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>
#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
template <typename scalar_t, int BLOCK>
__global__ void row_max_kernel(const scalar_t* __restrict__ x, scalar_t* __restrict__ out, int cols) {
  extern __shared__ unsigned char raw[];
  scalar_t* tile = reinterpret_cast<scalar_t*>(raw);
  scalar_t best = x[blockIdx.x * (size_t)cols];
  for (int c = threadIdx.x; c < cols; c += BLOCK) best = max(best, x[blockIdx.x * (size_t)cols + c]);
  tile[threadIdx.x] = best;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) tile[threadIdx.x] = max(tile[threadIdx.x], tile[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
torch::Tensor row_max(torch::Tensor x) {
  CHECK_CUDA(x);
  auto out = torch::empty({x.size(0)}, x.options());
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "row_max", ([&] {
    row_max_kernel<scalar_t, 256><<<x.size(0), 256, 256 * sizeof(scalar_t)>>>(
        x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.size(1));
  }));
  cudaError_t err = cudaGetLastError();
  TORCH_CHECK(err == cudaSuccess, "launch failed: ", cudaGetErrorString(err));
  return out;
}
""", functions=["row_max"], cuda_cflags=["-O3", "--use_fast_math"])

case("cuda_stream_guard", "torch::Tensor scale(torch::Tensor x, double s);", """
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAException.h>
__global__ void scale_kernel(const float* x, float* y, float s, int64_t n) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) y[i] = s * x[i];
}
torch::Tensor scale(torch::Tensor x, double s) {
  const at::cuda::OptionalCUDAGuard guard(device_of_tensor(x));
  c10::cuda::CUDAGuard other(x.device());
  const c10::cuda::OptionalCUDAGuard found(device_of(x));
  auto y = torch::empty_like(x);
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  scale_kernel<<<1024, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), s, x.numel());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  AT_CUDA_CHECK(cudaGetLastError());
  return y;
}
""".replace("__global__ void scale_kernel", """static std::optional<c10::Device> device_of_tensor(const torch::Tensor& t) { return t.device(); }
__global__ void scale_kernel""", 1), functions=["scale"])

case("cuda_half", "at::Tensor add_half(at::Tensor a, at::Tensor b);", """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void add_kernel(const __half2* a, const __half2* b, __half2* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = __hadd2(a[i], b[i]);
}
at::Tensor add_half(at::Tensor a, at::Tensor b) {
  TORCH_CHECK(a.scalar_type() == at::kHalf && b.scalar_type() == torch::kFloat16);
  auto c = at::empty_like(a);
  int n = a.numel() / 2;
  add_kernel<<<(n + 127) / 128, 128>>>(reinterpret_cast<const __half2*>(a.data_ptr<at::Half>()),
      reinterpret_cast<const __half2*>(b.data_ptr<at::Half>()), reinterpret_cast<__half2*>(c.data_ptr<at::Half>()), n);
  return c;
}
""", functions=["add_half"])

case("cuda_packed_accessor", "torch::Tensor transpose(torch::Tensor x);", """
template <typename scalar_t>
__global__ void transpose_kernel(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
                                 torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> y) {
  __shared__ scalar_t tile[32][33];
  int r = blockIdx.y * 32 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
  if (r < x.size(0) && c < x.size(1)) tile[threadIdx.y][threadIdx.x] = x[r][c];
  __syncthreads();
  r = blockIdx.x * 32 + threadIdx.y; c = blockIdx.y * 32 + threadIdx.x;
  if (r < y.size(0) && c < y.size(1)) y[r][c] = tile[threadIdx.x][threadIdx.y];
}
torch::Tensor transpose(torch::Tensor x) {
  auto y = torch::empty({x.size(1), x.size(0)}, x.options());
  dim3 block(32, 32), grid((x.size(1) + 31) / 32, (x.size(0) + 31) / 32);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "transpose", ([&] {
    transpose_kernel<scalar_t><<<grid, block>>>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
                                                y.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>());
  }));
  return y;
}
""", functions=["transpose"])

case("cuda_warp_shuffle", "torch::Tensor sum(torch::Tensor x); torch::Tensor sum_sq(torch::Tensor x, c10::optional<torch::Tensor> w);", """
template <typename F>
__global__ void reduce_kernel(const float* x, float* out, int n, F f) {
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += f(x[i]);
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
struct Identity { __device__ float operator()(float v) const { return v; } };
struct Square { __device__ float operator()(float v) const { return v * v; } };
torch::Tensor sum(torch::Tensor x) {
  auto out = torch::zeros({}, x.options());
  reduce_kernel<<<256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), (int)x.numel(), Identity());
  return out;
}
torch::Tensor sum_sq(torch::Tensor x, c10::optional<torch::Tensor> w) {
  auto out = torch::zeros({1}, torch::TensorOptions().dtype(torch::kFloat32).device(torch::kCUDA, 0));
  auto in = w.has_value() ? x * *w : x;
  reduce_kernel<<<256, 256>>>(in.data_ptr<float>(), out.data_ptr<float>(), (int)in.numel(), Square());
  return out.squeeze();
}
""", functions=["sum", "sum_sq"])

case("cuda_wmma_bf16", "torch::Tensor gemm(torch::Tensor a, torch::Tensor b);", """
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
__global__ void gemm_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int m, int n, int k) {
  int row = blockIdx.y * 16, col = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(fa, a + row * k + i, k);
    wmma::load_matrix_sync(fb, b + i * n + col, n);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
}
torch::Tensor gemm(torch::Tensor a, torch::Tensor b) {
  int m = a.size(0), k = a.size(1), n = b.size(1);
  auto c = torch::empty({m, n}, a.options().dtype(torch::kFloat));
  gemm_kernel<<<dim3(n / 16, m / 16), 32>>>(reinterpret_cast<__nv_bfloat16*>(a.data_ptr<at::BFloat16>()),
      reinterpret_cast<__nv_bfloat16*>(b.data_ptr<at::BFloat16>()), c.data_ptr<float>(), m, n, k);
  return c;
}
""", functions=["gemm"])

case("cuda_only_in_cu_with_module", "", """
#include <torch/extension.h>
__global__ void fill_kernel(float* x, float v, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = v; }
void fill(torch::Tensor x, double v) { fill_kernel<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), v, x.numel()); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("fill", &fill, "fill (CUDA)"); }
""")

# ---- wrong sources: reported, without climbing, in words a user of torch understands ----


def wrong(name, cpp="", cuda="", functions=None, line=0, text="", stage="compat"):
    CASES.append(dict(name=name, cpp=cpp, cuda=cuda, functions=functions, stage=stage, cflags=[], cuda_cflags=[], check=None,
                      error=True, line=line, text=text))


wrong("bad_syntax", "torch::Tensor f(torch::Tensor x) {\n  auto y = x + 1\n  return y;\n}\n", functions=["f"], line=3, text="expected")
wrong("bad_own_name", "torch::Tensor f(torch::Tensor x) {\n  return x + zzz_scale_factor;\n}\n", functions=["f"], line=2,
      text="zzz_scale_factor")
wrong("bad_function_name", "torch::Tensor f(torch::Tensor x) {\n  return x;\n}\n", functions=["f_forwardd"], text="f_forwardd")
wrong("bad_method", "torch::Tensor f(torch::Tensor x) {\n  return x.frobnicate_all();\n}\n", functions=["f"], line=2,
      text="frobnicate_all")
# A file of the user that runs the judge: exists, is readable to the judge, must not be to the compiler.
wrong("bad_host_file", f"#include \"{os.path.abspath(__file__)}\"\ntorch::Tensor f(torch::Tensor x) {{ return x; }}\n",
      functions=["f"], line=1, text="No such file")
wrong("bad_kernel", "torch::Tensor f(torch::Tensor x);", """__global__ void k(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = undefined_device_thing(x[i]);
}
torch::Tensor f(torch::Tensor x) { k<<<1, 32>>>(x.data_ptr<float>(), 32); return x; }
""", functions=["f"], line=3, text="undefined_device_thing")
