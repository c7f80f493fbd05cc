#include "davinci/teacher/demos/mutation.h"

#include <gtest/gtest.h>

namespace davinci::teacher {
namespace {

const std::string kCpp =
    "extern \"C\" void Norm(const float* x, float* out, int64_t rows, int64_t cols) {\n"
    "  #pragma omp parallel for\n"
    "  for (int64_t row = 0; row < rows; ++row) {\n"
    "    float acc1 = 0.0f;\n"
    "    for (int64_t col = 0; col < cols; ++col) {\n"
    "      acc1 += x[row * cols + col];\n"
    "    }\n"
    "    out[row] = 1.0f / std::sqrt(acc1 + 1e-05f);\n"
    "  }\n"
    "}\n";
const std::string kTriton =
    "@triton.jit\ndef norm(x_ptr, n):\n"
    "    inside = i < n\n"
    "    v = tl.load(x_ptr + i, mask=inside, other=0.0)\n"
    "    s = tl.sum(v, axis=1)[:, None]\n";

std::string Of(const std::string& source, Language language, const char* mutation) {
  return Mutated(source, language, mutation).value_or("none");
}

TEST(Mutation, ChangesOnePlaceOfACppKernel) {
  EXPECT_NE(Of(kCpp, Language::kCpp, "off_by_one").find("col < cols - 1; ++col"),
            std::string::npos);
  EXPECT_NE(Of(kCpp, Language::kCpp, "wrong_axis").find("x[col * rows + row]"), std::string::npos);
  EXPECT_NE(Of(kCpp, Language::kCpp, "missing_eps").find("std::sqrt(acc1);"), std::string::npos);
  EXPECT_NE(Of(kCpp, Language::kCpp, "low_sum")
                .find("acc1 = static_cast<_Float16>(acc1 + x[row * cols + col]);"),
            std::string::npos);
  EXPECT_EQ(Of(kCpp, Language::kCpp, "slow").find("#pragma"), std::string::npos);
}

TEST(Mutation, ChangesOnePlaceOfATritonKernel) {
  EXPECT_NE(Of(kTriton, Language::kTriton, "off_by_one").find("i < n - 1"), std::string::npos);
  EXPECT_NE(Of(kTriton, Language::kTriton, "missing_mask").find("tl.load(x_ptr + i)\n"),
            std::string::npos);
  EXPECT_NE(Of(kTriton, Language::kTriton, "wrong_axis").find("axis=0)[None, :]"),
            std::string::npos);
  EXPECT_NE(Of(kTriton, Language::kTriton, "low_sum").find("(v).to(tl.float16), axis=1"),
            std::string::npos);
}

TEST(Mutation, IsNothingWhereTheTextHasNoPlaceForIt) {
  EXPECT_EQ(Mutated(kTriton, Language::kTriton, "missing_eps"), std::nullopt);
  EXPECT_EQ(Mutated("import torch\n", Language::kCpp, "off_by_one"), std::nullopt);
  for (const std::string& mutation : Mutations()) {
    const auto changed = Mutated(kCpp, Language::kCpp, mutation);
    EXPECT_TRUE(!changed || *changed != kCpp) << mutation;
  }
}

}  // namespace
}  // namespace davinci::teacher
