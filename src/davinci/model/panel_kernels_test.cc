#include "davinci/model/panel_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "davinci/base/rng.h"

namespace davinci::model {
namespace {

std::vector<float> Uniform(int64_t size, uint64_t seed) {
  SplitMix64 rng(seed);
  std::vector<float> values(static_cast<size_t>(size));
  for (float& value : values) value = static_cast<float>(rng.Uniform() * 2 - 1);
  return values;
}

struct Panels {
  Panels(int64_t out_size, int64_t inner_size)
      : out(out_size),
        inner(inner_size),
        w(Uniform(out * inner, 1)),
        bias(Uniform(out, 2)),
        packed(static_cast<size_t>(PanelsSize(out, inner))) {
    PackPanels(w.data(), out, inner, packed.data(), 0, NumPanels(out));
  }
  PanelProduct Product(const float* x, int64_t rows, std::vector<float>* y) const {
    PanelProduct product;
    product.x = x;
    product.rows = rows;
    product.panels = packed.data();
    product.out = out;
    product.inner = inner;
    product.bias = bias.data();
    product.y = y->data();
    return product;
  }
  int64_t out, inner;
  std::vector<float> w, bias, packed;
};

// All that this CPU has.
std::vector<VectorSet> VectorSets() {
  std::vector<VectorSet> sets;
  for (const VectorSet set : {VectorSet::kGeneric, VectorSet::kAvx2, VectorSet::kAvx512})
    if (set <= WidestVectors()) sets.push_back(set);
  return sets;
}

TEST(MultiplyPanels, IsTheMatrixProductWithBiasAndAddsIt) {
  for (const VectorSet set : VectorSets())
    for (const auto& [out, inner] : {std::pair<int64_t, int64_t>{1, 1}, {160, 33}, {75, 100}})
      for (const int64_t rows : {1, 7, 29}) {
        const Panels panels(out, inner);
        const auto x = Uniform(rows * inner, 3);
        const auto before = Uniform(rows * out, 4);
        std::vector<float> y(before.size());
        std::vector<float> sum = before;
        MultiplyPanels(panels.Product(x.data(), rows, &y), 0, NumPanels(out), set);
        PanelProduct adds = panels.Product(x.data(), rows, &sum);
        adds.add = true;
        MultiplyPanels(adds, 0, NumPanels(out), set);
        for (int64_t m = 0; m < rows; ++m)
          for (int64_t n = 0; n < out; ++n) {
            double exact = panels.bias[static_cast<size_t>(n)];
            for (int64_t k = 0; k < inner; ++k)
              exact += static_cast<double>(x[static_cast<size_t>(m * inner + k)]) *
                       panels.w[static_cast<size_t>(n * inner + k)];
            const auto at = static_cast<size_t>(m * out + n);
            ASSERT_NEAR(y[at], exact, 1e-5);
            ASSERT_NEAR(sum[at], exact + before[at], 1e-5);
          }
      }
}

TEST(MultiplyPanels, ARowDependsOnItselfAloneAndNotOnRanges) {
  const Panels panels(8 * kPanelColumns + 5, 83);
  const int64_t rows = 40;
  const auto x = Uniform(rows * panels.inner, 5);
  for (const VectorSet set : VectorSets()) {
    std::vector<float> all(static_cast<size_t>(rows * panels.out));
    MultiplyPanels(panels.Product(x.data(), rows, &all), 0, 9, set);
    for (int64_t some = 1; some < rows; ++some) {
      std::vector<float> y(static_cast<size_t>(some * panels.out));
      const int64_t first = rows - some;
      const PanelProduct part = panels.Product(x.data() + first * panels.inner, some, &y);
      for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 3}, {3, 4}, {4, 9}})
        MultiplyPanels(part, begin, end, set);
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y[i], all[static_cast<size_t>(first * panels.out) + i]) << some << " rows";
    }
  }
}

TEST(UnpackPanelRow, GivesTheRowBack) {
  const Panels panels(70, 19);
  std::vector<float> row(19);
  for (const int64_t n : {0, 31, 32, 69}) {
    UnpackPanelRow(panels.packed.data(), panels.inner, n, row.data());
    EXPECT_TRUE(std::equal(row.begin(), row.end(), panels.w.begin() + n * panels.inner));
  }
}

}  // namespace
}  // namespace davinci::model
