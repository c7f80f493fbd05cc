// The kernels of a decode step's layers on a device, against fp64 on the host and against the
// kernels that they stand for.
//
//   decode_kernels_check --libraries DIR:DIR…   exit status 0 passed, 1 failed, 77 no device
//   decode_kernels_check --libraries DIR:DIR… --time   JSON: microseconds of every tile, for the
//                                               products of two small models and of Qwen3
//   decode_kernels_check --libraries DIR:DIR… --time-attention   JSON: microseconds of attention by
//                                               warps of a block, for the same models
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "davinci/gpu/activity.h"
#include "davinci/gpu/driver_api.h"
#include "davinci/model/decode_kernels.h"
#include "davinci/model/pass.h"

namespace {

using davinci::Result;
using davinci::Status;
using davinci::model::DecodeKernels;
namespace gpu = davinci::gpu;

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}
template <typename T>
T Require(Result<T> result) {
  Require(result.status());
  return std::move(result).value();
}

float Widen(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
uint16_t Narrow(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

const gpu::CudaDriver* driver = nullptr;

template <typename T>
class Buffer {
 public:
  explicit Buffer(size_t count) : count_(count) {
    Require(driver->Check(driver->MemAlloc(&at_, count * sizeof(T)), "cuMemAlloc"));
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) { Set(values); }
  ~Buffer() { driver->MemFree(at_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  void Set(const std::vector<T>& values) {
    Require(driver->Check(driver->MemcpyHtoDAsync(at_, values.data(), count_ * sizeof(T), nullptr),
                          "copy"));
    Require(driver->Check(driver->StreamSynchronize(nullptr), "synchronize"));
  }
  std::vector<T> Get() const {
    std::vector<T> values(count_);
    Require(driver->Check(driver->MemcpyDtoHAsync(values.data(), at_, count_ * sizeof(T), nullptr),
                          "copy"));
    Require(driver->Check(driver->StreamSynchronize(nullptr), "synchronize"));
    return values;
  }
  T* data() const { return reinterpret_cast<T*>(at_); }
  gpu::CuDevicePtr address() const { return at_; }

 private:
  size_t count_;
  gpu::CuDevicePtr at_ = 0;
};

// From one stretch of normal values, begun at another place each time: drawing is slow.
std::vector<uint16_t> Normal(int64_t count, float scale) {
  static const std::vector<float> stretch = [] {
    std::mt19937 generator(1);
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> values(1'000'003);
    for (float& value : values) value = normal(generator);
    return values;
  }();
  static size_t at = 0;
  std::vector<uint16_t> values(static_cast<size_t>(count));
  for (uint16_t& value : values) {
    value = Narrow(stretch[at] * scale);
    if (++at == stretch.size()) at = 0;
  }
  return values;
}

int failed = 0, passed = 0;
void Expect(bool ok, const std::string& what) {
  ++(ok ? passed : failed);
  if (!ok) std::printf("FAILED %s\n", what.c_str());
}

struct Case {
  int64_t rows, width, inner;
  bool norm, gate, bias, residual;
};

// Some of the columns against fp64; all of them against the same rows among fewer others.
void CheckProjection(const DecodeKernels& kernels, const Case& c, int tile) {
  const int64_t wide = c.gate ? 2 * c.width : c.width;
  const std::vector<uint16_t> x = Normal(c.rows * c.inner, 2), norm = Normal(c.inner, 1),
                              w = Normal(wide * c.inner, 0.05F), bias = Normal(wide, 1),
                              before = Normal(c.rows * c.width, 1);
  const Buffer<uint16_t> x_at(x), norm_at(norm), w_at(w), bias_at(bias), out(before);
  DecodeKernels::Projection p;
  p.x = x_at.data();
  p.norm = c.norm ? norm_at.data() : nullptr;
  p.weight = w_at.data();
  p.bias = c.bias ? bias_at.data() : nullptr;
  p.residual = c.residual ? out.data() : nullptr;
  p.out = out.data();
  p.eps = 1e-6F;
  p.gate = c.gate;
  p.rows = c.rows;
  p.width = c.width;
  p.inner = c.inner;
  Require(kernels.Project(nullptr, p, tile));
  const std::vector<uint16_t> got = out.Get();
  const int64_t columns = std::min<int64_t>(c.width, 41);
  double worst = 0;
  for (int64_t m = 0; m < c.rows; ++m) {
    const uint16_t* const row = x.data() + m * c.inner;
    double squares = 0;
    for (int64_t i = 0; i < c.inner; ++i) squares += double{Widen(row[i])} * Widen(row[i]);
    const double factor = c.norm ? 1 / std::sqrt(squares / static_cast<double>(c.inner) + 1e-6) : 1;
    for (int64_t s = 0; s < columns; ++s) {
      const int64_t n = c.width - 1 - s * (c.width / columns);
      double y[2], spread[2];
      for (int side = 0; side < (c.gate ? 2 : 1); ++side) {
        const uint16_t* const weights = w.data() + (n + side * c.width) * c.inner;
        double sum = 0, absolute = 0;
        for (int64_t i = 0; i < c.inner; ++i) {
          const double term =
              double{Widen(row[i])} * (c.norm ? Widen(norm[i]) : 1.0F) * Widen(weights[i]);
          sum += term;
          absolute += term * term;
        }
        y[side] = sum * factor + (c.bias ? Widen(bias[n + side * c.width]) : 0.0F);
        spread[side] = std::sqrt(absolute) * factor;
      }
      double wanted = y[0], slack = c.norm ? spread[0] / 128 : 1e-4;
      if (c.gate) {
        wanted = y[0] / (1 + std::exp(-y[0])) * y[1];
        slack = (std::abs(y[1]) * spread[0] * 1.2 + std::abs(y[0]) * spread[1]) / 128 + 1e-4;
      }
      if (c.residual) wanted += Widen(before[m * c.width + n]);
      const double distance = std::abs(Widen(got[m * c.width + n]) - wanted);
      worst = std::max(worst, distance / (slack + std::abs(wanted) / 200));
    }
  }
  Expect(worst <= 1,
         fmt::format("projection rows {} width {} inner {} norm {} gate {} bias {} "
                     "residual {} tile {}: {:.2f} times the tolerance",
                     c.rows, c.width, c.inner, c.norm, c.gate, c.bias, c.residual, tile, worst));
  if (c.rows < 2) return;
  const Buffer<uint16_t> alone(before);
  p.residual = c.residual ? alone.data() : nullptr;
  p.out = alone.data();
  p.rows = c.rows / 2;
  Require(kernels.Project(nullptr, p, tile));
  const std::vector<uint16_t> half = alone.Get();
  Expect(std::equal(half.begin(), half.begin() + p.rows * c.width, got.begin()),
         fmt::format("rows {} of {}, width {}, tile {}: not the same bits", p.rows, c.rows, c.width,
                     tile));
}

void CheckAttention(const DecodeKernels& kernels, const DecodeKernels::Shape& shape, int64_t rows,
                    bool norms) {
  const int64_t dim = shape.head_dim, kv = shape.kv_heads, heads = shape.heads, room = 700;
  const int64_t stride = (heads + 2 * kv) * dim;
  const std::vector<uint16_t> qkv = Normal(rows * stride, 1);
  const int64_t cached = (rows * room + 1) * kv * dim;
  const std::vector<uint16_t> keys = Normal(cached, 1), values = Normal(cached, 1);
  std::vector<float> table;
  for (int64_t i = 0; i < room * dim; ++i) {
    const int64_t steps = i / dim * (i % dim);
    const float angle = 0.01F * static_cast<float>(steps);
    table.push_back(i % dim < dim / 2 ? std::cos(angle) : std::sin(angle));
  }
  // The last row has no request.
  std::vector<davinci::model::StepRow> requests;
  for (int64_t r = 0; r + 1 < rows; ++r) requests.push_back({0, -1, r * 137 % 650, r * room, {}});
  const auto count = static_cast<size_t>(rows);
  std::vector<int32_t> starts(count), lengths(count);
  std::vector<int64_t> tokens(count), sources(count), positions(count), at(count);
  davinci::model::FillStep(
      requests, rows, rows * room,
      {tokens.data(), sources.data(), positions.data(), at.data(), starts.data(), lengths.data()});
  Buffer<uint16_t> whole(qkv);
  const Buffer<uint16_t> q_norm(Normal(dim, 1)), k_norm(Normal(dim, 1)), turned(qkv), keys_a(keys),
      values_a(values), keys_b(keys), values_b(values),
      out_a(static_cast<size_t>(rows * heads * dim)),
      out_b(static_cast<size_t>(rows * heads * dim));
  const Buffer<float> table_at(table);
  const Buffer<int32_t> starts_at(starts), lengths_at(lengths);
  const Buffer<int64_t> positions_at(positions), at_at(at);
  const uint16_t* const q_weight = norms ? q_norm.data() : nullptr;
  const uint16_t* const k_weight = norms ? k_norm.data() : nullptr;
  const float scale = 1 / std::sqrt(static_cast<float>(dim));
  Require(kernels.Heads(nullptr, turned.data(), q_weight, k_weight, 1e-6F, table_at.data(),
                        positions_at.data(), rows));
  Require(kernels.Keep(nullptr, turned.data() + heads * dim, turned.data() + (heads + kv) * dim,
                       stride, at_at.data(), keys_a.data(), values_a.data(), rows));
  Require(kernels.Attend(nullptr, turned.data(), stride, keys_a.data(), values_a.data(),
                         starts_at.data(), lengths_at.data(), scale, out_a.data(), rows));
  // For odd numbers of rows heads lack the factor of a norm: x is 2 throughout.
  const bool late = rows % 2 == 1;
  constexpr int64_t kInner = 72;
  const Buffer<uint16_t> x(std::vector<uint16_t>(static_cast<size_t>(rows * kInner), Narrow(2)));
  std::vector<uint16_t> doubled = qkv;
  for (uint16_t& bits : doubled) bits = Narrow(2 * Widen(bits));
  if (late) whole.Set(doubled);
  Require(kernels.AttendWhole(nullptr, whole.data(), late ? x.data() : nullptr, kInner, q_weight,
                              k_weight, 1e-6F, table_at.data(), positions_at.data(), keys_b.data(),
                              values_b.data(), starts_at.data(), lengths_at.data(), scale,
                              out_b.data(), rows));
  const auto worst = [](const std::vector<uint16_t>& a, const std::vector<uint16_t>& b,
                        double slack) {
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i)
      most = std::max(most, std::abs(double{Widen(a[i])} - Widen(b[i])) /
                                (slack + std::abs(Widen(b[i])) / 100));
    return most;
  };
  const std::string what =
      fmt::format("attention heads {} kv {} dim {} rows {} norms {}", heads, kv, dim, rows, norms);
  Expect(values_a.Get() == values_b.Get(), what + ": values stored");
  Expect(worst(keys_b.Get(), keys_a.Get(), 1e-3) <= 1, what + ": keys stored");
  // Weights are rounded to bf16, relative to the largest score that a warp has seen.
  Expect(worst(out_b.Get(), out_a.Get(), 8e-3) <= 1, what + ": result");
}

void CheckNormedGate(const DecodeKernels& kernels, int64_t rows, int64_t width, int64_t inner) {
  const std::vector<uint16_t> both = Normal(rows * 2 * width, 2), x = Normal(rows * inner, 3);
  const Buffer<uint16_t> both_at(both), x_at(x), out(static_cast<size_t>(rows * width));
  Require(kernels.NormedGate(nullptr, both_at.data(), x_at.data(), inner, 1e-6F, out.data(), rows,
                             width));
  const std::vector<uint16_t> got = out.Get();
  double worst = 0;
  for (int64_t r = 0; r < rows; ++r) {
    double squares = 0;
    for (int64_t i = 0; i < inner; ++i)
      squares += double{Widen(x[r * inner + i])} * Widen(x[r * inner + i]);
    const double factor = 1 / std::sqrt(squares / static_cast<double>(inner) + 1e-6);
    for (int64_t i = 0; i < width; ++i) {
      const double gate = factor * Widen(both[r * 2 * width + i]);
      const double wanted =
          gate / (1 + std::exp(-gate)) * factor * Widen(both[(r * 2 + 1) * width + i]);
      worst = std::max(
          worst, std::abs(Widen(got[r * width + i]) - wanted) / (1e-5 + std::abs(wanted) / 200));
    }
  }
  Expect(worst <= 1, fmt::format("gate rows {} width {} inner {}: {:.2f} times the tolerance", rows,
                                 width, inner, worst));
}

struct Layer {
  const char* model;
  int64_t hidden, wide, heads, kv, dim;
};
constexpr Layer kLayers[] = {{"25M", 512, 1408, 8, 4, 64},
                             {"135M", 576, 1536, 9, 3, 64},
                             {"qwen3-0.6B", 1024, 3072, 16, 8, 128},
                             {"qwen3-1.7B", 2048, 6144, 16, 8, 128}};

// Median microseconds of the kernels of nine calls of `run` whose name contains `name`; null: there
// were none.
template <typename F>
nlohmann::json MedianUs(gpu::ActivityRecorder* recorder, const std::string& name, const F& run) {
  Require(driver->Check(driver->CtxSynchronize(), "synchronize"));
  Require(recorder->Start());
  for (int i = 0; i < 9; ++i) run();
  Require(driver->Check(driver->CtxSynchronize(), "synchronize"));
  std::vector<double> us;
  for (const gpu::Activity& activity : Require(recorder->Stop()).activities)
    if (activity.kind == gpu::ActivityKind::kKernel &&
        activity.name.find(name) != std::string::npos)
      us.push_back(static_cast<double>(activity.end_ns - activity.start_ns) / 1e3);
  std::sort(us.begin(), us.end());
  return us.empty() ? nlohmann::json() : nlohmann::json(us[us.size() / 2]);
}

// Rows that all see `context` positions, cache not in the second-level cache, warps of a block 1 to
// 8. "bytes": of the keys and values.
nlohmann::json TimeAttention(const std::vector<std::string>& libraries) {
  auto* const recorder = Require(gpu::ActivityRecorder::Get(libraries));
  const Buffer<uint8_t> flush(size_t{256} << 20);
  const std::vector<uint16_t> some = Normal(1 << 20, 1);
  nlohmann::json all = nlohmann::json::array();
  for (const Layer& layer : kLayers) {
    if (layer.hidden == 1024) continue;  // the heads of the next
    const auto kernels = Require(DecodeKernels::Load(
        0, {static_cast<int>(layer.heads), static_cast<int>(layer.kv), static_cast<int>(layer.dim)},
        libraries, false));
    for (const int64_t rows : {1, 16, 64, 128, 256}) {
      constexpr int64_t kContext = 672;
      const int64_t stride = (layer.heads + 2 * layer.kv) * layer.dim;
      const auto cached = static_cast<size_t>(rows * kContext * layer.kv * layer.dim);
      const Buffer<uint16_t> filler(some), keys(cached), values(cached),
          qkv(Normal(rows * stride, 1)), out(static_cast<size_t>(rows * layer.heads * layer.dim));
      for (const auto* cache : {&keys, &values})
        for (size_t at = 0; at < cached; at += some.size())
          driver->MemcpyDtoDAsync(cache->address() + 2 * at, filler.address(),
                                  2 * std::min(some.size(), cached - at), nullptr);
      const auto count = static_cast<size_t>(rows);
      std::vector<int32_t> starts(count);
      for (size_t r = 0; r < count; ++r) starts[r] = static_cast<int32_t>(r) * int32_t{kContext};
      const Buffer<int32_t> starts_at(starts), lengths_at(std::vector<int32_t>(count, kContext));
      const Buffer<int64_t> positions_at(std::vector<int64_t>(count, 0));
      const Buffer<float> table(std::vector<float>(static_cast<size_t>(layer.dim), 0.7F));
      nlohmann::json ready, whole;
      for (const int warps : {1, 2, 4, 8}) {
        ready[std::to_string(warps)] = MedianUs(recorder, "dv_attend", [&] {
          driver->MemsetD8Async(flush.address(), 1, size_t{256} << 20, nullptr);
          Require(kernels->Attend(nullptr, qkv.data(), stride, keys.data(), values.data(),
                                  starts_at.data(), lengths_at.data(), 0.1F, out.data(), rows,
                                  warps));
        });
        whole[std::to_string(warps)] = MedianUs(recorder, "dv_attend", [&] {
          driver->MemsetD8Async(flush.address(), 1, size_t{256} << 20, nullptr);
          Require(kernels->AttendWhole(nullptr, qkv.data(), nullptr, 0, nullptr, nullptr, 1e-6F,
                                       table.data(), positions_at.data(), keys.data(),
                                       values.data(), starts_at.data(), lengths_at.data(), 0.1F,
                                       out.data(), rows, warps));
        });
      }
      all.push_back({{"model", layer.model},
                     {"batch", rows},
                     {"context", kContext},
                     {"bytes", 4 * cached},
                     {"best_warps", kernels->BestAttendWarps(rows)},
                     {"attend_us", ready},
                     {"attend_whole_us", whole}});
    }
  }
  return all;
}

// Microseconds of every tile, weights not in the second-level cache, x there.
nlohmann::json TimeProducts(const DecodeKernels& kernels,
                            const std::vector<std::string>& libraries) {
  auto* const recorder = Require(gpu::ActivityRecorder::Get(libraries));
  const Buffer<uint8_t> flush(size_t{256} << 20);
  nlohmann::json rows = nlohmann::json::array();
  for (const Layer& layer : kLayers)
    for (const int64_t batch : {1, 16, 64, 256}) {
      struct Product {
        const char* name;
        int64_t width, inner;
        bool norm, gate, residual;
      };
      const int64_t q = layer.heads * layer.dim, kv = layer.kv * layer.dim;
      for (const Product& product :
           {Product{"qkv", q + 2 * kv, layer.hidden, true, false, false},
            Product{"o", layer.hidden, q, false, false, true},
            Product{"gate_up", layer.wide, layer.hidden, true, true, false},
            Product{"down", layer.hidden, layer.wide, false, false, true}}) {
        const int64_t wide = product.gate ? 2 * product.width : product.width;
        const Buffer<uint16_t> x(Normal(batch * product.inner, 1)), norm(Normal(product.inner, 1)),
            w(Normal(wide * product.inner, 0.05F)), out(Normal(batch * product.width, 1));
        DecodeKernels::Projection p;
        p.x = x.data();
        p.norm = product.norm ? norm.data() : nullptr;
        p.weight = w.data();
        p.residual = product.residual ? out.data() : nullptr;
        p.out = out.data();
        p.eps = 1e-6F;
        p.gate = product.gate;
        p.rows = batch;
        p.width = product.width;
        p.inner = product.inner;
        nlohmann::json times;
        const auto tiles = DecodeKernels::Tiles(product.gate);
        for (size_t tile = 0; tile < tiles.size(); ++tile)
          times[fmt::format("{}x{}x{}", tiles[tile].m, tiles[tile].n, tiles[tile].groups)] =
              MedianUs(recorder, "product", [&] {
                driver->MemsetD8Async(flush.address(), 1, size_t{256} << 20, nullptr);
                driver->MemcpyDtoDAsync(x.address(), x.address(),
                                        static_cast<size_t>(batch * product.inner) * 2, nullptr);
                Require(kernels.Project(nullptr, p, static_cast<int>(tile)));
              });
        rows.push_back({{"model", layer.model},
                        {"batch", batch},
                        {"product", product.name},
                        {"us", times},
                        {"weight_bytes", wide * product.inner * 2}});
      }
    }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> libraries;
  std::string time;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--time", 6) == 0) time = argv[i];
    if (std::strcmp(argv[i], "--libraries") != 0 || i + 1 == argc) continue;
    std::stringstream list(argv[++i]);
    for (std::string one; std::getline(list, one, ':');) libraries.push_back(one);
  }
  const auto context = gpu::CudaContext::Retain(0);
  if (!context.ok()) {
    std::printf("skipped: %s\n", context.status().ToString().c_str());
    return 77;
  }
  driver = &(*context)->driver();
  const gpu::ScopedCudaContext current(**context);
  Require(current.status());
  // Uploads use the default stream and are done before a kernel is launched; what a kernel made is
  // read behind it.
  if (!time.empty()) {
    nlohmann::json report = {{"device", (*context)->properties().name},
                             {"unit", "microseconds, median of 9"}};
    if (time == "--time-attention")
      report["attention"] = TimeAttention(libraries);
    else
      report["products"] =
          TimeProducts(*Require(DecodeKernels::Load(0, {9, 3, 64}, libraries, false)), libraries);
    std::printf("%s\n", report.dump(1).c_str());
    return 0;
  }
  for (const bool overlap : {false, true}) {
    for (const DecodeKernels::Shape& shape :
         {DecodeKernels::Shape{9, 3, 64}, {8, 4, 64}, {16, 2, 128}, {5, 5, 64}}) {
      const auto kernels = Require(DecodeKernels::Load(0, shape, libraries, overlap));
      for (const int64_t rows : {1, 5, 64, 257})
        for (const bool norms : {false, true}) CheckAttention(*kernels, shape, rows, norms);
      if (shape.heads != 9) continue;
      for (const int64_t rows : {1, 257}) {
        CheckNormedGate(*kernels, rows, 1536, 576);
        CheckNormedGate(*kernels, rows, 2056, 40);
      }
      for (const bool gate : {false, true})
        for (int tile = -1;
             tile < (overlap ? 0 : static_cast<int>(DecodeKernels::Tiles(gate).size())); ++tile)
          for (const int64_t rows : {1, 7, 33, 64, 256})
            for (const auto& [width, inner] : {std::pair<int64_t, int64_t>{576, 576},
                                               {960, 576},
                                               {576, 1536},
                                               {42, 96},
                                               {2, 32},
                                               {130, 1024}}) {
              const bool odd = (rows + tile) % 2 != 0;
              if (gate) {
                CheckProjection(*kernels, {rows, width, inner, true, true, odd, false}, tile);
              } else {
                CheckProjection(*kernels, {rows, width, inner, true, false, odd, false}, tile);
                CheckProjection(*kernels, {rows, width, inner, false, false, odd, true}, tile);
              }
            }
    }
  }
  std::printf("%d checks passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
