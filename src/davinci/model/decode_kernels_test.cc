// kernels/decode.cu on the host (host_threads.h).
#include "davinci/model/decode_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numbers>
#include <random>
#include <vector>

#include "davinci/gpu/nvrtc.h"
#include "davinci/model/cpu_kernels.h"
#include "davinci/model/draw.h"
#include "davinci/model/host_threads.h"
#include "davinci/model/pass.h"

namespace davinci::model {
namespace {

using namespace host_threads;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#define DV_GROUP 3
#define DV_LANES 8
#include "davinci/model/kernels/common.cu"
#include "davinci/model/kernels/common_instructions.cu"
#include "davinci/model/kernels/decode.cu"
#include "davinci/model/kernels/decode_attend.cu"
#include "davinci/model/kernels/decode_layer.cu"
namespace heads_of_128 {
#undef DV_LANES
#define DV_LANES 16
#define dv_attend dv_attend_128
#define dv_attend_whole dv_attend_whole_128
#include "davinci/model/kernels/decode_attend.cu"
#undef dv_attend
#undef dv_attend_whole
}  // namespace heads_of_128
#pragma GCC diagnostic pop
#undef __shared__

std::vector<float> Normal(size_t count, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, scale);
  std::vector<float> values(count);
  for (float& value : values) value = Widen(Narrow(normal(random)));
  return values;
}
std::vector<Bf16> Halves(const std::vector<float>& values) {
  std::vector<Bf16> bits;
  for (const float value : values) bits.push_back(Narrow(value));
  return bits;
}
void ExpectNear(const std::vector<Bf16>& got, const std::vector<float>& wanted,
                double slack = 1e-5) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(Widen(got[i]), wanted[i], slack + std::abs(wanted[i]) / 200) << i;
}
// Of attention over normal values, whose weights are rounded to bf16.
constexpr double kAttendSlack = 4e-3;

TEST(DecodeKernels, NarrowRoundsToTheNearestEven) {
  EXPECT_EQ(Narrow(1.0F), 0x3f80);
  EXPECT_EQ(Narrow(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // a tie goes to the even one
  EXPECT_EQ(Narrow(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(Narrow(INFINITY), 0x7f80);
  EXPECT_TRUE(std::isnan(Widen(Narrow(std::bit_cast<float>(0x7f800001u)))));
}

TEST(DecodeKernels, HeadsAreNormalisedAndRotated) {
  for (const bool norms : {false, true})
    for (const int dim : {6, 64, 96}) {
      const int heads = 5, kv_heads = 2, rows = 3;
      const auto size = static_cast<size_t>(dim);
      const size_t width = (heads + 2 * kv_heads) * size;
      std::vector<float> x = Normal(rows * width, 1);
      const std::vector<float> q_norm = Normal(size, 2), k_norm = Normal(size, 3),
                               table = Normal(9 * size, 4);
      const std::vector<int64_t> positions = {8, 0, 5};
      std::vector<Bf16> bits = Halves(x);
      const std::vector<Bf16> q_bits = Halves(q_norm), k_bits = Halves(k_norm);
      std::vector<long long> at(positions.begin(), positions.end());
      Launch({rows, (heads + kv_heads + 3) / 4, 1}, 128, [&] {
        dv_heads(bits.data(), norms ? q_bits.data() : nullptr, norms ? k_bits.data() : nullptr,
                 1e-6F, table.data(), at.data(), heads, kv_heads, dim);
      });
      const auto stride = static_cast<int64_t>(width);
      for (int r = 0; r < rows && norms; ++r) {
        float* q = x.data() + r * stride;
        RmsNormRows(q, dim, q_norm.data(), Element::kFloat32, 1e-6, q, dim, 0, heads);
        float* k = q + int64_t{heads} * dim;
        RmsNormRows(k, dim, k_norm.data(), Element::kFloat32, 1e-6, k, dim, 0, kv_heads);
      }
      RotateRows(x.data(), stride, heads + kv_heads, dim, table.data(), positions.data(), 0, rows);
      ExpectNear(bits, x);
    }
}

TEST(DecodeKernels, AStepTakesTheTokensOfTheStepBefore) {
  const long long tokens[] = {5, 6, 7, 8}, sources[] = {2, -1, 0, -1}, drawn[] = {50, 60, 70};
  long long out[4] = {};
  Launch({1, 1, 1}, 256, [&] { dv_feed(tokens, sources, drawn, out, 4); });
  EXPECT_EQ((std::vector<long long>(out, out + 4)), (std::vector<long long>{70, 6, 50, 8}));
}

TEST(DecodeKernels, KeysAndValuesGoToTheirPositions) {
  const int kv = 3, dim = 16, chunks = kv * dim / 8, rows = 2, positions = 7;
  const size_t row = 4 * kv * dim;  // queries of two groups, keys, values
  const std::vector<Bf16> qkv = Halves(Normal(rows * row, 5));
  std::vector<Bf16> keys(positions * kv * dim), values(positions * kv * dim);
  const long long at[] = {6, 2};
  const auto* words = reinterpret_cast<const uint4*>(qkv.data());
  Launch({rows, 1, 1}, 128, [&] {
    const uint4* const new_keys = words + int64_t{2} * chunks;
    dv_keep(new_keys, new_keys + chunks, 4 * chunks, at, reinterpret_cast<uint4*>(keys.data()),
            reinterpret_cast<uint4*>(values.data()), chunks);
  });
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < kv * dim; ++i) {
      const auto from = static_cast<size_t>(r) * row + static_cast<size_t>(2 * kv * dim + i);
      const auto to = static_cast<size_t>(at[r] * kv * dim + i);
      ASSERT_EQ(keys[to], qkv[from]);
      ASSERT_EQ(values[to], qkv[from + kv * dim]);
    }
  EXPECT_EQ(keys[0], 0);  // other positions are left alone
}

void CheckAttention(int dim, decltype(&dv_attend) kernel) {
  const int group = 3, kv_heads = 2, rows = 4, positions = 400, heads = group * kv_heads;
  const auto size = static_cast<size_t>(dim);
  const std::vector<float> keys = Normal(positions * kv_heads * size, 8);
  const std::vector<float> values = Normal(positions * kv_heads * size, 9);
  const int64_t q_stride = int64_t{heads + 2 * kv_heads} * dim;
  const std::vector<float> q = Normal(static_cast<size_t>(rows * q_stride), 10);
  const std::vector<int> starts = {0, 300, 17, 5};
  const std::vector<int> lengths = {1, 100, 65, 257};
  const std::vector<Bf16> q_bits = Halves(q);
  std::vector<Bf16> key_bits = Halves(keys), value_bits = Halves(values);
  std::vector<Bf16> out(rows * heads * size);
  const float scale = 1 / std::sqrt(static_cast<float>(dim));
  std::vector<float> wanted(out.size()), scratch(group * 257);
  std::vector<float> k = keys, v = values;
  const CacheView cache{k.data(), v.data(), Element::kFloat32, kv_heads, dim};
  AttendRows(cache, q.data(), q_stride, heads, starts.data(), lengths.data(), scale, wanted.data(),
             scratch.data(), 0, rows * kv_heads);
  for (const unsigned warps : {1U, 4U, 8U}) {
    std::fill(out.begin(), out.end(), Bf16{0});
    Launch({kv_heads, rows, 1}, 32 * warps, [&] {
      kernel(q_bits.data(), q_stride, key_bits.data(), value_bits.data(), starts.data(),
             lengths.data(), scale * std::numbers::log2e_v<float>, kv_heads, out.data());
    });
    ExpectNear(out, wanted, kAttendSlack);
  }
}

TEST(DecodeKernels, AttentionIsThatOfTheHost) {
  CheckAttention(64, dv_attend);
  CheckAttention(128, heads_of_128::dv_attend_128);
}

void CheckWholeAttention(int dim, decltype(&dv_attend) attend, decltype(&dv_attend_whole) whole) {
  const int group = 3, kv_heads = 2, rows = 4, positions = 300, heads = group * kv_heads;
  const auto head_size = static_cast<size_t>(dim);
  const int64_t stride = int64_t{heads + 2 * kv_heads} * dim;
  const std::vector<Bf16> qkv = Halves(Normal(static_cast<size_t>(rows * stride), 20));
  const std::vector<Bf16> keys = Halves(Normal(positions * kv_heads * head_size, 21));
  const std::vector<Bf16> values = Halves(Normal(positions * kv_heads * head_size, 22));
  const std::vector<Bf16> q_norm = Halves(Normal(dim, 23)), k_norm = Halves(Normal(dim, 24));
  const std::vector<float> table = Normal(200 * head_size, 25);
  // The last row has no request: it takes the last position.
  const std::vector<StepRow> requests = {
      {0, -1, 0, 7, {}}, {0, -1, 149, 120, {}}, {0, -1, 32, 0, {}}};
  std::vector<int> starts(rows), lengths(rows);
  std::vector<int64_t> tokens(rows), sources(rows), filled_turns(rows), filled_at(rows);
  FillStep(requests, rows, positions - 1,
           {tokens.data(), sources.data(), filled_turns.data(), filled_at.data(), starts.data(),
            lengths.data()});
  const std::vector<long long> turns(filled_turns.begin(), filled_turns.end());
  const std::vector<long long> at(filled_at.begin(), filled_at.end());
  const float scale = std::numbers::log2e_v<float> / std::sqrt(static_cast<float>(dim));
  // Heads that a norm's factor is missing of: x's row r is ±2^-r, and `small` times 2^r is qkv.
  const int x_chunks = 5;
  std::vector<Bf16> x, small;
  for (int r = 0; r < rows; ++r) {
    const float size = std::ldexp(1.0F, -r);
    for (int i = 0; i < 8 * x_chunks; ++i) x.push_back(Narrow(i % 3 == 0 ? -size : size));
    for (int64_t i = r * stride; i < (r + 1) * stride; ++i)
      small.push_back(Narrow(Widen(qkv[static_cast<size_t>(i)]) * size));
  }
  for (const bool norms : {false, true}) {
    const Bf16* const q_weight = norms ? q_norm.data() : nullptr;
    const Bf16* const k_weight = norms ? k_norm.data() : nullptr;
    std::vector<Bf16> turned = qkv, wanted_keys = keys, wanted_values = values;
    std::vector<Bf16> wanted(rows * heads * head_size);
    Launch({rows, (heads + kv_heads + 3) / 4, 1}, 128, [&] {
      dv_heads(turned.data(), q_weight, k_weight, 1e-6F, table.data(), turns.data(), heads,
               kv_heads, dim);
    });
    const auto* words = reinterpret_cast<const uint4*>(turned.data());
    const int chunks = kv_heads * dim / 8;
    Launch({rows, 1, 1}, 128, [&] {
      const uint4* const new_keys = words + int64_t{group} * chunks;
      dv_keep(new_keys, new_keys + chunks, int64_t{group + 2} * chunks, at.data(),
              reinterpret_cast<uint4*>(wanted_keys.data()),
              reinterpret_cast<uint4*>(wanted_values.data()), chunks);
    });
    Launch({kv_heads, rows, 1}, 64, [&] {
      attend(turned.data(), stride, wanted_keys.data(), wanted_values.data(), starts.data(),
             lengths.data(), scale, kv_heads, wanted.data());
    });
    std::vector<float> wanted_floats;
    for (const Bf16 bits : wanted) wanted_floats.push_back(Widen(bits));
    for (const unsigned warps : {2U, 8U}) {
      const bool late = warps == 8;
      std::vector<Bf16> new_keys = keys, new_values = values, out(wanted.size());
      Launch({kv_heads, rows, 1}, 32 * warps, [&] {
        whole(late ? small.data() : qkv.data(), stride, new_keys.data(), new_values.data(),
              starts.data(), lengths.data(), scale, kv_heads, out.data(), q_weight, k_weight, 1e-6F,
              table.data(), turns.data(), late ? reinterpret_cast<const uint4*>(x.data()) : nullptr,
              x_chunks);
      });
      EXPECT_EQ(new_values, wanted_values);
      for (size_t i = 0; i < keys.size(); ++i)
        ASSERT_NEAR(Widen(new_keys[i]), Widen(wanted_keys[i]),
                    std::abs(Widen(wanted_keys[i])) / 100);
      ExpectNear(out, wanted_floats, kAttendSlack);
    }
  }
}

TEST(DecodeKernels, OneLaunchTurnsKeepsAndAttends) {
  CheckWholeAttention(64, dv_attend, dv_attend_whole);
  CheckWholeAttention(128, heads_of_128::dv_attend_128, heads_of_128::dv_attend_whole_128);
}

// y = norm(x) w^T + bias, gated or with the residual added, in fp64.
struct ProductCase {
  int rows, width, k;
  bool norm, gate, bias, residual;
};
template <typename Kernel>
void CheckProduct(const ProductCase& c, int block_rows, int columns, const Kernel& kernel) {
  const auto size = [](int a, int b) { return static_cast<size_t>(a) * static_cast<size_t>(b); };
  const int wide = c.gate ? 2 * c.width : c.width;
  const std::vector<float> x = Normal(size(c.rows, c.k), 30, 2), norm = Normal(size(1, c.k), 31),
                           w = Normal(size(wide, c.k), 32, 0.1F), bias = Normal(size(1, wide), 33),
                           before = Normal(size(c.rows, c.width), 34);
  const std::vector<Bf16> x_bits = Halves(x), norm_bits = Halves(norm), w_bits = Halves(w),
                          bias_bits = Halves(bias);
  std::vector<Bf16> out = Halves(before);
  const unsigned across = static_cast<unsigned>((c.width + columns - 1) / columns);
  const unsigned down = static_cast<unsigned>((c.rows + block_rows - 1) / block_rows);
  Launch({across, down, 1}, 256, [&] {
    kernel(x_bits.data(), c.norm ? norm_bits.data() : nullptr, 1e-6F, w_bits.data(),
           c.bias ? bias_bits.data() : nullptr, c.residual ? out.data() : nullptr, out.data(),
           c.rows, c.width, c.k);
  });
  std::vector<double> y(size(1, wide));
  for (int m = 0; m < c.rows; ++m) {
    const float* const row = x.data() + size(m, c.k);
    double squares = 0, magnitude = 0;
    for (int i = 0; i < c.k; ++i) squares += static_cast<double>(row[i]) * row[i];
    const double factor = c.norm ? 1 / std::sqrt(squares / c.k + 1e-6) : 1;
    for (int n = 0; n < wide; ++n) {
      double sum = 0;
      for (int i = 0; i < c.k; ++i)
        sum += static_cast<double>(row[i]) * (c.norm ? norm[i] : 1.0F) * w[size(n, c.k) + i];
      y[n] = sum * factor + (c.bias ? bias[n] : 0.0F);
      magnitude = std::max(magnitude, std::abs(y[n]));
    }
    for (int n = 0; n < c.width; ++n) {
      double wanted = y[n];
      if (c.gate) wanted = y[n] / (1 + std::exp(-y[n])) * y[c.width + n];
      if (c.residual) wanted += before[size(m, c.width) + n];
      const double slack = (c.norm ? magnitude / 100 : 1e-4) * (c.gate ? magnitude : 1);
      ASSERT_NEAR(Widen(out[size(m, c.width) + n]), wanted, slack + std::abs(wanted) / 200)
          << m << " " << n;
    }
  }
}

TEST(DecodeKernels, AProductAddsTheResidual) {
  CheckProduct({3, 10, 96, false, false, false, true}, 16, 8, dv_product_1_1_1);
  CheckProduct({33, 34, 352, false, false, true, true}, 32, 16, dv_product_2_2_1);
  CheckProduct({130, 32, 32, false, false, false, true}, 64, 32, dv_product_4_4_1);
  CheckProduct({131, 40, 160, false, false, false, true}, 128, 32, dv_product_4_4_2);
}

TEST(DecodeKernels, AProductNormalisesItsRows) {
  CheckProduct({17, 14, 64, true, false, false, false}, 16, 8, dv_norm_product_1_1_1);
  CheckProduct({65, 18, 288, true, false, true, false}, 64, 16, dv_norm_product_4_2_1);
  CheckProduct({129, 34, 64, true, false, true, false}, 128, 32, dv_norm_product_4_4_2);
}

TEST(DecodeKernels, AProductGatesItsColumns) {
  CheckProduct({5, 12, 96, true, true, true, false}, 16, 8, dv_gated_product_1_2_1);
  CheckProduct({33, 18, 320, true, true, false, false}, 32, 16, dv_gated_product_2_4_1);
  CheckProduct({66, 34, 64, true, true, false, false}, 64, 32, dv_gated_product_4_8_1);
  CheckProduct({66, 34, 160, true, true, false, false}, 128, 32, dv_gated_product_4_8_2);
}

TEST(DecodeKernels, TheNormIsThatOfTheHost) {
  const int rows = 3;
  for (const int width : {8, 64, 576}) {
    const std::vector<float> x = Normal(rows * static_cast<size_t>(width), 11, 2);
    const std::vector<float> weight = Normal(static_cast<size_t>(width), 12);
    const std::vector<Bf16> bits = Halves(x), weights = Halves(weight);
    std::vector<Bf16> out(x.size());
    Launch({2, 1, 1}, 64, [&] {
      dv_norm(reinterpret_cast<const uint4*>(bits.data()),
              reinterpret_cast<const uint4*>(weights.data()), reinterpret_cast<uint4*>(out.data()),
              rows, width / 8, 1e-6F);
    });
    std::vector<float> wanted(x.size());
    RmsNormRows(x.data(), width, weight.data(), Element::kFloat32, 1e-6, wanted.data(), width, 0,
                rows);
    ExpectNear(out, wanted);
  }
}

TEST(DecodeKernels, TheGateIsSiluTimesUp) {
  const int width = 24, rows = 5;
  const std::vector<float> both = Normal(2 * width * rows, 6, 3);
  const std::vector<Bf16> bits = Halves(both);
  std::vector<Bf16> out(width * rows);
  Launch({1, 1, 1}, 256, [&] {
    dv_silu_mul(reinterpret_cast<const uint4*>(bits.data()), reinterpret_cast<uint4*>(out.data()),
                rows * width / 8, width / 8);
  });
  std::vector<float> wanted(width * rows);
  SiluMulRows(both.data(), wanted.data(), width, 0, rows);
  ExpectNear(out, wanted);
}

TEST(DecodeKernels, TheGateAppliesTheNormOfARow) {
  const int rows = 3, width = 280, inner = 48;
  const std::vector<float> both = Normal(2 * width * rows, 40, 2), x = Normal(rows * inner, 41, 3);
  const std::vector<Bf16> bits = Halves(both), x_bits = Halves(x);
  std::vector<float> normed(both), wanted(width * rows);
  for (int r = 0; r < rows; ++r) {
    float squares = 0;
    for (int i = 0; i < inner; ++i) squares += x[r * inner + i] * x[r * inner + i];
    for (int i = 0; i < 2 * width; ++i)
      normed[r * 2 * width + i] /= std::sqrt(squares / inner + 1e-6F);
  }
  SiluMulRows(normed.data(), wanted.data(), width, 0, rows);
  for (const unsigned threads : {32U, 64U}) {
    std::vector<Bf16> out(wanted.size());
    const unsigned across = (width / 8 + threads - 1) / threads;
    Launch({rows, across, 1}, threads, [&] {
      dv_normed_gate(reinterpret_cast<const uint4*>(bits.data()),
                     reinterpret_cast<const uint4*>(x_bits.data()), inner / 8, 1e-6F,
                     reinterpret_cast<uint4*>(out.data()), width / 8);
    });
    ExpectNear(out, wanted);
  }
}

TEST(DecodeKernels, DrawsTheTokenOfTheHost) {
  for (const int vocab : {1, 31, 64, 1003, 5000})
    for (const unsigned threads : {64u, 256u}) {
      const int rows = 6;
      const auto size = static_cast<size_t>(vocab);
      std::vector<float> logits =
          Normal(static_cast<size_t>(rows) * size, static_cast<unsigned>(vocab), 2);
      for (size_t i = 0; i < size / 2; ++i) logits[i] = -INFINITY;  // restricted
      if (vocab > 2) logits[2 * size + size - 1] = NAN;
      const std::vector<Bf16> bits = Halves(logits);
      const float inverse[] = {1, 1, 0.7F, 2, 1, 1},
                  noise[] = {0, 0.3F, 0.999F, 0.5F, 0x1.fffffep-1F, 0.8F};
      const bool greedy[] = {false, true, false, false, false, false};
      long long tokens[rows], tokens_of_floats[rows];
      float logprobs[rows], logprobs_of_floats[rows];
      Launch({rows, 1, 1}, threads,
             [&] { dv_draw_bf16(bits.data(), vocab, inverse, noise, greedy, tokens, logprobs); });
      std::vector<float> scaled = logits;
      for (size_t i = 0; i < scaled.size(); ++i) scaled[i] *= inverse[i / size];
      const float ones[] = {1, 1, 1, 1, 1, 1};
      Launch({rows, 1, 1}, threads, [&] {
        dv_draw_fp32(scaled.data(), vocab, ones, noise, greedy, tokens_of_floats,
                     logprobs_of_floats);
      });
      DrawScratch scratch;
      for (int r = 0; r < rows; ++r) {
        Sampling sampling;
        sampling.temperature = greedy[r] ? 0 : 1 / static_cast<double>(inverse[r]);
        const Step wanted = Draw(std::span(logits).subspan(static_cast<size_t>(r) * size, size),
                                 sampling, noise[r], 0, &scratch);
        EXPECT_EQ(tokens[r], wanted.token) << vocab << " row " << r << " threads " << threads;
        EXPECT_NEAR(logprobs[r], wanted.logprob, 2e-5) << vocab << " row " << r;
        // Scaled in advance or not: the same bits.
        EXPECT_EQ(tokens[r], tokens_of_floats[r]);
        EXPECT_EQ(logprobs[r], logprobs_of_floats[r]);
      }
    }
}

TEST(DecodeKernels, AnyBitsGiveATokenInsideTheVocabulary) {
  const int vocab = 70;
  std::vector<Bf16> logits(3 * vocab, 0x7fc0);                     // all NaN
  for (int i = vocab; i < 2 * vocab; ++i) logits[i] = 0x7f80;      // all infinite
  for (int i = 2 * vocab; i < 3 * vocab; ++i) logits[i] = 0xff80;  // all impossible
  const float ones[] = {1, 1, 1}, noise[] = {0.5F, 0.5F, 0.5F};
  const bool greedy[] = {false, false, false};
  long long tokens[] = {-1, -1, -1};
  float logprobs[3];
  Launch({3, 1, 1}, 64,
         [&] { dv_draw_bf16(logits.data(), vocab, ones, noise, greedy, tokens, logprobs); });
  for (const long long token : tokens) {
    EXPECT_GE(token, 0);
    EXPECT_LT(token, vocab);
  }
}

TEST(DecodeKernels, FrequenciesFollowTheDistribution) {
  const int vocab = 40, draws = 4000;
  std::vector<float> row = Normal(vocab, 7);
  double total = 0;
  for (const float value : row) total += std::exp(value);
  // The noise walks evenly through [0, 1).
  std::vector<int> counts(vocab);
  std::vector<float> logits;
  const int batch = 40;
  for (int i = 0; i < batch; ++i) logits.insert(logits.end(), row.begin(), row.end());
  const std::vector<float> ones(batch, 1);
  const auto greedy = std::make_unique<bool[]>(batch);
  for (int begin = 0; begin < draws; begin += 20 * batch) {
    std::vector<float> noise;
    for (int i = 0; i < batch; ++i) noise.push_back(static_cast<float>(begin + 20 * i) / draws);
    std::vector<long long> tokens(batch);
    std::vector<float> logprobs(batch);
    Launch({batch, 1, 1}, 64, [&] {
      dv_draw_fp32(logits.data(), vocab, ones.data(), noise.data(), greedy.get(), tokens.data(),
                   logprobs.data());
    });
    for (const long long token : tokens) ++counts[static_cast<size_t>(token)];
  }
  for (int i = 0; i < vocab; ++i)
    EXPECT_NEAR(counts[static_cast<size_t>(i)] / 200.0,
                std::exp(row[static_cast<size_t>(i)]) / total, 0.011)
        << i;
}

TEST(DecodeKernels, CompileWithoutHeaders) {
  const char* directory = std::getenv("DAVINCI_NVRTC_DIR");  // NOLINT(concurrency-mt-unsafe)
  const std::vector<std::string> directories(directory == nullptr ? 0 : 1,
                                             directory == nullptr ? "" : directory);
  const auto nvrtc = gpu::Nvrtc::Load(directories);
  if (!nvrtc.ok()) GTEST_SKIP() << nvrtc.status().ToString();
  for (const DecodeKernels::Shape shape :
       {DecodeKernels::Shape{9, 3, 64}, {40, 8, 128}, {4, 2, 20}}) {
    const auto output = nvrtc->Compile(DecodeKernels::Source(shape), "decode.cu", "sm_90",
                                       std::vector<std::string>{"--std=c++17"});
    ASSERT_TRUE(output.ok()) << output.status().ToString();
    EXPECT_TRUE(output->ok) << output->log;
    EXPECT_EQ(output->cubin.find("dv_attend") != std::string::npos,
              DecodeKernels::CanAttend(shape));
  }
}

}  // namespace
}  // namespace davinci::model
