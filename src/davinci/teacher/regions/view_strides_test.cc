#include "davinci/teacher/regions/view_strides.h"

#include <gtest/gtest.h>

namespace davinci::teacher {
namespace {

using Numbers = std::vector<int64_t>;

// Strides of the view that the text makes of a contiguous tensor; empty: it is none.
Numbers StridesOf(const char* text, const Numbers& base, const Numbers& sizes,
                  std::optional<int> item = {}) {
  const auto expression = PythonExpression::Parse(text);
  EXPECT_TRUE(expression.ok()) << text;
  const auto view = ViewOf(*expression, StridedShape::Contiguous(base), sizes, item);
  return view ? view->strides : Numbers{};
}

TEST(ViewStrides, AxesMoveWithTheirStrides) {
  EXPECT_EQ(StridesOf("base.transpose(1, 2)", {2, 3, 4}, {2, 4, 3}), (Numbers{12, 1, 4}));
  EXPECT_EQ(StridesOf("torch.transpose(base, -1, 0)", {2, 3, 4}, {4, 3, 2}), (Numbers{1, 4, 12}));
  EXPECT_EQ(StridesOf("base.permute(2, 0, 1)", {2, 3, 4}, {4, 2, 3}), (Numbers{1, 12, 4}));
  EXPECT_EQ(StridesOf("base.t()", {3, 4}, {4, 3}), (Numbers{1, 4}));
}

TEST(ViewStrides, PartsKeepTheStridesOfTheWhole) {
  EXPECT_EQ(StridesOf("base.select(1, 2).narrow(1, 1, 2)", {2, 3, 4}, {2, 2}), (Numbers{12, 1}));
  EXPECT_EQ(StridesOf("torch.split(base, 2, dim=1)", {2, 4, 5}, {2, 2, 5}, 1), (Numbers{20, 5, 1}));
  EXPECT_EQ(StridesOf("base.chunk(2, dim=1)[1]", {2, 4, 5}, {2, 2, 5}), (Numbers{20, 5, 1}));
  EXPECT_EQ(StridesOf("base.unbind(1)", {2, 4, 5}, {2, 5}, 3), (Numbers{20, 1}));
  EXPECT_EQ(StridesOf("base[:, 1:-1:2, None, 3]", {2, 6, 5}, {2, 2, 1}), (Numbers{30, 10, 1}));
  EXPECT_EQ(StridesOf("base[..., ::2]", {3, 5}, {3, 3}), (Numbers{5, 2}));
  EXPECT_EQ(StridesOf("base.unfold(1, 3, 2)", {2, 9}, {2, 4, 3}), (Numbers{9, 2, 1}));
}

TEST(ViewStrides, AnExpandedAxisHasNoStride) {
  EXPECT_EQ(StridesOf("base.expand(2, -1, 4)", {3, 1}, {2, 3, 4}), (Numbers{0, 1, 0}));
  EXPECT_EQ(StridesOf("base.expand_as(other)", {3, 1}, {3, 4}), (Numbers{1, 0}));
}

TEST(ViewStrides, AReshapeThatCopiesIsNoView) {
  EXPECT_EQ(StridesOf("base.transpose(0, 1).reshape(4, 3, 1)", {3, 4}, {4, 3, 1}),
            (Numbers{1, 4, 1}));
  EXPECT_EQ(StridesOf("base.transpose(1, 2).reshape(2, 2, 2, 3)", {2, 3, 4}, {2, 2, 2, 3}),
            (Numbers{12, 2, 1, 4}));
  EXPECT_EQ(StridesOf("base.transpose(0, 1).reshape(-1)", {3, 4}, {12}), Numbers{});
}

TEST(ViewStrides, OtherTextsAreNoViews) {
  EXPECT_EQ(StridesOf("base.contiguous()", {3, 4}, {3, 4}), Numbers{});
  EXPECT_EQ(StridesOf("base[other]", {3, 4}, {3, 4}), Numbers{});
  EXPECT_EQ(StridesOf("base.transpose(0, 1)", {3, 4}, {3, 4}), Numbers{});
}

}  // namespace
}  // namespace davinci::teacher
