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

const std::string kDelta =
    "@kernel\ndef f1(x, y, o, C):\n"
    "    row = rows(1)\n"
    "    col = cols(1024)\n"
    "    inside = col < C\n"
    "    v1 = ld(x + row * C + col, inside)\n"
    "    v2 = v1 * 2.0\n"
    "    st(o + row * C + col, v2, inside)\n"
    "\n\nclass ModelNew(Model):\n"
    "    def forward(self, x):\n"
    "        t1 = x.new_empty((A, B))\n"
    "        f1[(A, 2)](x, self.weight, t1, B, num_warps=8)\n"
    "        return t1\n";

const std::string kNorm =
    "@kernel\ndef f1(x, y, o, C):\n"
    "    v3 = tl.sum(acc1, axis=1)[:, None]\n"
    "    v4 = v3 / C\n"
    "    v5 = v4 / 8.0 * v1\n"
    "\n\nclass ModelNew(Model):\n"
    "    def forward(self, x):\n"
    "        A, B = x.shape\n"
    "        t1 = self.proj(x)\n"
    "        f1[A](t1, self.norm.weight, self.gain, t1, B, BLOCK=1024)\n"
    "        return t1.view(A, B)\n";

// At any of its places.
std::string Of(const std::string& source, Language language, const char* mutation) {
  std::string all;
  for (uint64_t seed = 0; seed < 30; ++seed)
    all += Mutated(source, language, mutation, seed).value_or("none") + "\n";
  return all;
}

TEST(Mutation, ChangesOnePlaceOfACppKernel) {
  EXPECT_NE(Of(kCpp, Language::kCpp, "off_by_one").find("col < cols - 1; ++col"),
            std::string::npos);
  EXPECT_NE(Of(kCpp, Language::kCpp, "wrong_axis").find("x[col * cols + row]"), std::string::npos);
  EXPECT_NE(Of(kCpp, Language::kCpp, "missing_eps").find("std::sqrt(acc1);"), std::string::npos);
  EXPECT_NE(Of(kCpp, Language::kCpp, "low_sum")
                .find("acc1 = static_cast<_Float16>(acc1 + x[row * cols + col]);"),
            std::string::npos);
  EXPECT_EQ(Of(kCpp, Language::kCpp, "slow").find("#pragma"), std::string::npos);
  EXPECT_NE(Of(kCpp, Language::kCpp, "syntax").find("float acc1 = 0.0f\n"), std::string::npos);
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

TEST(Mutation, ChangesAShortReplyAsModelsDo) {
  for (const auto& [mutation, text] : {std::pair{"off_by_one", "col < C - 1\n"},
                                       {"missing_mask", "v1 = tl.load(x + row * C + col)\n"},
                                       {"wrong_axis", "ld(x + col * C + row, inside)"},
                                       {"wrong_stride", "st(o + row + col, v2, inside)"},
                                       {"wrong_constant", "v1 * 12.0\n"},
                                       {"undefined_name", "inside)\n    st(o"},
                                       {"syntax", "rows(1\n"},
                                       {"missing_argument", "t1, num_warps=8)\n"},
                                       {"swapped", "(self.weight, x, t1,"},
                                       {"extra_argument", "t1, B, B, num_warps=8)\n"},
                                       {"undefined_local", "forward(self, x):\n        f1["},
                                       {"wrong_attribute", "(x, self.weights, t1,"},
                                       {"wrong_shape", "new_empty((A,))\n"},
                                       {"wrong_dtype", "(A, B), dtype=torch.float64)\n"}})
    EXPECT_NE(Of(kDelta, Language::kTriton, mutation).find(text), std::string::npos)
        << mutation << Of(kDelta, Language::kTriton, mutation);
}

TEST(Mutation, ReadsOtherNamesAndLosesDimensionsAndFactors) {
  for (const auto& [mutation, text] : {std::pair{"undefined_local", "(self, x):\n        t1 ="},
                                       {"wrong_attribute", "(t1, self.weight, self.gain,"},
                                       {"wrong_attribute", "(t1, self.norm.weights, self.gain,"},
                                       {"wrong_attribute", "(t1, self.norm.weight, self.weights,"},
                                       {"wrong_attribute", "self.proj_layer(x)"},
                                       {"missing_constant", "t1, B)\n"},
                                       {"wrong_shape", "return t1\n"},
                                       {"lost_dimension", "axis=1)\n"},
                                       {"missing_factor", "v5 = v4 / 8.0\n"},
                                       {"wrong_divisor", "v3 / (C - 1)\n"},
                                       {"wrong_divisor", "v4 / 88.0 * v1"}})
    EXPECT_NE(Of(kNorm, Language::kTriton, mutation).find(text), std::string::npos)
        << mutation << Of(kNorm, Language::kTriton, mutation);
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
