#include "davinci/model/tile_kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "davinci/base/rng.h"

namespace davinci::model {
namespace {

class Tiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasTiles()) GTEST_SKIP() << "this CPU has no tile registers (AMX)";
  }
};

float Wide(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// bf16 values with some structure to them: between -1 and 1.
std::vector<uint16_t> Halves(int64_t size, uint64_t seed) {
  SplitMix64 rng(seed);
  std::vector<uint16_t> bits;
  for (int64_t i = 0; i < size; ++i)
    bits.push_back(static_cast<uint16_t>(
        std::bit_cast<uint32_t>(static_cast<float>(rng.Uniform() * 2 - 1)) >> 16));
  return bits;
}

struct Layer {
  Layer(int64_t out_size, int64_t inner_size, TileOrder order)
      : out(out_size),
        inner(inner_size),
        w(Halves(out * inner, 1)),
        bias(Halves(out, 2)),
        tiles(static_cast<size_t>(TiledSize(out, inner, order))),
        blocks(TileBlocks(out, order)) {
    PackTiles(w.data(), inner, out, inner, order, tiles.data(), 0, blocks);
  }
  TileProduct Product(const std::vector<uint16_t>& x) const {
    TileProduct product;
    product.x = x.data();
    product.rows = static_cast<int64_t>(x.size()) / inner;
    product.tiles = tiles.data();
    product.out = out;
    product.inner = inner;
    product.bias = bias.data();
    return product;
  }
  double Exact(const std::vector<uint16_t>& x, int64_t row, int64_t column) const {
    double sum = Wide(bias[static_cast<size_t>(column)]);
    for (int64_t k = 0; k < inner; ++k)
      sum += static_cast<double>(Wide(x[static_cast<size_t>(row * inner + k)])) *
             Wide(w[static_cast<size_t>(column * inner + k)]);
    return sum;
  }
  const int64_t out, inner;
  const std::vector<uint16_t> w, bias;
  std::vector<uint16_t> tiles;
  const int64_t blocks;
};

TEST_F(Tiles, ProductIsTheMatrixProductWithBiasStoredOrAdded) {
  for (const int64_t out : {1, 16, 40, 64})
    for (const int64_t rows : {1, 8, 17, 33}) {
      const Layer layer(out, 96, TileOrder::kPlain);
      const auto x = Halves(rows * layer.inner, 3);
      std::vector<float> y(static_cast<size_t>(rows * out), 7.0F);
      TileProduct product = layer.Product(x);
      product.y = y.data();
      MultiplyTiles(product, 0, layer.blocks);
      product.add = true;
      product.bias = nullptr;
      MultiplyTiles(product, 0, layer.blocks);
      for (int64_t m = 0; m < rows; ++m)
        for (int64_t n = 0; n < out; ++n)
          EXPECT_NEAR(y[static_cast<size_t>(m * out + n)],
                      2 * layer.Exact(x, m, n) - Wide(layer.bias[static_cast<size_t>(n)]), 1e-4);
    }
}

TEST_F(Tiles, GatedProductIsSiluOfTheFirstHalfTimesTheSecond) {
  const int64_t width = 24;
  const Layer layer(2 * width, 64, TileOrder::kGated);
  const auto x = Halves(5 * layer.inner, 4);
  std::vector<uint16_t> y(static_cast<size_t>(5 * width));
  TileProduct product = layer.Product(x);
  product.gated = y.data();
  MultiplyTiles(product, 0, layer.blocks);
  for (int64_t m = 0; m < 5; ++m)
    for (int64_t n = 0; n < width; ++n) {
      const double gate = layer.Exact(x, m, n);
      const double exact = gate / (1 + std::exp(-gate)) * layer.Exact(x, m, width + n);
      EXPECT_NEAR(Wide(y[static_cast<size_t>(m * width + n)]), exact,
                  1e-4 + std::fabs(exact) / 256);
    }
}

TEST_F(Tiles, ARowDependsOnItselfAloneAndNotOnRanges) {
  const int64_t rows = 300;  // more than stay in the cache at once
  const Layer layer(80, 128, TileOrder::kPlain);
  const auto x = Halves(rows * layer.inner, 5);
  std::vector<float> all(static_cast<size_t>(rows * layer.out));
  TileProduct product = layer.Product(x);
  product.y = all.data();
  MultiplyTiles(product, 0, layer.blocks);
  std::vector<float> one(static_cast<size_t>(layer.out));
  for (int64_t row = 0; row < rows; ++row) {
    product.x = x.data() + row * layer.inner;
    product.rows = 1;
    product.y = one.data();
    for (int64_t block = 0; block < layer.blocks; ++block) MultiplyTiles(product, block, block + 1);
    ASSERT_TRUE(std::equal(one.begin(), one.end(), all.begin() + row * layer.out)) << row;
  }
}

TEST_F(Tiles, UnpackedRowIsTheOneThatWasPacked) {
  const Layer layer(40, 64, TileOrder::kPlain);
  std::vector<float> row(64);
  for (const int64_t at : {0, 15, 16, 39}) {
    UnpackTileRow(layer.tiles.data(), layer.inner, at, row.data());
    for (size_t k = 0; k < row.size(); ++k)
      EXPECT_EQ(row[k], Wide(layer.w[static_cast<size_t>(at) * 64 + k]));
  }
}

TEST_F(Tiles, AttentionIsCausalSoftmaxOverTheRequestsOwnStretch) {
  const int64_t heads = 6;
  const int64_t kv_heads = 2;
  const int64_t dim = 64;
  const int64_t start = 11;
  const auto keys = Halves(200 * kv_heads * dim, 6);
  auto values = Halves(200 * kv_heads * dim, 7);
  const CacheView cache{const_cast<uint16_t*>(keys.data()), values.data(), Element::kBfloat16,
                        kv_heads, dim};
  for (const auto& [position, count] : {std::pair<int64_t, int64_t>{0, 1}, {0, 64}, {70, 35}}) {
    // What lies behind the request's last position is not looked at.
    const auto behind = static_cast<size_t>((start + position + count) * kv_heads * dim);
    std::vector<uint16_t> poisoned = values;
    std::fill(poisoned.begin() + static_cast<int64_t>(behind), poisoned.end(), uint16_t{0x7fc0});
    CacheView view = cache;
    view.values = poisoned.data();
    const auto half = Halves(count * heads * dim, 8);
    std::vector<float> q;
    for (const uint16_t bits : half) q.push_back(Wide(bits));
    std::vector<uint16_t> out(q.size());
    AttendTiles(view, start, position, count, q.data(), heads * dim, heads, 0.25F, out.data(), 0,
                kv_heads);
    for (int64_t row = 0; row < count; ++row)
      for (int64_t head = 0; head < heads; ++head) {
        const auto base = static_cast<size_t>((row * heads + head) * dim);
        const auto at = [&](int64_t i, int64_t d) {
          return static_cast<size_t>(((start + i) * kv_heads + head / 3) * dim + d);
        };
        std::vector<double> weight;
        double total = 0;
        for (int64_t i = 0; i <= position + row; ++i) {
          double dot = 0;
          for (int64_t d = 0; d < dim; ++d)
            dot += static_cast<double>(q[base + static_cast<size_t>(d)]) * Wide(keys[at(i, d)]);
          weight.push_back(std::exp(dot * 0.25));
          total += weight.back();
        }
        for (int64_t d = 0; d < dim; ++d) {
          double sum = 0;
          for (size_t i = 0; i < weight.size(); ++i)
            sum += weight[i] / total * Wide(values[at(static_cast<int64_t>(i), d)]);
          ASSERT_NEAR(Wide(out[base + static_cast<size_t>(d)]), sum, 0.01) << row << " " << head;
        }
      }
  }
}

TEST_F(Tiles, NormIsThatOfFloatsRounded) {
  const int64_t width = 96;
  const auto bits = Halves(2 * width, 9);
  const auto weight = Halves(width, 10);
  std::vector<float> x;
  for (const uint16_t value : bits) x.push_back(3 * Wide(value));
  std::vector<float> exact(x.size());
  std::vector<uint16_t> rounded(x.size());
  RmsNormRows(x.data(), width, weight.data(), Element::kBfloat16, 1e-5, exact.data(), width, 0, 2);
  RmsNormRounded(x.data(), weight.data(), 1e-5, rounded.data(), width, 0, 2);
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(Wide(rounded[i]), exact[i], std::fabs(exact[i]) / 250 + 1e-6);
}

TEST_F(Tiles, RoundingIsToNearestEvenAndKeepsNan) {
  std::vector<float> x(17, 1.00390625F);  // 1 + 2^-8 is halfway: even wins
  x[1] = 1.01171875F;                     // 1 + 3 * 2^-8: up
  x[2] = -std::numeric_limits<float>::infinity();
  x[3] = std::numeric_limits<float>::quiet_NaN();
  std::vector<uint16_t> y(x.size());
  RoundValues(x.data(), 17, y.data());
  EXPECT_EQ(Wide(y[0]), 1.0F);
  EXPECT_EQ(Wide(y[1]), 1.015625F);
  EXPECT_EQ(Wide(y[2]), x[2]);
  EXPECT_TRUE(std::isnan(Wide(y[3])));
  EXPECT_EQ(Wide(y[16]), 1.0F);
}

}  // namespace
}  // namespace davinci::model
