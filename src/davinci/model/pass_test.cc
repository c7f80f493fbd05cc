#include "davinci/model/pass.h"

#include <gtest/gtest.h>

#include <vector>

namespace davinci::model {
namespace {

struct Columns {
  explicit Columns(size_t count)
      : tokens(count, -7),
        sources(count, -7),
        positions(count, -7),
        at(count, -7),
        starts(count, -7),
        lengths(count, -7) {}
  StepColumns Pointers() {
    return {tokens.data(), sources.data(), positions.data(),
            at.data(),     starts.data(),  lengths.data()};
  }
  std::vector<int64_t> tokens, sources, positions, at;
  std::vector<int32_t> starts, lengths;
};

TEST(Pass, AStepHasWhatItsRowsSay) {
  const std::vector<StepRow> rows = {{17, -1, 0, 40, {}}, {5, 0, 9, 100, {}}};
  Columns columns(2);
  FillStep(rows, 2, 500, columns.Pointers());
  EXPECT_EQ(columns.tokens, (std::vector<int64_t>{17, 5}));
  EXPECT_EQ(columns.sources, (std::vector<int64_t>{-1, 0}));
  EXPECT_EQ(columns.positions, (std::vector<int64_t>{0, 9}));
  EXPECT_EQ(columns.at, (std::vector<int64_t>{40, 109}));
  EXPECT_EQ(columns.starts, (std::vector<int32_t>{40, 100}));
  EXPECT_EQ(columns.lengths, (std::vector<int32_t>{1, 10}));
}

// Kernels write where a row's stretch ends, so a row of no position would write ahead of the cache.
TEST(Pass, RowsWithoutARequestSeeAndWriteTheSparePosition) {
  const std::vector<StepRow> rows = {{17, 3, 8, 40, {}}};
  for (const size_t real : {size_t{0}, size_t{1}}) {
    Columns columns(4);
    FillStep(std::span(rows).first(real), 3, 500, columns.Pointers());
    for (size_t i = real; i < 3; ++i) {
      EXPECT_EQ(columns.sources[i], -1);
      EXPECT_EQ(columns.positions[i], 0);
      EXPECT_EQ(columns.at[i], 500);
      EXPECT_EQ(columns.starts[i], 500);
      EXPECT_EQ(columns.lengths[i], 1);
    }
    EXPECT_EQ(columns.at[3], -7);  // no more than `count`
    EXPECT_EQ(columns.lengths[3], -7);
  }
}

}  // namespace
}  // namespace davinci::model
