// What a call returned is held against the reference's by structure, type, shape and order; the
// attacks on reading it are in tests/exploits (group B).
#include "davinci/judge/roles/output_arena.h"

#include <gtest/gtest.h>

namespace davinci::judge {
namespace {

OutputTensor Tensor(std::vector<int64_t> shape, std::vector<int64_t> stride) {
  OutputTensor tensor;
  tensor.dtype = "f32";
  tensor.shape = std::move(shape);
  tensor.stride = std::move(stride);
  tensor.device = "cpu";
  return tensor;
}

TEST(IsContiguous, SizesOfOneAndNothingMayHaveAnyStride) {
  EXPECT_TRUE(IsContiguous(Tensor({4, 3}, {3, 1})));
  EXPECT_TRUE(IsContiguous(Tensor({4, 1, 3}, {3, 99, 1})));
  EXPECT_TRUE(IsContiguous(Tensor({4, 0}, {7, 7})));
  EXPECT_TRUE(IsContiguous(Tensor({}, {})));
  EXPECT_FALSE(IsContiguous(Tensor({4, 3}, {1, 4})));
  EXPECT_FALSE(IsContiguous(Tensor({4, 3}, {6, 1})));
  EXPECT_FALSE(IsContiguous(Tensor({4, 3}, {0, 1})));
  EXPECT_FALSE(IsContiguous(Tensor({4, 3}, {1})));
}

TEST(Overlap, AsksForBytesOfContiguousOnes) {
  OutputTensor one = Tensor({4, 3}, {3, 1});
  OutputTensor other = one;
  one.address = 4096;
  for (const int64_t distance : {-52, -48, -44, 0, 4, 44, 48}) {
    other.address = static_cast<uint64_t>(4096 + distance);
    EXPECT_EQ(Overlap(one, other), distance > -48 && distance < 48) << distance;
  }
  other = Tensor({4, 3}, {6, 1});  // every other row, whose neighbours may belong to another tensor
  other.address = 4096 + 12;
  EXPECT_FALSE(Overlap(one, other));
  other = Tensor({0}, {1});
  other.address = 4100;
  EXPECT_FALSE(Overlap(one, other));
}

std::optional<Outcome> Said(const OutputTensor& got, const OutputTensor& want) {
  const auto failure = CheckSignature("T", {got}, "T", {want}, "cpu");
  return failure ? std::optional(failure->outcome) : std::nullopt;
}

TEST(CheckSignature, WhatIsContiguousMustBeSoAndNothingElse) {
  const OutputTensor rows = Tensor({4, 3}, {3, 1});
  const OutputTensor columns = Tensor({4, 3}, {1, 4});
  EXPECT_EQ(Said(rows, rows), std::nullopt);
  EXPECT_EQ(Said(columns, rows), Outcome::kWrongShape);
  EXPECT_EQ(Said(rows, columns), std::nullopt);
  EXPECT_EQ(Said(columns, columns), std::nullopt);
}

TEST(CheckSignature, TellsWhatIsWrong) {
  const OutputTensor want = Tensor({4, 3}, {3, 1});
  OutputTensor other = want;
  other.dtype = "f16";
  EXPECT_EQ(Said(other, want), Outcome::kWrongDtype);
  other = want;
  other.device = "cuda";
  EXPECT_EQ(Said(other, want), Outcome::kWrongDtype);
  other = want;
  other.plain = false;
  EXPECT_EQ(Said(other, want), Outcome::kPolicyViolation);
  EXPECT_EQ(Said(Tensor({3, 4}, {4, 1}), want), Outcome::kWrongShape);
  EXPECT_EQ(CheckSignature("tuple(T)", {want}, "T", {want}, "cpu")->outcome, Outcome::kWrongShape);
  EXPECT_TRUE(CheckSignature("unsupported:ndarray", {}, "T", {want}, "cpu")
                  ->message.ends_with("; return torch tensors and numbers only"));
}

}  // namespace
}  // namespace davinci::judge
