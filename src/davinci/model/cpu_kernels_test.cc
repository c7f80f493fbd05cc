#include "davinci/model/cpu_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "davinci/base/rng.h"

namespace davinci::model {
namespace {

std::vector<float> Random(size_t size, uint64_t seed) {
  SplitMix64 rng(seed);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(rng.Uniform() * 2 - 1);
  return values;
}

std::vector<uint16_t> Bfloat(const std::vector<float>& values) {
  std::vector<uint16_t> bits;
  for (const float value : values)
    bits.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16));
  return bits;
}
float FromBfloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

TEST(LinearRows, IsTheMatrixProductWithBias) {
  for (const int64_t inner : {1, 15, 16, 37, 64}) {
    for (const int64_t out : {1, 4, 9}) {
      const int64_t rows = 6;
      const auto x = Random(static_cast<size_t>(rows * inner), 1);
      const auto w = Random(static_cast<size_t>(out * inner), 2);
      const auto bias = Random(static_cast<size_t>(out), 3);
      const auto half = Bfloat(w);
      std::vector<float> y(static_cast<size_t>(rows * out));
      std::vector<float> z(y.size());
      LinearRows(x.data(), rows, inner, w.data(), Element::kFloat32, bias.data(), y.data(), out, 0,
                 out);
      LinearRows(x.data(), rows, inner, half.data(), Element::kBfloat16, nullptr, z.data(), out, 0,
                 out);
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < out; ++n) {
          double exact = bias[static_cast<size_t>(n)];
          double rounded = 0;
          for (int64_t k = 0; k < inner; ++k) {
            exact += static_cast<double>(x[static_cast<size_t>(m * inner + k)]) *
                     w[static_cast<size_t>(n * inner + k)];
            rounded += static_cast<double>(x[static_cast<size_t>(m * inner + k)]) *
                       FromBfloat(half[static_cast<size_t>(n * inner + k)]);
          }
          EXPECT_NEAR(y[static_cast<size_t>(m * out + n)], exact, 1e-5);
          EXPECT_NEAR(z[static_cast<size_t>(m * out + n)], rounded, 1e-5);
        }
    }
  }
}

TEST(LinearRows, ARowDependsOnItselfAloneAndNotOnRanges) {
  const int64_t inner = 83;
  const int64_t out = 11;
  const auto x = Random(static_cast<size_t>(9 * inner), 4);
  const auto w = Random(static_cast<size_t>(out * inner), 5);
  std::vector<float> all(static_cast<size_t>(9 * out));
  LinearRows(x.data(), 9, inner, w.data(), Element::kFloat32, nullptr, all.data(), out, 0, out);
  for (int64_t row = 0; row < 9; ++row) {
    std::vector<float> one(static_cast<size_t>(out));
    for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 5}, {5, 6}, {6, out}})
      LinearRows(x.data() + row * inner, 1, inner, w.data(), Element::kFloat32, nullptr, one.data(),
                 out, begin, end);
    for (int64_t n = 0; n < out; ++n)
      EXPECT_EQ(one[static_cast<size_t>(n)], all[static_cast<size_t>(row * out + n)]);
  }
}

TEST(AttendRows, IsSoftmaxAttentionOverTheRequestsOwnStretch) {
  const int64_t heads = 6;
  const int64_t kv_heads = 2;
  const int64_t dim = 18;
  const int64_t positions = 40;
  auto keys = Random(static_cast<size_t>(positions * kv_heads * dim), 6);
  auto values = Random(keys.size(), 7);
  const CacheView cache{keys.data(), values.data(), Element::kFloat32, kv_heads, dim};
  const auto q = Random(static_cast<size_t>(2 * heads * dim), 8);
  const int32_t starts[] = {3, 20};
  const int32_t lengths[] = {17, 1};
  std::vector<float> out(q.size());
  std::vector<float> scratch(3 * 17);
  AttendRows(cache, q.data(), heads * dim, heads, starts, lengths, 0.25F, out.data(),
             scratch.data(), 0, 2 * kv_heads);
  for (size_t row = 0; row < 2; ++row)
    for (int64_t head = 0; head < heads; ++head) {
      const auto at = [&](const std::vector<float>& from, int64_t i, int64_t d) {
        return static_cast<double>(
            from[static_cast<size_t>(((starts[row] + i) * kv_heads + head / 3) * dim + d)]);
      };
      const size_t base = (row * heads + static_cast<size_t>(head)) * dim;
      std::vector<double> weight;
      double total = 0;
      for (int64_t i = 0; i < lengths[row]; ++i) {
        double dot = 0;
        for (int64_t d = 0; d < dim; ++d) dot += q[base + static_cast<size_t>(d)] * at(keys, i, d);
        weight.push_back(std::exp(dot * 0.25));
        total += weight.back();
      }
      for (int64_t d = 0; d < dim; ++d) {
        double sum = 0;
        for (int64_t i = 0; i < lengths[row]; ++i)
          sum += weight[static_cast<size_t>(i)] / total * at(values, i, d);
        EXPECT_NEAR(out[base + static_cast<size_t>(d)], sum, 1e-5);
      }
    }
}

TEST(StoreRows, RoundsToNearestAndKeepsToItsPositions) {
  const float k[] = {1.0F, 1.00390625F, -2.5F, 1e30F};  // 1 + 2^-8 is halfway: even wins
  std::vector<uint16_t> keys(12, 7);
  std::vector<uint16_t> values(12, 7);
  const CacheView cache{keys.data(), values.data(), Element::kBfloat16, 1, 4};
  const int64_t at[] = {1};
  StoreRows(cache, k, k, 4, at, 0, 1);
  EXPECT_EQ(keys[3], 7);
  EXPECT_EQ(keys[8], 7);
  EXPECT_EQ(FromBfloat(keys[4]), 1.0F);
  EXPECT_EQ(FromBfloat(keys[5]), 1.0F);
  EXPECT_EQ(FromBfloat(values[6]), -2.5F);
}

}  // namespace
}  // namespace davinci::model
